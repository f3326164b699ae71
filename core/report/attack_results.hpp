// The results of attacks as `attack -o FOLDER` keeps them: attack.json, and arrays of the samples beside it.
// Clients: the page of attacks, the attack view of the window. It attacks nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tensor.hpp"
#include "generated/documents/attack.hpp"

namespace driftscope {

/// The names of the files in that folder.
inline constexpr std::string_view attack_file = "attack.json";
/// "originals.npy"; of a target its name, in which /, : and \ become -: "pc-strict.npy".
[[nodiscard]] std::string attack_array_file(std::string_view target = {});

/// One sample that was attacked on one target, or on several with the same result.
struct AttackExample {
  std::int64_t number = 0;            ///< in the data set
  std::optional<std::int64_t> label;  ///< its class
  std::vector<std::size_t> attacked;  ///< places of the targets
  std::vector<float> original;
  std::vector<float> changed;
  std::vector<std::optional<std::int64_t>> answers;  ///< of each target; nothing: not known
  bool targets_differ = false;                       ///< in their answers, as far as they are known
};

struct AttackResults {
  documents::Attack attack;
  std::optional<Tensor> originals = {};             ///< float32, the first axis of samples; nothing: not kept
  std::vector<std::optional<Tensor>> changed = {};  ///< by target, of the same shape

  /// Of one sample, as the model reads it.
  [[nodiscard]] Shape sample_shape() const;
  /// Successes with arrays, at most `limit`: first those on which targets answer differently, then in turn
  /// those of each target.
  [[nodiscard]] std::vector<AttackExample> examples(std::size_t limit) const;
};

/// `array`: the tensor in a file beside the JSON; nothing: there is none. Errors: JSON of another format, an
/// array that does not fit it.
[[nodiscard]] Result<AttackResults> read_attack_results(
    std::string_view json,
    const std::function<Result<std::optional<Tensor>>(const std::string& file)>& array);

/// The name of its file, or a part of its hash.
[[nodiscard]] std::string attacked_model(const documents::Attack& attack);
/// "fgsm, ε 0.1".
[[nodiscard]] std::string attack_name(const documents::Attack& attack);

/// `added` beside those that are open, so that targets are seen against several methods; one of the same
/// method gives way, and all of another model.
[[nodiscard]] std::vector<AttackResults> attacks_with(std::vector<AttackResults> open, AttackResults added);

/// One minus the rates of success: a row for each target that any result has, a column for each result; NaN
/// where a target was not attacked.
struct SurvivalRates {
  std::vector<std::string> targets;
  std::vector<std::string> attacks;
  std::vector<std::vector<double>> rates;  ///< [target][attack]
};
[[nodiscard]] SurvivalRates survival_rates(const std::vector<AttackResults>& all);

}  // namespace driftscope
