// What only moves elements, in the value's own layout: Slice, Split, Expand, Tile, Pad with a constant,
// Concat, DepthToSpace, SpaceToDepth.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/ops/shared/indices.hpp"

namespace driftscope::gpu::move {

bool is_images(const Shape& shape, Layout layout) {
  return shape.size() > 2 && !layout.plain() && layout == channels_last(shape);
}

// Plain, or channels last where the value lies so.
Layout own_layout(const GpuLowering& lowering, ValueId id) {
  const Layout layout = lowering.layout(id);
  return is_images(lowering.shape(id), layout) ? layout : Layout{};
}

// How many elements a step along each axis (as ONNX numbers them) moves.
std::vector<std::int64_t> strides_of(const Shape& shape, Layout layout) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  const auto memory = axes_in_memory(shape, layout);
  for (std::size_t i = memory.size(); i-- > 0; stride *= shape[memory[i]]) strides[memory[i]] = stride;
  return strides;
}

std::optional<Ints> known_ints(const GpuLowering& lowering, const Node& node, const IntsSource& source) {
  if (node.opset < source.input_since) {
    const auto ints = ints_attribute(node, source.name, {});
    return ints.ok() ? std::optional<Ints>(*ints) : std::nullopt;
  }
  if (!lowering.has_input(node, source.input)) return Ints{};
  const Tensor* tensor = lowering.constant(node.inputs[source.input]);
  return tensor == nullptr ? std::nullopt : std::optional<Ints>(indices_of(*tensor));
}

/// By axis as ONNX numbers them, for a result of this shape.
Result<bool> gather(GpuLowering& lowering, ValueId x, ValueId y, Layout layout,
                    const std::vector<GatherAxis>& axes, std::int64_t offset, float fill = 0.0f) {
  const Shape shape = lowering.shape(y);
  const Layout made = layout.plain() ? Layout{} : channels_last(shape);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, made);
  std::vector<GatherAxis> in_memory;
  for (const std::size_t axis : axes_in_memory(shape, made)) in_memory.push_back(axes[axis]);
  return lowering.emit_gather(in, out, in_memory, offset, fill);
}

bool moves_numbers(const GpuLowering& lowering, const Node& node) {
  return lowering.is_number(node.inputs[0]) && lowering.can_be_number(node.outputs[0]);
}

Result<bool> lower_slice(GpuLowering& lowering, const Node& node) {
  if (!moves_numbers(lowering, node)) return false;
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(node.outputs[0]);
  const auto starts = known_ints(lowering, node, {"starts", 1, 10});
  auto axes = known_ints(lowering, node, {"axes", 3, 10});
  auto steps = node.opset < 10 ? std::optional<Ints>(Ints{}) : known_ints(lowering, node, {"steps", 4, 10});
  if (!starts || !axes || !steps) return false;
  if (axes->empty())
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  if (steps->empty()) steps->assign(starts->size(), 1);
  const auto places = normalize_axes(*axes, shape.size());
  if (!places.ok() || places->size() != starts->size() || steps->size() != starts->size()) return false;
  const Layout layout = own_layout(lowering, x);
  const auto strides = strides_of(shape, layout);
  std::vector<GatherAxis> from;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) from.push_back({y_shape[axis], strides[axis]});
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::size_t axis = (*places)[i];
    const std::int64_t size = shape[axis];
    const std::int64_t step = std::clamp<std::int64_t>((*steps)[i], -size - 1, size + 1);
    std::int64_t start = (*starts)[i];
    if (start < 0) start += size;
    start = std::clamp<std::int64_t>(start, 0, step > 0 ? size : size - 1);
    offset += start * strides[axis];
    from[axis].stride = step * strides[axis];
  }
  return gather(lowering, x, node.outputs[0], layout, from, offset);
}

Result<bool> lower_split(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_number(x)) return false;
  for (const ValueId y : node.outputs)
    if (y == no_value || !lowering.can_be_number(y)) return false;
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  const Layout layout = own_layout(lowering, x);
  const auto strides = strides_of(shape, layout);
  std::int64_t first = 0;
  for (const ValueId y : node.outputs) {
    const Shape part = lowering.shape(y);
    std::vector<GatherAxis> from;
    for (std::size_t i = 0; i < shape.size(); ++i) from.push_back({part[i], strides[i]});
    DRIFTSCOPE_TRY(const bool done, gather(lowering, x, y, layout, from, first * strides[axis]));
    if (!done) return internal_error("a part of Split was not moved");
    first += part[axis];
  }
  return true;
}

Result<bool> lower_expand(GpuLowering& lowering, const Node& node) {
  if (!moves_numbers(lowering, node)) return false;
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(node.outputs[0]);
  if (shape.size() > y_shape.size()) return false;
  const auto strides = broadcast_strides(shape, y_shape.size());
  std::vector<GatherAxis> from;
  for (std::size_t i = 0; i < y_shape.size(); ++i) from.push_back({y_shape[i], strides[i]});
  return gather(lowering, x, node.outputs[0], {}, from, 0);
}

// Each axis is walked again and again: as two axes of the result.
Result<bool> lower_tile(GpuLowering& lowering, const Node& node) {
  if (!moves_numbers(lowering, node)) return false;
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(node.outputs[0]);
  if (shape.size() != y_shape.size()) return false;
  const auto strides = strides_of(shape, {});
  std::vector<GatherAxis> from;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    from.push_back({y_shape[i] / shape[i], 0});
    from.push_back({shape[i], strides[i]});
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  return lowering.emit_gather(in, out, from);
}

std::optional<float> fill_of(const GpuLowering& lowering, const Node& node) {
  if (node.opset < 11) {
    const auto value = float_attribute(node, "value", 0.0f);
    return value.ok() ? std::optional<float>(*value) : std::nullopt;
  }
  if (!lowering.has_input(node, 2)) return 0.0f;
  const Tensor* tensor = lowering.constant(node.inputs[2]);
  if (tensor == nullptr || tensor->elements() != 1 || tensor->dtype() != DType::float32) return std::nullopt;
  return tensor->values<float>()[0];
}

Result<bool> lower_pad(GpuLowering& lowering, const Node& node) {
  if (!lowering.is_float(node.inputs[0]) || !lowering.is_float(node.outputs[0]) ||
      lowering.has_input(node, 3))
    return false;
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(node.outputs[0]);
  const auto mode = string_attribute(node, "mode", "constant");
  const auto pads = known_ints(lowering, node, {"pads", 1, 11});
  const auto fill = fill_of(lowering, node);
  if (!mode.ok() || *mode != "constant" || !pads || !fill || pads->size() != 2 * shape.size()) return false;
  const Layout layout = own_layout(lowering, x);
  const auto strides = strides_of(shape, layout);
  std::vector<GatherAxis> from;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool padded = (*pads)[i] != 0 || (*pads)[i + shape.size()] != 0;
    from.push_back({y_shape[i], strides[i], -(*pads)[i], padded ? shape[i] : 0});
  }
  return gather(lowering, x, node.outputs[0], layout, from, 0, *fill);
}

Result<bool> lower_concat(GpuLowering& lowering, const Node& node) {
  const ValueId y = node.outputs[0];
  if (!lowering.can_be_number(y)) return false;
  const Shape y_shape = lowering.shape(y);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, y_shape.size()));
  Layout layout;
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs) {
    if (id == no_value) return false;
    const auto known = lowering.value(id).static_shape();
    if (known && element_count(*known) == 0) continue;  // a cache before the first step
    if (!lowering.is_number(id)) return false;
    inputs.push_back(id);
    const Shape shape = lowering.shape(id);
    if (is_images(shape, lowering.layout(id)) && !same_order(shape, lowering.layout(id), {}))
      layout = channels_last(y_shape);
  }
  if (inputs.size() > 12) return false;  // more than devices bind
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  bool before = true;
  for (const std::size_t i : axes_in_memory(y_shape, layout)) {
    if (i == axis)
      before = false;
    else
      (before ? outer : inner) *= y_shape[i];
  }
  std::vector<Piece> pieces;
  for (const ValueId id : inputs) {
    const Shape shape = lowering.shape(id);
    DRIFTSCOPE_TRY(const BufferId buffer,
                   lowering.read(id, layout.plain() ? Layout{} : channels_last(shape)));
    pieces.push_back({buffer, shape[axis]});
  }
  const BufferId out = lowering.write(y, layout);
  return lowering.emit_concat(pieces, outer, inner, out);
}

// N×C×H×W ↔ blocks of pixels: a transpose of six axes, given as those of the result.
struct BlockAxis {
  std::int64_t size, stride;
};
Result<bool> permute(GpuLowering& lowering, const Node& node, const std::vector<BlockAxis>& axes) {
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[0], {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  std::vector<GatherAxis> from;
  for (const BlockAxis& axis : axes) from.push_back({axis.size, axis.stride});
  return lowering.emit_gather(in, out, from);
}

Result<bool> lower_depth_to_space(GpuLowering& lowering, const Node& node) {
  if (!moves_numbers(lowering, node)) return false;
  const Shape s = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(node, "blocksize", 1));
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "mode", "DCR"));
  if (s.size() != 4 || block < 1 || s[1] % (block * block) != 0 || (mode != "DCR" && mode != "CRD"))
    return false;
  const std::int64_t pixels = s[2] * s[3];
  const std::int64_t channels = s[1] / (block * block);
  // Channel number of x: (y, x, channel) in blocks, or (channel, y, x).
  const std::int64_t by_channel = mode == "DCR" ? pixels : pixels * block * block;
  const std::int64_t by_x = mode == "DCR" ? pixels * channels : pixels;
  return permute(lowering, node,
                 {{s[0], s[1] * pixels},
                  {channels, by_channel},
                  {s[2], s[3]},
                  {block, by_x * block},
                  {s[3], 1},
                  {block, by_x}});
}

Result<bool> lower_space_to_depth(GpuLowering& lowering, const Node& node) {
  if (!moves_numbers(lowering, node)) return false;
  const Shape s = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(node, "blocksize", 1));
  if (s.size() != 4 || block < 1 || s[2] % block != 0 || s[3] % block != 0) return false;
  const std::int64_t pixels = s[2] * s[3];
  return permute(lowering, node,
                 {{s[0], s[1] * pixels},
                  {block, s[3]},
                  {block, 1},
                  {s[1], pixels},
                  {s[2] / block, s[3] * block},
                  {s[3] / block, block}});
}

void add_to(GpuOperatorTable& table) {
  table.add("Slice", lower_slice);
  table.add("Split", lower_split);
  table.add("Expand", lower_expand);
  table.add("Tile", lower_tile);
  table.add("Pad", lower_pad);
  table.add("Concat", lower_concat);
  table.add("DepthToSpace", lower_depth_to_space);
  table.add("SpaceToDepth", lower_space_to_depth);
}

}  // namespace driftscope::gpu::move
