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

bool is_narrow(DType dtype) {
  return dtype == DType::int8 || dtype == DType::uint8 || dtype == DType::int16 || dtype == DType::uint16;
}

std::string wrapped(Lowering& lowering, const std::string& tensor, DType dtype) {
  const bool is_signed = dtype == DType::int8 || dtype == DType::int16;
  const double count = dtype == DType::int8 || dtype == DType::uint8 ? 256.0 : 65536.0;
  const std::string size = lowering.number(count, DType::int32);
  if (!is_signed) return lowering.elementwise("wrapped", "FloorMod", {tensor, size});
  const std::string half = lowering.number(count / 2.0, DType::int32);
  const std::string shifted = lowering.elementwise("shifted", "AddV2", {tensor, half});
  const std::string rest = lowering.elementwise("rest", "FloorMod", {shifted, size});
  return lowering.elementwise("wrapped", "Sub", {rest, half});
}

}  // namespace driftscope::tf
