// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/reduced_axes.hpp"

#include <algorithm>
#include <utility>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::lowering {
namespace {

bool are_floats(const GraphLowering& lowering, const Node& node) {
  return lowering.is_float(node.inputs[0]) && lowering.is_float(node.outputs[0]);
}

ReducedAxes with_layouts(const GraphLowering& lowering, const Node& node, std::vector<bool> reduced) {
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(node.outputs[0]);
  Layout layout = lowering.layout(x);
  // With the axes gone, what remains must be in ONNX's order again, unless they stay as ones.
  const bool keeps = shape.size() == y_shape.size();
  const bool images = shape.size() > 2 && layout == channels_last(shape);
  const bool one_axis_left = std::ranges::count(reduced, false) <= 2 && !reduced[0];
  if (!images || (!keeps && !one_axis_left)) layout = {};
  const Layout made = keeps && !layout.plain() && y_shape.size() > 2 ? channels_last(y_shape) : Layout{};
  return {std::move(reduced), layout, made};
}

}  // namespace

std::optional<ReducedAxes> reduced_axes(const GraphLowering& lowering, const Node& node,
                                        std::int64_t axes_input) {
  if (!are_floats(lowering, node)) return std::nullopt;
  const bool given = lowering.has_input(node, 1);
  const Tensor* input = given ? lowering.constant(node.inputs[1]) : nullptr;
  const std::size_t rank = lowering.shape(node.inputs[0]).size();
  if (rank == 0) return std::nullopt;
  const auto axes = read_axes(node, input, given, node.opset >= axes_input, rank);
  const auto nothing = flag_attribute(node, "noop_with_empty_axes", false);
  if (!axes.ok() || !*axes || !nothing.ok() || (*nothing && (*axes)->empty())) return std::nullopt;
  std::vector<bool> reduced(rank, (*axes)->empty());
  for (const std::size_t axis : **axes) reduced[axis] = true;
  return with_layouts(lowering, node, std::move(reduced));
}

std::optional<ReducedAxes> pooled_axes(const GraphLowering& lowering, const Node& node) {
  if (!are_floats(lowering, node)) return std::nullopt;
  std::vector<bool> reduced(lowering.shape(node.inputs[0]).size(), true);
  if (reduced.size() < 3) return std::nullopt;
  reduced[0] = reduced[1] = false;
  return with_layouts(lowering, node, std::move(reduced));
}

}  // namespace driftscope::lowering
