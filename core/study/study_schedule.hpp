// Which cell of a study is next. Client: the runner.
//
// In rounds, so that a budget leaves each target with as many samples as every other: in the first round
// every subject has 100 samples of each data set and one measurement of time, in each later one four times
// as many samples and another measurement. A round has the answers to each subject's first data set, then all
// times, which are measured alone, then layers, then the answers to other data sets, then one attack after
// the other, in the order of the file: a short budget leaves something in every table. Each goes target by
// target: a browser that is open stays open. Adversarials that are given to all targets are made when it is
// the turn of the target that makes them.
#pragma once

#include <functional>
#include <optional>

#include "core/study/study_results.hpp"

namespace driftscope {

enum class StudyTask {
  times,
  answers,
  attack,        ///< each target by itself
  adversarials,  ///< made for all of them
  layers,
};

struct StudyCell {
  StudyTask task = StudyTask::times;
  std::size_t subject = 0;
  std::size_t target = 0;
  std::size_t of = 0;  ///< of answers the data set; of attack and adversarials the attack; of layers these
  std::int64_t begin = 0;       ///< of samples
  std::int64_t samples = 0;     ///< at most so many in this round
  std::int64_t repetition = 0;  ///< of times, from 1
  /// Whether both are parts of the same.
  [[nodiscard]] bool same_series(const StudyCell& other) const {
    return task == other.task && subject == other.subject && target == other.target && of == other.of;
  }
};

inline constexpr std::int64_t first_round_samples = 100;
/// Attacks ask many times for each sample, and come last in a round.
inline constexpr std::int64_t first_round_attacks = 20;

class StudySchedule {
 public:
  /// `samples`: of each of its own data sets of each subject.
  StudySchedule(const documents::Study& study, std::vector<std::vector<std::int64_t>> samples);

  /// The first cell without a result that `skip` does not refuse; nothing when there is none. What failed is
  /// over.
  [[nodiscard]] std::optional<StudyCell> next(const StudyResults& results,
                                              const std::function<bool(const StudyCell&)>& skip = {}) const;

  /// All that there is to do.
  struct Amount {
    std::int64_t samples = 0;       ///< over all targets, adversarials included
    std::int64_t measurements = 0;  ///< of times, and of layers
    std::int64_t attacks = 0;       ///< samples that are attacked
  };
  [[nodiscard]] Amount total() const;
  [[nodiscard]] Amount done(const StudyResults& results) const;

  /// Samples that are still to do. `of`: the data set of a subject.
  [[nodiscard]] std::int64_t answers_left(const StudyResults& results, const AnswersKey& of) const;
  /// The same of an attack on each target, or of making adversarials (`target` is then not looked at).
  [[nodiscard]] std::int64_t attacks_left(const StudyResults& results, const AttackKey& of) const;
  [[nodiscard]] std::int64_t sessions_left(const StudyResults& results, const TimesKey& of) const;

 private:
  using Skip = std::function<bool(const StudyCell&)>;
  /// Of a round, each over all targets: what may run side by side is together.
  enum class Phase { first_answers, times, layers, other_answers };
  [[nodiscard]] std::optional<StudyCell> next_of_target(const StudyResults& results, std::size_t target,
                                                        int round, Phase phase, const Skip& skip) const;
  [[nodiscard]] std::optional<StudyCell> next_attack(const StudyResults& results, std::size_t attack,
                                                     std::size_t target, int round, const Skip& skip) const;
  [[nodiscard]] std::optional<StudyCell> next_answers(const StudyResults& results, const AnswersKey& key,
                                                      int round, const Skip& skip) const;
  /// Samples of a data set; of adversarials those made so far.
  [[nodiscard]] std::int64_t samples_of(const StudyResults& results, std::size_t subject,
                                        std::size_t data) const;
  [[nodiscard]] AdversarialsKey made_for(std::size_t subject, std::size_t data) const;

  std::size_t targets_;
  std::int64_t repetitions_;
  std::vector<StudySubject> subjects_;
  std::vector<std::size_t> bases_;   ///< by subject: the model itself
  std::vector<std::size_t> layers_;  ///< by place: the subject
  struct Attack {
    bool transfer = false;
    std::size_t making = 0;    ///< target
    std::vector<bool> here{};  ///< by target: it is attacked there
  };
  std::vector<Attack> attacks_;
  /// By subject and attack: samples to attack; 0: the attack is not on this model.
  std::vector<std::vector<std::int64_t>> attacked_;
  std::vector<std::vector<std::int64_t>> samples_;
};

}  // namespace driftscope
