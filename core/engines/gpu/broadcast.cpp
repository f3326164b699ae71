// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/broadcast.hpp"

#include <algorithm>

#include "core/graph/legacy.hpp"

namespace driftscope::gpu {
namespace {

// The shape with ones in front, in the order of memory of images whose channels lie last.
Shape aligned(const Shape& shape, std::size_t rank, bool images) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  if (images) std::rotate(padded.begin() + 1, padded.begin() + 2, padded.end());
  return padded;
}

// Whether moving axis 1 behind the others leaves the order of the elements as it is.
bool moves_nothing(const Shape& shape, std::size_t rank) {
  const Shape padded = aligned(shape, rank, false);
  return padded[1] == 1 ||
         std::all_of(padded.begin() + 2, padded.end(), [](std::int64_t size) { return size == 1; });
}

// That of the first operand which has the result's shape, if the others can follow.
Layout common_layout(const GpuLowering& lowering, const Node& node, const Shape& y) {
  Layout layout;
  for (const ValueId id : node.inputs)
    if (layout.plain() && lowering.shape(id) == y && !same_order(y, lowering.layout(id), {}))
      layout = lowering.layout(id);
  if (layout.plain()) return layout;
  const bool images = y.size() > 2 && layout == channels_last(y);
  for (const ValueId id : node.inputs) {
    const Shape shape = lowering.shape(id);
    const bool follows = shape == y || element_count(shape) == 1 ||
                         (images && (shape.size() == y.size() || moves_nothing(shape, y.size())));
    if (!follows) return {};
  }
  return layout;
}

// Each axis of the result's size or 1. What is broadcast otherwise (PRelu before opset 7) is for strict.
bool broadcasts(const Shape& shape, const Shape& y) {
  if (shape.size() > y.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (const std::int64_t size = shape[shape.size() - 1 - i]; size != 1 && size != y[y.size() - 1 - i])
      return false;
  return true;
}

}  // namespace

std::optional<Broadcast> plan_broadcast(const GpuLowering& lowering, const Node& node, ValueId output) {
  if (node.inputs.empty() || node.attribute(broadcast_axis) != nullptr || !lowering.is_float(output))
    return std::nullopt;
  for (const ValueId id : node.inputs)
    if (id == no_value || (!lowering.is_float(id) && !lowering.is_bool(id))) return std::nullopt;
  const Shape y = lowering.shape(output);
  for (const ValueId id : node.inputs)
    if (!broadcasts(lowering.shape(id), y)) return std::nullopt;
  Broadcast plan;
  plan.layout = common_layout(lowering, node, y);
  const bool images = !plan.layout.plain() && y.size() > 2;
  std::vector<std::vector<std::int64_t>> strides;
  for (const ValueId id : node.inputs) {
    const Shape shape = lowering.shape(id);
    const bool whole = shape == y;
    Layout wanted;
    if (!plan.layout.plain()) {
      if (whole)
        wanted = plan.layout;
      else if (element_count(shape) > 1 && !moves_nothing(shape, y.size()))
        wanted = channels_last(shape);
    }
    plan.operands.push_back(wanted);
    strides.push_back(broadcast_strides(aligned(shape, y.size(), images), y.size()));
    plan.all_whole = plan.all_whole && whole;
  }
  const Shape walk = aligned(y, y.size(), images);
  for (std::size_t axis = 0; axis < walk.size(); ++axis) {
    plan.axes.push_back({walk[axis], {}});
    for (const auto& of_operand : strides) plan.axes.back().strides.push_back(of_operand[axis]);
  }
  plan.axes = joined(plan.axes);
  return plan;
}

}  // namespace driftscope::gpu
