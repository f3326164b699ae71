// What the cells of a study gave: answers over parts of data sets, times and memory of fresh sessions, or why
// a cell has none. A line of JSON for each in the study's store. Clients: the schedule, the runner, tables.
//
// Cells are named "answers lenet5/float32/original @0+64" (samples 0 to 63), "attack lenet5/float32/fgsm
// @0+8" and "times lenet5/float32 #1".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/study/study_file.hpp"

namespace driftscope {

/// Places in the study: of subjects_of, of the subject's data, of the targets.
struct AnswersKey {
  std::size_t subject = 0;
  std::size_t data = 0;
  std::size_t target = 0;
  auto operator<=>(const AnswersKey&) const = default;
};
struct TimesKey {
  std::size_t subject = 0;
  std::size_t target = 0;
  auto operator<=>(const TimesKey&) const = default;
};

/// Of one cell: samples from `begin` on.
struct AnswersPart {
  std::int64_t begin = 0;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> predictions;
  /// The first output of each sample, one after the other; empty: too large to be kept.
  std::vector<float> outputs = {};
};

/// Of the samples from 0 on without a gap.
struct Answers {
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> predictions;
  std::vector<float> outputs;  ///< empty: not of all
  std::optional<std::string> error;
  [[nodiscard]] std::int64_t samples() const { return std::ssize(predictions); }
  [[nodiscard]] std::int64_t correct() const;
};

/// Of one session.
struct SessionTimes {
  double median_s = 0.0;  ///< of an inference, once steady, nothing being recorded
  double first_s = 0.0;
  double load_s = 0.0;  ///< until the first inference could begin, a browser that was not open included
  std::int64_t memory_bytes = -1;  ///< peak; −1: not known
  std::string memory_kind = {};
};

struct Times {
  std::vector<SessionTimes> sessions;
  std::optional<std::string> error;
};

/// Of one cell: samples from `begin` on.
struct AttackPart {
  std::int64_t begin = 0;
  std::int64_t samples = 0;    ///< looked at
  std::int64_t attacked = 0;   ///< of them: answered rightly before
  std::int64_t successes = 0;  ///< of these: answered wrongly afterwards
  std::int64_t queries = 0;
};

/// Of the samples from 0 on without a gap.
struct AttackResult {
  AttackPart sum;
  std::optional<std::string> error;
};

/// Places: of subjects_of, of the study's attacks, of the targets.
struct AttackKey {
  std::size_t subject = 0;
  std::size_t attack = 0;
  std::size_t target = 0;
  auto operator<=>(const AttackKey&) const = default;
};

struct StudyResults {
  std::map<AttackKey, AttackResult> attacks;
  std::map<AnswersKey, Answers> answers;
  std::map<TimesKey, Times> times;
  /// Bytes of each subject's file; −1: it was not read.
  std::vector<std::int64_t> bytes;
};

[[nodiscard]] std::string answers_cell(const StudySubject& subject, const documents::StudyData& data,
                                       std::int64_t begin, std::int64_t samples);
[[nodiscard]] std::string times_cell(const StudySubject& subject, std::int64_t repetition);

[[nodiscard]] std::string attack_cell(const StudySubject& subject, const documents::StudyAttack& attack,
                                      std::int64_t begin, std::int64_t samples);

[[nodiscard]] nlohmann::json encode_result(const AnswersPart& part);
[[nodiscard]] nlohmann::json encode_result(const AttackPart& part);
[[nodiscard]] nlohmann::json encode_result(const SessionTimes& times);
[[nodiscard]] nlohmann::json encode_failure(const Error& error);

/// Of all cells in the store. `targets`: their names there, as of CampaignCell. Errors: a damaged result,
/// with the cell.
[[nodiscard]] Result<StudyResults> read_study_results(const documents::Study& study,
                                                      const std::vector<std::string>& targets,
                                                      const CampaignResults& cells);

}  // namespace driftscope
