// IsInf: TensorFlow's, of positive or negative numbers alone a comparison.
#include <limits>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::is_inf {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const bool positive, flag_attribute(node, "detect_positive", true));
  DRIFTSCOPE_TRY(const bool negative, flag_attribute(node, "detect_negative", true));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  if (positive && negative) return give_elementwise(lowering, node, "IsInf", x.order, x.tensors);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (positive || negative)
    return give_elementwise(lowering, node, "Equal", x.order,
                            {x.tensors[0], lowering.number(positive ? infinity : -infinity)});
  const std::string never = lowering.elementwise("never", "IsNan", {x.tensors[0]}, DType::boolean);
  const std::string other = lowering.elementwise("other", "LogicalNot", {never}, DType::boolean);
  return give_elementwise(lowering, node, "LogicalAnd", x.order, {never, other});
}

}  // namespace

void add_to(OperatorTable& table) { table.add("IsInf", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::is_inf
