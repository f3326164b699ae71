// What elementwise operators share: the order of axes in which they compute, operands that align. Clients:
// operators/.
#pragma once

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf {

/// The order of the first input that flows, has `rank` axes and another order than ours; else ours.
[[nodiscard]] Order elementwise_order(const Lowering& lowering, const OnnxNode& node, std::size_t rank);

/// All inputs of the node, which are broadcast to its output 0, as operands in one order.
struct Operands {
  Order order;
  Inputs tensors;
};
/// What becomes of known integers that int32, the runtimes' type, does not hold: an error that tells the
/// number, or the nearest that it holds, where the operator makes no difference between both.
enum class Beyond { refused, clamped };
[[nodiscard]] Result<Operands> read_operands(Lowering& lowering, const OnnxNode& node,
                                             Beyond beyond = Beyond::refused);

/// Of a known value, its integers brought into the range of int32; nothing where they lie in it.
[[nodiscard]] Result<std::optional<Tensor>> clamped_to_int32(const Lowering& lowering, ValueId id);

/// The only input, in the order in which it exists.
[[nodiscard]] Result<Operands> read_operand(Lowering& lowering, const OnnxNode& node);

/// Gives output 0 as `op` of these, in their order.
[[nodiscard]] Status give_elementwise(Lowering& lowering, const OnnxNode& node, std::string_view op,
                                      const Order& order, Inputs tensors, Attributes attributes = {});

/// Integers that are held as int32: their own range has to be kept.
[[nodiscard]] bool is_narrow(DType dtype);

/// The sum, difference or product of narrow integers in their range: it wraps around.
[[nodiscard]] std::string wrapped(Lowering& lowering, const std::string& tensor, DType dtype);

}  // namespace driftscope::tf
