// R of models on targets from the success rates of attacks, by both formulas of the studies. Client: the
// command attack, which reads the rates of other attacks from its own documents.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// An attack on a model, on all its targets.
struct AttackRates {
  std::string model_sha256;
  std::string attack;  ///< the method, with its ε where it has one
  std::string source;  ///< for messages: a file
  std::vector<std::string> targets = {};
  std::vector<double> success = {};  ///< by target, as a share
};

struct RobustnessRow {
  std::string model_sha256;
  std::string target;
  double r = 0.0;                        ///< Guo et al. 2019, Eq. 1 and 2
  std::optional<double> r_conversion{};  ///< Openja et al. 2022, Eq. 4: beside the model's first target
};

struct Robustness {
  std::vector<std::string> attacks;
  std::vector<RobustnessRow> rows;  ///< models and targets in the order in which they come first
};

/// Errors: an attack is missing or given twice for a model on a target.
[[nodiscard]] Result<Robustness> robustness_of(std::span<const AttackRates> rates);

}  // namespace driftscope
