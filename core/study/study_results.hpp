// What the cells of a study gave: answers over parts of data sets, times and memory of fresh sessions,
// attacks, values of layers, or why a cell has none. Clients: the schedule, the runner, tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/study/study_cells.hpp"

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
/// Places: of subjects_of, of the study's attacks, of the targets.
struct AttackKey {
  std::size_t subject = 0;
  std::size_t attack = 0;
  std::size_t target = 0;
  auto operator<=>(const AttackKey&) const = default;
};
/// Places: of subjects_of (the model itself), of the study's attacks.
struct AdversarialsKey {
  std::size_t subject = 0;
  std::size_t attack = 0;
  auto operator<=>(const AdversarialsKey&) const = default;
};
/// Places: of the study's layers, of the targets.
struct LayersKey {
  std::size_t layers = 0;
  std::size_t target = 0;
  auto operator<=>(const LayersKey&) const = default;
};

/// Of the samples from 0 on without a gap.
struct Answers {
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> predictions;
  std::vector<float> outputs;  ///< empty: not of all
  bool outputs_kept = true;    ///< of all of them
  std::optional<std::string> error;
  [[nodiscard]] std::int64_t samples() const { return std::ssize(predictions); }
  [[nodiscard]] std::int64_t correct() const;
};

struct Times {
  std::vector<SessionTimes> sessions;
  std::optional<std::string> error;
};

/// Of the samples from 0 on without a gap.
struct AttackResult {
  AttackPart sum;
  std::optional<std::string> error;
};

/// Of the samples from 0 on without a gap.
struct Adversarials {
  std::vector<AdversarialsPart> parts;
  std::int64_t looked_at = 0;           ///< samples
  std::vector<std::int64_t> originals;  ///< by adversarial: its place in the data set
  std::int64_t successes = 0;
  double seconds = 0.0;
  std::optional<std::string> error;
  [[nodiscard]] std::int64_t made() const { return std::ssize(originals); }
};

struct LayersResult {
  std::optional<LayerValues> values;
  std::optional<std::string> error;
};

struct StudyResults {
  std::map<AttackKey, AttackResult> attacks;
  std::map<AnswersKey, Answers> answers;
  std::map<TimesKey, Times> times;
  std::map<AdversarialsKey, Adversarials> adversarials;
  std::map<LayersKey, LayersResult> layers;
  /// Bytes of each subject's file; −1: it was not read.
  std::vector<std::int64_t> bytes;
  std::int64_t cells = 0;   ///< in the store, whatever they are
  std::int64_t failed = 0;  ///< of them
};

/// Results, to which a cell is added at a time.
class StudyLedger {
 public:
  /// `targets`: their names in the store, as of CampaignCell.
  StudyLedger(const documents::Study& study, const std::vector<std::string>& targets);

  /// Cells of other targets or names are left out; a cell is added once. Errors: a damaged result, with the
  /// cell.
  [[nodiscard]] Status add(const CampaignCell& cell, std::string_view result);
  /// All cells of a store.
  [[nodiscard]] Status add_all(const CampaignResults& cells);

  [[nodiscard]] const StudyResults& results() const { return results_; }
  [[nodiscard]] StudyResults take() && { return std::move(results_); }

 private:
  /// What a name stands for, without its target.
  struct AnswersOf {
    std::size_t subject, data;
  };
  struct AttackOf {
    std::size_t subject, attack;
  };
  struct TimesOf {
    std::size_t subject;
  };
  struct LayersOf {
    std::size_t layers;
  };
  using Place = std::variant<AnswersOf, AttackOf, AdversarialsKey, TimesOf, LayersOf>;

  template <class Key, class Part>
  using Waiting = std::map<Key, std::map<std::int64_t, Part>>;

  [[nodiscard]] Status add_to(const AnswersOf& place, std::size_t target,
                              const nlohmann::ordered_json& value);
  [[nodiscard]] Status add_to(const AttackOf& place, std::size_t target, const nlohmann::ordered_json& value);
  [[nodiscard]] Status add_to(const AdversarialsKey& key, std::size_t target,
                              const nlohmann::ordered_json& value);
  [[nodiscard]] Status add_to(const TimesOf& place, std::size_t target, const nlohmann::ordered_json& value);
  [[nodiscard]] Status add_to(const LayersOf& place, std::size_t target, const nlohmann::ordered_json& value);

  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::size_t, std::less<>> targets_;
  std::vector<std::size_t> making_;  ///< by attack: the target that makes its adversarials
  std::int64_t number_ = -1;         ///< of the cell that is being added
  StudyResults results_;
  // Parts behind a gap.
  Waiting<AnswersKey, AnswersPart> answers_;
  Waiting<AttackKey, AttackPart> attacks_;
  Waiting<AdversarialsKey, AdversarialsPart> adversarials_;
  Waiting<TimesKey, SessionTimes> times_;
};

/// Of all cells in the store.
[[nodiscard]] Result<StudyResults> read_study_results(const documents::Study& study,
                                                      const std::vector<std::string>& targets,
                                                      const CampaignResults& cells);

/// Those that failed: to be removed from the store, so that they run again.
[[nodiscard]] std::vector<CampaignCell> failed_cells(const CampaignResults& cells);

}  // namespace driftscope
