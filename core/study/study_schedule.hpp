// Which cell of a study is next. Client: the runner.
//
// In rounds, so that a budget leaves each target with as many samples as every other: in the first round
// every subject has one measurement of time and 100 samples of each data set, in each later one another
// measurement and four times as many samples. Within a round target by target: a browser that is open stays
// open.
#pragma once

#include <optional>

#include "core/study/study_results.hpp"

namespace driftscope {

struct StudyCell {
  std::size_t subject = 0;
  std::size_t target = 0;
  std::optional<std::size_t> data = {};    ///< answers over this data set
  std::optional<std::size_t> attack = {};  ///< on the first data set; neither: times
  std::int64_t begin = 0;                  ///< of samples
  std::int64_t samples = 0;                ///< at most so many in this round
  std::int64_t repetition = 0;             ///< of times, from 1
};

inline constexpr std::int64_t first_round_samples = 100;
/// Attacks ask many times for each sample, and come last in a round.
inline constexpr std::int64_t first_round_attacks = 20;

class StudySchedule {
 public:
  /// `samples`: of each data set of each subject.
  StudySchedule(const documents::Study& study, std::vector<std::vector<std::int64_t>> samples);

  /// The next cell without a result; nothing when there is none. What failed is over.
  [[nodiscard]] std::optional<StudyCell> next(const StudyResults& results) const;

  /// All that there is to do: samples over all targets, and measurements of time.
  struct Amount {
    std::int64_t samples = 0;
    std::int64_t measurements = 0;
    std::int64_t attacks = 0;  ///< samples that are attacked
  };
  [[nodiscard]] Amount total() const;
  [[nodiscard]] Amount done(const StudyResults& results) const;

 private:
  [[nodiscard]] std::optional<StudyCell> next_of_target(const StudyResults& results, std::size_t target,
                                                        int round) const;
  std::size_t targets_;
  std::int64_t repetitions_;
  /// By subject and attack: samples to attack; 0: the attack is not on this model.
  std::vector<std::vector<std::int64_t>> attacked_;
  std::vector<std::vector<std::int64_t>> samples_;
};

}  // namespace driftscope
