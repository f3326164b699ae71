// Max, Min, Sum, Mean of any number of operands: one after the other.
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::variadic {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const bool extreme = node.op_type == "Max" || node.op_type == "Min";
  DRIFTSCOPE_TRY(const Operands operands,
                 read_operands(lowering, node, extreme ? Beyond::clamped : Beyond::refused));
  const std::string_view op = node.op_type == "Max" ? "Maximum" : node.op_type == "Min" ? "Minimum" : "AddV2";
  const bool mean = node.op_type == "Mean";
  const auto count = static_cast<double>(operands.tensors.size());
  std::string so_far = operands.tensors[0];
  if (operands.tensors.size() == 1) return lowering.give_same(node.outputs[0], so_far, operands.order);
  for (std::size_t i = 1; i < operands.tensors.size(); ++i) {
    if (i + 1 == operands.tensors.size() && !mean)
      return lowering.give(node.outputs[0], op, {so_far, operands.tensors[i]}, {}, operands.order);
    so_far = lowering.elementwise("so_far", op, {so_far, operands.tensors[i]});
  }
  return lowering.give(node.outputs[0], "RealDiv", {so_far, lowering.number(count)}, {}, operands.order);
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const std::string_view name : {"Max", "Min", "Sum", "Mean"}) table.add(name, lower, Prefers::any);
}

}  // namespace driftscope::tf::operators::variadic
