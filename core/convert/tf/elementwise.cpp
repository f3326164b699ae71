#include "core/convert/tf/elementwise.hpp"

#include <limits>
#include <utility>

namespace driftscope::tf {

Order elementwise_order(const Lowering& lowering, const OnnxNode& node, std::size_t rank) {
  for (const ValueId id : node.inputs) {
    if (id == no_value || lowering.constant(id) != nullptr || lowering.rank(id) != rank) continue;
    Order order = lowering.order(id);
    if (!order.empty()) return order;
  }
  return {};
}

Result<std::optional<Tensor>> clamped_to_int32(const Lowering& lowering, ValueId id) {
  const Tensor* const known = lowering.constant(id);
  if (known == nullptr || lowering.dialect().int64) return std::optional<Tensor>();
  std::vector<std::int64_t> numbers;
  bool beyond = false;
  const auto take = [&](auto value) {
    constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
    beyond = beyond || !std::in_range<std::int32_t>(value);
    numbers.push_back(std::cmp_less(value, low)       ? low
                      : std::cmp_greater(value, high) ? high
                                                      : static_cast<std::int64_t>(value));
  };
  if (known->dtype() == DType::int64)
    for (const std::int64_t value : known->values<std::int64_t>()) take(value);
  else if (known->dtype() == DType::uint32)
    for (const std::uint32_t value : known->values<std::uint32_t>()) take(value);
  else if (known->dtype() == DType::uint64)
    for (const std::uint64_t value : known->values<std::uint64_t>()) take(value);
  if (!beyond) return std::optional<Tensor>();
  DRIFTSCOPE_TRY(Tensor made, Tensor::from_values<std::int64_t>(known->shape(), numbers));
  return std::optional(std::move(made));
}

namespace {

Result<std::string> read_operand_of(Lowering& lowering, ValueId id, std::size_t rank, const Order& order,
                                    Beyond beyond) {
  if (beyond == Beyond::refused) return lowering.read_broadcast(id, rank, order);
  DRIFTSCOPE_TRY(const std::optional<Tensor> clamped, clamped_to_int32(lowering, id));
  if (!clamped) return lowering.read_broadcast(id, rank, order);
  if (order.empty() || clamped->elements() == 1) return lowering.weights(id, *clamped);
  Shape shape(rank - clamped->rank(), 1);
  shape.insert(shape.end(), clamped->shape().begin(), clamped->shape().end());
  DRIFTSCOPE_TRY(const Tensor aligned, clamped->reshaped(shape));
  DRIFTSCOPE_TRY(const Tensor arranged, transposed(aligned, order));
  return lowering.weights(id, arranged);
}

}  // namespace

Result<Operands> read_operands(Lowering& lowering, const OnnxNode& node, Beyond beyond) {
  Operands operands;
  const std::size_t rank = lowering.rank(node.outputs[0]);
  operands.order = elementwise_order(lowering, node, rank);
  for (const ValueId id : node.inputs) {
    DRIFTSCOPE_TRY(std::string tensor, read_operand_of(lowering, id, rank, operands.order, beyond));
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
