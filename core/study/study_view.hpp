// A study and what is known of it so far, by the names that tables and claims use.
// Clients: tables, claims, charts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/statistics/statistics.hpp"
#include "core/study/measure.hpp"
#include "core/study/study_results.hpp"

namespace driftscope {

/// A figure with what it rests on.
struct Figure {
  std::optional<double> value;       ///< nothing: why not is in `text`
  std::optional<Interval> interval;  ///< 95 %
  std::int64_t n = 0;                ///< samples, or sessions
  std::string text;                  ///< "98.9 % [97.4, 99.6], n 445"; "–", or why there is none
};

class StudyView {
 public:
  StudyView(documents::Study study, StudyResults results);

  [[nodiscard]] const documents::Study& study() const { return study_; }
  [[nodiscard]] const StudyResults& results() const { return results_; }
  [[nodiscard]] const std::vector<StudySubject>& subjects() const { return subjects_; }
  [[nodiscard]] const std::vector<std::string>& targets() const { return study_.targets; }
  /// Places of the targets on this host.
  [[nodiscard]] std::vector<std::size_t> targets_on(std::string_view host) const;

  /// Of a model of the study; nothing where the study has no such variant or data set.
  [[nodiscard]] std::optional<std::size_t> subject(std::string_view model, std::string_view variant) const;
  [[nodiscard]] std::optional<std::size_t> data(std::size_t subject, std::string_view name) const;

  [[nodiscard]] const Answers* answers(std::size_t subject, std::size_t data, std::size_t target) const;
  [[nodiscard]] const Times* times(std::size_t subject, std::size_t target) const;

  [[nodiscard]] const Adversarials* adversarials(std::size_t subject, std::size_t attack) const;
  [[nodiscard]] const LayersResult* layers(std::size_t layers, std::size_t target) const;
  /// Place of an attack.
  [[nodiscard]] std::optional<std::size_t> attack(std::string_view name) const;

  /// Of an attack that transfers: whether the i-th adversarial fools the subject on the target, for those
  /// whose originals every variant and target that has answered them answers rightly. Empty: not yet run.
  [[nodiscard]] std::map<std::int64_t, bool> fooled(std::size_t subject, std::size_t attack,
                                                    std::size_t target) const;

  [[nodiscard]] Figure figure(const Measure& measure, std::string_view model, std::size_t target) const;

 private:
  [[nodiscard]] Figure of_answers(const Measure& measure, std::size_t subject, std::size_t target) const;
  [[nodiscard]] Figure of_attack(std::string_view attack, std::size_t subject, std::size_t target) const;
  [[nodiscard]] Figure of_making(std::string_view attack, std::size_t subject) const;
  [[nodiscard]] Figure of_robustness(MeasureKind kind, std::size_t subject, std::size_t target) const;
  [[nodiscard]] Figure of_times(MeasureKind kind, std::size_t subject, std::size_t target) const;

  documents::Study study_;
  StudyResults results_;
  std::vector<StudySubject> subjects_;
};

/// Of two targets on the samples that both have answered.
struct AnswerPair {
  std::int64_t n = 0;
  std::int64_t both = 0;  ///< right on both
  std::int64_t only_left = 0;
  std::int64_t only_right = 0;
  std::int64_t different = 0;  ///< another class, whether right or not
};
[[nodiscard]] AnswerPair pair_of(const Answers& left, const Answers& right);

}  // namespace driftscope
