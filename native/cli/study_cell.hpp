// A cell of a study that runs in another process, on another machine: what it is told, what it answers.
// Clients: study_cluster, the hidden command study-cell.
//
// The process is given the model, the cell's samples alone as a .npy file, and a request, which has a study
// of nothing but these: its samples begin at 0. The client moves what is answered to where its samples are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/study/study_schedule.hpp"
#include "native/cli/study_files.hpp"

namespace driftscope {

struct StudyCellRequest {
  documents::Study study;  ///< of one model with one data set; the attack or the layers, where it is of such
  StudyTask task = StudyTask::times;
  std::size_t target = 0;            ///< place in the study
  std::vector<std::int64_t> labels;  ///< of the samples
  /// By target what it must be, as of names_in_store; empty: whatever is there, since it is this program.
  std::vector<std::string> names;
};

[[nodiscard]] std::string study_cell_text(const StudyCellRequest& request);
/// Errors: fields that are missing, of other types, or more than one of what it is to have.
[[nodiscard]] Result<StudyCellRequest> read_study_cell(std::string_view text);

/// The request of a cell, which has a number of samples; their labels are given.
[[nodiscard]] StudyCellRequest study_cell_request(const documents::Study& study, const StudyFiles& files,
                                                  const StudyCell& cell, std::vector<std::int64_t> labels,
                                                  const std::vector<std::string>& stored_targets);

/// In that process: the answer, a line of JSON and behind it the bytes of adversarials. What goes wrong with
/// the cell is in it. Errors: files that cannot be read, hosts that are others.
[[nodiscard]] Result<std::string> run_study_cell(const StudyCellRequest& request,
                                                 const std::filesystem::path& model,
                                                 const std::filesystem::path& samples,
                                                 const RunnerOptions& options);

struct StudyCellAnswer {
  nlohmann::json result;  ///< as the store has it
  double seconds = 0.0;   ///< the cell's own, without the start of its process
};
/// Adversarials are kept in the study's folder. Errors: an answer that is none, or not of this cell.
[[nodiscard]] Result<StudyCellAnswer> read_study_answer(std::string_view answer, const StudyCell& cell,
                                                        const std::vector<std::int64_t>& labels,
                                                        const documents::Study& study,
                                                        const StudyFiles& files);

}  // namespace driftscope
