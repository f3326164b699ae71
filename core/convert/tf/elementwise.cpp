#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf {

Order elementwise_order(const Lowering& lowering, const OnnxNode& node, std::size_t rank) {
  for (const ValueId id : node.inputs) {
    if (id == no_value || lowering.constant(id) != nullptr || lowering.rank(id) != rank) continue;
    Order order = lowering.order(id);
    if (!order.empty()) return order;
  }
  return {};
}

Result<Operands> read_operands(Lowering& lowering, const OnnxNode& node) {
  Operands operands;
  const std::size_t rank = lowering.rank(node.outputs[0]);
  operands.order = elementwise_order(lowering, node, rank);
  for (const ValueId id : node.inputs) {
    DRIFTSCOPE_TRY(std::string tensor, lowering.read_broadcast(id, rank, operands.order));
    operands.tensors.push_back(std::move(tensor));
  }
  return operands;
}

Result<Operands> read_operand(Lowering& lowering, const OnnxNode& node) {
  Operands operands;
  operands.order = lowering.order(node.inputs[0]);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(node.inputs[0], operands.order));
  operands.tensors = {std::move(tensor)};
  return operands;
}

Status give_elementwise(Lowering& lowering, const OnnxNode& node, std::string_view op, const Order& order,
                        Inputs tensors, Attributes attributes) {
  return lowering.give(node.outputs[0], op, std::move(tensors), std::move(attributes), order);
}

}  // namespace driftscope::tf
