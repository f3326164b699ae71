// What moves no element: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout, and a Transpose that only
// says what the layout in memory is already. A Transpose that moves something is XNNPACK's.
#include <algorithm>

#include "core/engines/fast/lowering.hpp"
#include "core/graph/attributes.hpp"
#include "core/lowering/view.hpp"

namespace driftscope::fast::view {

bool is_static(const GraphLowering& lowering, ValueId id) {
  const Value& value = lowering.value(id);
  return value.static_shape() && bits_per_element(value.dtype) >= 8;
}

Result<bool> lower(Lowering& lowering, const Node& node) { return lower_view(lowering, node, is_static); }

Result<bool> lower_dropout(Lowering& lowering, const Node& node) {
  return lowering::lower_dropout(lowering, node, is_static);
}

// Axes in memory, without those of size 1, which lie anywhere.
std::vector<std::size_t> without_ones(const std::vector<std::size_t>& axes, const Shape& shape) {
  std::vector<std::size_t> result;
  for (const std::size_t axis : axes)
    if (shape[axis] != 1) result.push_back(axis);
  return result;
}

Result<bool> lower_transpose(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!is_static(lowering, x) || !is_static(lowering, y) || lowering.constant(x) != nullptr) return false;
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(y);
  const std::size_t rank = shape.size();
  Ints reversed(rank);
  for (std::size_t i = 0; i < rank; ++i) reversed[i] = static_cast<std::int64_t>(rank - 1 - i);
  DRIFTSCOPE_TRY(const Ints perm, ints_attribute(node, "perm", reversed));
  if (perm.size() != rank || element_count(shape) == 0) return false;
  Layout layout = lowering.layout(x);
  if (!layout.plain() && (rank < 3 || layout != channels_last(shape))) layout = {};
  const std::vector<std::size_t> memory = axes_in_memory(shape, layout);

  // As either of the layouts that y may have, in axes of x: nothing to do if memory is so already.
  std::vector<Layout> possible = {Layout{}};
  if (rank > 2) possible.push_back(channels_last(y_shape));
  for (const Layout made : possible) {
    std::vector<std::size_t> wanted;
    for (const std::size_t axis : axes_in_memory(y_shape, made))
      wanted.push_back(static_cast<std::size_t>(perm[axis]));
    if (without_ones(wanted, shape) != without_ones(memory, shape)) continue;
    DRIFTSCOPE_TRY(const BufferId source, lowering.read(x, layout));
    lowering.alias(y, source, made);
    return true;
  }
  if (rank > XNN_MAX_TENSOR_DIMS || bits_per_element(lowering.value(x).dtype) != 32) return false;
  std::vector<std::size_t> dims;
  for (const std::size_t axis : memory) dims.push_back(static_cast<std::size_t>(shape[axis]));
  std::vector<std::size_t> order;
  for (const std::int64_t axis : perm) {
    const auto at = std::find(memory.begin(), memory.end(), static_cast<std::size_t>(axis));
    order.push_back(static_cast<std::size_t>(at - memory.begin()));
  }
  xnn_operator_t raw = nullptr;
  if (xnn_create_transpose_nd_x32(0, &raw) != xnn_status_success) return false;
  XnnOperator op(raw);
  const pthreadpool_t pool = lowering.pool_for(element_count(shape));
  if (xnn_reshape_transpose_nd_x32(raw, rank, dims.data(), order.data(), pool) != xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, {});
  lowering.emit(std::move(op), pool, {in}, {out}, [=](xnn_operator_t it, const Memory& memory_of) {
    return xnn_setup_transpose_nd_x32(it, memory_of.address(in), memory_of.address(out));
  });
  return true;
}

void add_to(FastOperatorTable& table) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) table.add(op, lower);
  table.add("Dropout", lower_dropout);
  table.add("Transpose", lower_transpose);
}

}  // namespace driftscope::fast::view
