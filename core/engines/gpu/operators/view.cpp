// What moves no element: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout; and Transpose.
// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/view.hpp"
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::gpu::view {

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  return lowering.is_number(node.inputs[0]) ? lower_view(lowering, node, can_hold) : Result<bool>(false);
}

Result<bool> lower_dropout(GpuLowering& lowering, const Node& node) {
  return lowering.is_float(node.inputs[0]) ? lowering::lower_dropout(lowering, node, can_hold)
                                           : Result<bool>(false);
}

Result<bool> lower_transpose(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_number(x) || !lowering.can_be_number(y)) return false;
  const Shape shape = lowering.shape(x);
  const std::size_t rank = shape.size();
  Ints perm(rank);
  for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(rank - 1 - i);
  DRIFTSCOPE_TRY(perm, ints_attribute(node, "perm", perm));
  if (perm.size() != rank) return false;
  Layout layout = lowering.layout(x);
  if (!layout.plain() && (rank < 3 || layout != channels_last(shape))) layout = {};
  // Of the axes of x, as they lie.
  std::vector<std::int64_t> strides(rank);
  std::int64_t stride = 1;
  const auto memory = axes_in_memory(shape, layout);
  for (std::size_t i = rank; i-- > 0; stride *= shape[memory[i]]) strides[memory[i]] = stride;
  std::vector<GatherAxis> axes;
  for (const std::int64_t axis : perm) {
    const auto from = static_cast<std::size_t>(axis);
    axes.push_back({shape[from], strides[from]});
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, {});
  return lowering.emit_gather(in, out, axes);
}

void add_to(GpuOperatorTable& table) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) table.add(op, lower);
  table.add("Dropout", lower_dropout);
  table.add("Transpose", lower_transpose);
}

}  // namespace driftscope::gpu::view
