// Clip: Relu or Relu6 where these are its bounds, ClipByValue of known bounds, else the larger and the
// smaller.
#include <algorithm>
#include <limits>
#include <optional>

#include "core/convert/tf/elementwise.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::operators::clip {
namespace {

// Of a known bound, or the type's own limit where it is left out; nothing if it is computed.
Result<std::optional<double>> bound_of(const Lowering& lowering, const OnnxNode& node, std::size_t input,
                                       std::string_view name, double limit) {
  if (node.opset < 11) {
    DRIFTSCOPE_TRY(const float value, float_attribute(node, name, static_cast<float>(limit)));
    return std::optional(static_cast<double>(value));
  }
  if (!Lowering::has_input(node, input)) return std::optional(limit);
  const Tensor* const known = lowering.constant(node.inputs[input]);
  if (known == nullptr || known->elements() != 1) return std::optional<double>();
  if (known->dtype() == DType::float32) return std::optional(static_cast<double>(known->values<float>()[0]));
  const auto values = indices_of(*known);
  return values.empty() ? std::optional<double>() : std::optional(static_cast<double>(values[0]));
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  const std::string& tensor = x.tensors[0];
  const bool floating = lowering.info(tensor).dtype == DType::float32;
  const double type_min = floating ? static_cast<double>(std::numeric_limits<float>::lowest())
                                   : static_cast<double>(std::numeric_limits<std::int32_t>::min());
  const double type_max = floating ? static_cast<double>(std::numeric_limits<float>::max())
                                   : static_cast<double>(std::numeric_limits<std::int32_t>::max());
  DRIFTSCOPE_TRY(auto low, bound_of(lowering, node, 1, "min", type_min));
  DRIFTSCOPE_TRY(auto high, bound_of(lowering, node, 2, "max", type_max));
  // All integers are of 32 bits here: what lies beyond these is not a bound.
  if (low && !floating) low = std::clamp(*low, type_min, type_max);
  if (high && !floating) high = std::clamp(*high, type_min, type_max);
  const ValueId y = node.outputs[0];
  if (low && high) {
    if (floating && *low == 0.0 && *high == type_max) return lowering.give(y, "Relu", {tensor}, {}, x.order);
    if (floating && *low == 0.0 && *high == 6.0) return lowering.give(y, "Relu6", {tensor}, {}, x.order);
    if (*low == type_min && *high == type_max) return lowering.give_same(y, tensor, x.order);
    if (*low <= *high && lowering.has("ClipByValue")) {
      DRIFTSCOPE_TRY(const std::string from, lowering.scalar(*low, lowering.dtype(y), "min"));
      DRIFTSCOPE_TRY(const std::string to, lowering.scalar(*high, lowering.dtype(y), "max"));
      return lowering.give(y, "ClipByValue", {tensor, from, to}, {}, x.order);
    }
  }
  const auto operand = [&](std::size_t input, const std::optional<double>& known) -> Result<std::string> {
    if (known) return lowering.number(*known, lowering.dtype(y));
    DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[input]));
    return lowering.reshape("bound", given, {});
  };
  DRIFTSCOPE_TRY(const std::string from, operand(1, low));
  const std::string above = lowering.elementwise("at_least", "Maximum", {tensor, from});
  DRIFTSCOPE_TRY(const std::string to, operand(2, high));
  return lowering.give(y, "Minimum", {above, to}, {}, x.order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Clip", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::clip
