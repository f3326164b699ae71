// Concat: one strided copy for each input. Along the channels of channels-last images it copies
// a run of channels for every pixel.
#include "core/engines/fast/lowering.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::fast::concat {

struct Copy {
  xnn_status (*create)(std::uint32_t, xnn_operator_t*);
  xnn_status (*reshape)(xnn_operator_t, std::size_t, std::size_t, std::size_t, std::size_t, pthreadpool_t);
  xnn_status (*setup)(xnn_operator_t, const void*, void*);
  std::int64_t unit = 1;  // bytes
};

// Sizes are counted in units of four bytes where that is possible.
Copy copy_for(std::int64_t element_bytes) {
  if (element_bytes % 4 == 0)
    return {xnn_create_copy_nc_x32, xnn_reshape_copy_nc_x32, xnn_setup_copy_nc_x32, 4};
  return {xnn_create_copy_nc_x8, xnn_reshape_copy_nc_x8, xnn_setup_copy_nc_x8, 1};
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId y = node.outputs[0];
  const Value& made = lowering.value(y);
  const auto y_shape = made.static_shape();
  const std::int64_t element_bytes = bits_per_element(made.dtype) / 8;
  if (!y_shape || element_count(*y_shape) == 0 || element_bytes == 0) return false;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y_shape->size()));
  Layout layout;
  for (const ValueId id : node.inputs) {
    const auto shape = lowering.value(id).static_shape();
    if (!shape || lowering.value(id).dtype != made.dtype || element_count(*shape) == 0) return false;
    if (shape->size() > 2 && lowering.layout(id) == channels_last(*shape) &&
        !same_order(*shape, lowering.layout(id), {}))
      layout = channels_last(*y_shape);
  }
  // Everything from the axis on, in the order of memory, is one run.
  const std::vector<std::size_t> axes = axes_in_memory(*y_shape, layout);
  std::int64_t outer = 1;
  std::size_t at = 0;
  while (axes[at] != axis) outer *= (*y_shape)[axes[at++]];
  const Copy copy = copy_for(element_bytes);
  const std::int64_t stride = element_count(*y_shape) / outer * element_bytes / copy.unit;

  struct Part {
    XnnOperator op;
    pthreadpool_t pool;
    BufferId in;
    std::int64_t offset;  // bytes
  };
  std::vector<Part> parts;
  std::int64_t offset = 0;
  for (const ValueId id : node.inputs) {
    const Shape shape = lowering.shape(id);
    const std::int64_t run = element_count(shape) / outer * element_bytes;
    xnn_operator_t raw = nullptr;
    if (copy.create(0, &raw) != xnn_status_success) return false;
    Part part{XnnOperator(raw), lowering.pool_for(element_count(shape)), no_buffer, offset};
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    if (copy.reshape(raw, size(outer), size(run / copy.unit), size(run / copy.unit), size(stride),
                     part.pool) != xnn_status_success)
      return false;
    DRIFTSCOPE_TRY(part.in, lowering.read(id, layout.plain() ? Layout{} : channels_last(shape)));
    parts.push_back(std::move(part));
    offset += run;
  }
  const BufferId out = lowering.write(y, layout);
  for (Part& part : parts)
    lowering.emit(std::move(part.op), part.pool, {part.in}, {out},
                  [=, in = part.in, where = part.offset](xnn_operator_t it, const Memory& memory) {
                    return copy.setup(it, memory.address(in), memory.address(out) + where);
                  });
  return true;
}

void add_to(FastOperatorTable& table) { table.add("Concat", lower); }

}  // namespace driftscope::fast::concat
