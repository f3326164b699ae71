// Runs one cell of a study. Clients: study_run, from several threads: cells that run at the same time are on
// different hosts; study_cell_job, one in a process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/study/study_schedule.hpp"
#include "native/cli/study_adversarials.hpp"

namespace driftscope {

class StudyWork {
 public:
  StudyWork(const documents::Study& study, const StudyFiles& files, const RunnerOptions& options,
            std::function<bool()> stopped)
      : study_(study), files_(files), options_(options), stopped_(std::move(stopped)), kept_(files) {}

  struct Outcome {
    std::string item;  ///< the name of the cell
    nlohmann::json result;
    bool failed = false;
    double seconds = 0.0;
  };
  /// All samples of the cell. `made`: the adversarials of the cell's data set, where it has such.
  [[nodiscard]] Outcome run(const StudyCell& cell, const Adversarials& made, const TargetProgress& progress);

  /// Ends what stays open for further cells. Nothing may run.
  void rest();

  /// Hosts that a cell uses, the one that it runs on first.
  [[nodiscard]] std::vector<std::string> hosts(const StudyCell& cell) const;

 private:
  [[nodiscard]] Outcome outcome(const StudyCell& cell, const Adversarials& made,
                                const TargetProgress& progress);
  [[nodiscard]] Result<AnswersPart> answer(const StudyCell& cell, const Adversarials& made,
                                           const TargetProgress& progress);
  [[nodiscard]] Result<SessionTimes> times(const StudyCell& cell, const TargetProgress& progress);
  [[nodiscard]] Result<LayerValues> layers(const StudyCell& cell, const TargetProgress& progress);
  [[nodiscard]] Result<Trace> all_values(const StudyCell& cell, const Target& target,
                                         const TargetProgress& progress);
  /// One for each host: a browser that is open stays open.
  [[nodiscard]] TargetRunner& runner(const Target& target);
  /// The first sample, without the leading axis.
  [[nodiscard]] Result<NamedInputs> sample(std::size_t subject, std::int64_t number) const;

  const documents::Study& study_;
  const StudyFiles& files_;
  const RunnerOptions& options_;
  std::function<bool()> stopped_;
  KeptAdversarials kept_;
  std::mutex mutex_;  ///< of what follows
  std::map<std::string, std::unique_ptr<TargetRunner>> runners_;
};

/// One measurement of time and memory in a session of its own: the first sample, unwatched.
[[nodiscard]] Result<SessionTimes> measure_session(const ModelFile& model, NamedInputs inputs,
                                                   const Target& target, const RunnerOptions& options,
                                                   const std::function<bool()>& stopped,
                                                   const TargetProgress& progress);

/// The same on the PC in a process of its own, whose memory has nothing else: it is this program's command
/// study-worker.
[[nodiscard]] Result<SessionTimes> measure_in_process(const ModelFile& model, const NamedInputs& inputs,
                                                      const Target& target, const RunnerOptions& options);

/// That process: measures what the file says, and gives the line that it prints. What goes wrong is in it.
[[nodiscard]] std::string measure_for_study(const std::filesystem::path& request);

}  // namespace driftscope
