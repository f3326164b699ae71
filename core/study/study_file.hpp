// A study as people write it ("driftscope-study-1"): which models in which variants, on which targets, over
// which data sets; published tables to reprint and claims to check. Clients: the study command, tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "generated/documents/study.hpp"

namespace driftscope {

/// Errors, each with its line: not JSON, unknown or missing fields, names that occur twice, that are not
/// there or that a file or a table could not hold, targets that cannot be read, measures and kinds of
/// claims that do not exist. Whether files and hosts exist is not looked at.
[[nodiscard]] Result<documents::Study> read_study(std::string_view text);

/// A model in one form, as cells name it.
struct StudySubject {
  std::string model;
  std::string variant;  ///< "float32" for the model itself
  std::string path;
  /// The model's own data sets, and behind them the adversarials of each attack on it that transfers, under
  /// the attack's name.
  std::vector<documents::StudyData> data;
  std::vector<std::size_t> attacks = {};  ///< of the latter: places in the study

  [[nodiscard]] std::string name() const { return is_base() ? model : model + " " + variant; }
  [[nodiscard]] bool is_base() const { return variant == base_variant; }
  /// How many of `data` are the model's own.
  [[nodiscard]] std::size_t own_data() const { return data.size() - attacks.size(); }
  static constexpr std::string_view base_variant = "float32";
};
[[nodiscard]] std::vector<StudySubject> subjects_of(const documents::Study& study);

/// Whether the attack is on this model.
[[nodiscard]] bool attacks_model(const documents::StudyAttack& attack, std::string_view model);

/// Whether an attack without transfer is on this target.
[[nodiscard]] bool attacks_target(const documents::StudyAttack& attack, std::string_view target);

/// Place of the target that makes the adversarials of an attack that transfers.
[[nodiscard]] std::size_t making_target(const documents::Study& study, const documents::StudyAttack& attack);

}  // namespace driftscope
