// IsInf: TensorFlow's, of positive or negative numbers alone a comparison.
#include <limits>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::is_inf {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const bool positive, flag_attribute(node, "detect_positive", true));
  DRIFTSCOPE_TRY(const bool negative, flag_attribute(node, "detect_negative", true));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (positive && negative && lowering.has("IsInf"))
    return give_elementwise(lowering, node, "IsInf", x.order, x.tensors);
  if (positive && negative) {
    const std::string size = lowering.elementwise("size", "Abs", x.tensors);
    return give_elementwise(lowering, node, "Equal", x.order, {size, lowering.number(infinity)});
  }
  if (positive || negative)
    return give_elementwise(lowering, node, "Equal", x.order,
                            {x.tensors[0], lowering.number(positive ? infinity : -infinity)});
  // Neither: a condition and its opposite.
  const std::string some =
      lowering.elementwise("some", "Greater", {x.tensors[0], lowering.number(0.0)}, DType::boolean);
  const std::string other = lowering.elementwise("other", "LogicalNot", {some}, DType::boolean);
  return give_elementwise(lowering, node, "LogicalAnd", x.order, {some, other});
}

}  // namespace

void add_to(OperatorTable& table) { table.add("IsInf", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::is_inf
