// Gather: the host checks the indices of each run and counts them from the front; the device copies.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/indices.hpp"

namespace driftscope::gpu::gather {

constexpr std::int64_t max_exact = 0x1000000;  // integers that float32 has

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId indices = node.inputs[1];
  const auto chosen = lowering.value(indices).static_shape();
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0]) || !chosen) return false;
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  const std::int64_t size = shape[axis];
  if (size > max_exact) return false;
  const HostMap as_places = [size, label = node_label(node)](const Tensor& from) -> Result<Tensor> {
    auto places = positions_of(from, size, 1, "indices");
    if (!places.ok()) return in_context(std::move(places).error(), label);
    DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "indices"));
    std::ranges::transform(*places, made.mutable_values<float>().begin(),
                           [](std::int64_t place) { return static_cast<float>(place); });
    return made;
  };
  DRIFTSCOPE_TRY(const BufferId data, lowering.read(x, {}));
  DRIFTSCOPE_TRY(const BufferId places, lowering.read_mapped(indices, {}, as_places));
  const Shape y = lowering.shape(node.outputs[0]);
  return lowering.emit_elements("gather",
                                {{"SIZE", size},
                                 {"CHOSEN", element_count(*chosen)},
                                 {"INNER", element_count(std::span(shape).subspan(axis + 1))}},
                                {data, places}, lowering.write(node.outputs[0], {}), element_count(y));
}

void add_to(GpuOperatorTable& table) { table.add("Gather", lower); }

}  // namespace driftscope::gpu::gather
