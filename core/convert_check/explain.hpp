// Why a layer of a converted model computes something different from the original's: the nodes between the
// values that both have are compared: operators, attributes, constants. An explanation is tested where
// possible: with B's attribute or constant in A's node the difference has to vanish. Clients: the check.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/convert_check/alignment.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::convert {

enum class Cause {
  operator_missing,  ///< an activation dropped, a normalization that left no trace in the weights
  operator_added,
  attribute,
  padding,
  weights,         ///< a constant changed
  layout,          ///< a constant with its axes in another order, or reversed
  float16,         ///< a constant rounded to float16 or bfloat16
  quantized,       ///< a constant, or the values, on a grid of integers
  folded_epsilon,  ///< BatchNormalization folded with another epsilon
  folded_wrong,    ///< BatchNormalization folded otherwise than its formula says
  values_order,    ///< the values are A's, in another order
  unknown,
};
[[nodiscard]] std::string_view cause_name(Cause cause);

struct Explanation {
  std::size_t layer = 0;  ///< in Check::layers
  Cause cause = Cause::unknown;
  std::string node_a;
  std::string node_b;
  std::string text;               ///< a sentence: what, expected, got, by how much
  std::optional<bool> confirmed;  ///< whether it alone explains the layer; nothing where it was not tried
  bool together = false;          ///< no cause does alone, but all of the layer's together
};

/// What a constant of B is to the same one of A.
struct ConstantDifference {
  Cause cause = Cause::unknown;
  std::string text;
};
/// Nothing where they are equal, or differ by no more than the rounding of float32.
[[nodiscard]] std::optional<ConstantDifference> compare_constants(const Tensor& a, const Tensor& b);

/// The layer's pair of values and those around it.
struct PartingLayer {
  const Side& a;
  const Side& b;
  const Alignment& alignment;
  const ValuePair& values;
};
/// Both sides have a graph. Without anything found: one explanation of cause unknown.
[[nodiscard]] std::vector<Explanation> explain(const PartingLayer& layer, ThreadPool& threads);

/// Constants that differ in a layer that does not diverge: this input does not show it. Only where both have
/// the same operators.
[[nodiscard]] std::vector<Explanation> hidden_changes(const PartingLayer& layer);

/// Where A is only a trace: what B's constants alone show.
[[nodiscard]] std::vector<Explanation> explain_without_original(const PartingLayer& layer);

}  // namespace driftscope::convert
