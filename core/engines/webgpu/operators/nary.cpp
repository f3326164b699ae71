// Elementwise functions of several values, with broadcasting: in the layout of the first operand that has
// the shape of the result, so that nothing is moved for them.
#include <fmt/format.h>

#include <algorithm>

#include "core/engines/webgpu/lowering.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope::webgpu::nary {

// WebGPU guarantees eight buffers for a shader.
constexpr std::size_t max_inputs = 7;

// The shape with ones in front, in the order of memory of images whose channels lie last.
Shape aligned(const Shape& shape, std::size_t rank, bool channels_last) {
  Shape padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  if (channels_last) std::rotate(padded.begin() + 1, padded.begin() + 2, padded.end());
  return padded;
}

// Whether moving axis 1 behind the others leaves the order of the elements as it is.
bool moves_nothing(const Shape& shape, std::size_t rank) {
  const Shape padded = aligned(shape, rank, false);
  return padded[1] == 1 ||
         std::all_of(padded.begin() + 2, padded.end(), [](std::int64_t size) { return size == 1; });
}

// The layout for all operands: that of the first which has the result's shape, if the others can follow.
Layout common_layout(const Lowering& lowering, const Node& node, const Shape& y) {
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

// `expression` in x0, x1, …
Result<bool> place(Lowering& lowering, const Node& node, const std::string& expression,
                   const Fusion& fusion) {
  if (node.inputs.empty() || node.inputs.size() > max_inputs || node.attribute(broadcast_axis) != nullptr)
    return false;
  const ValueId output = fusion.output;
  if (!lowering.is_float(output)) return false;
  for (const ValueId id : node.inputs)
    if (id == no_value || !lowering.is_float(id)) return false;
  const Shape y = lowering.shape(output);
  for (const ValueId id : node.inputs)
    if (!broadcasts(lowering.shape(id), y)) return false;
  const Layout layout = common_layout(lowering, node, y);
  const bool images = !layout.plain() && y.size() > 2;
  std::vector<BufferId> reads;
  std::vector<std::vector<std::int64_t>> strides;
  bool all_whole = true;
  for (const ValueId id : node.inputs) {
    const Shape shape = lowering.shape(id);
    const bool whole = shape == y;
    Layout wanted;
    if (!layout.plain()) {
      if (whole)
        wanted = layout;
      else if (element_count(shape) > 1 && !moves_nothing(shape, y.size()))
        wanted = channels_last(shape);
    }
    DRIFTSCOPE_TRY(const BufferId buffer, lowering.read(id, wanted));
    reads.push_back(buffer);
    strides.push_back(broadcast_strides(aligned(shape, y.size(), images), y.size()));
    all_whole = all_whole && whole;
  }
  std::string loads;
  const std::int64_t count = element_count(y);
  if (all_whole) {
    for (std::size_t i = 0; i < reads.size(); ++i) loads += fmt::format("  let x{0} = in{0}[i];\n", i);
  } else {
    const Shape walk = aligned(y, y.size(), images);
    std::vector<WalkAxis> axes;
    for (std::size_t axis = 0; axis < walk.size(); ++axis) {
      axes.push_back({walk[axis], {}});
      for (const auto& of_operand : strides) axes.back().strides.push_back(of_operand[axis]);
    }
    axes = joined(axes);
    for (std::size_t i = 0; i < reads.size(); ++i)
      loads += fmt::format("  let x{0} = in{0}[{1}];\n", i, place_of(axes, i, "i"));
  }
  std::string text = expression;
  if (!fusion.nodes.empty())
    text = fmt::format("clamp({}, T({}), T({}))", text, float_text(fusion.clamp.min),
                       float_text(fusion.clamp.max));
  const BufferId out = lowering.write(output, layout);
  const ShaderValues values = {{"TYPE", std::string(all_whole ? "vec4f" : "f32")},
                               {"INPUTS", std::ssize(reads)},
                               {"FUNCTIONS", 1},
                               {"LOADS", loads},
                               {"EXPRESSION", text}};
  DRIFTSCOPE_TRY(const bool done, lowering.emit_flat("webgpu/elementwise.wgsl", values, std::move(reads), out,
                                                     all_whole ? (count + 3) / 4 : count));
  lowering.absorb(fusion);
  return done;
}

Fusion alone(const Node& node) { return {.output = node.outputs[0], .nodes = {}, .clamp = {}}; }

Result<bool> lower_prelu(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || node.opset < 7) return false;
  return place(lowering, node, "select(x0 * x1, x0, x0 >= T())", alone(node));
}

template <const char* text>
Result<bool> lower_binary(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2) return false;
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_add(Lowering& lowering, const Node& node) {
  if (node.inputs.size() != 2 || !lowering.is_float(node.outputs[0])) return false;
  return place(lowering, node, "x0 + x1", lowering.with_activation(node));
}

// a, then by each further one `step`, in the order of the inputs.
Result<bool> fold(Lowering& lowering, const Node& node, const char* open, const char* between,
                  const char* close) {
  std::string text = "x0";
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    text = fmt::format("{}{}{}x{}{}", open, text, between, i, close);
  return place(lowering, node, text, alone(node));
}

Result<bool> lower_max(Lowering& lowering, const Node& node) {
  return fold(lowering, node, "max(", ", ", ")");
}
Result<bool> lower_min(Lowering& lowering, const Node& node) {
  return fold(lowering, node, "min(", ", ", ")");
}
Result<bool> lower_sum(Lowering& lowering, const Node& node) { return fold(lowering, node, "(", " + ", ")"); }

constexpr char sub_text[] = "x0 - x1";
constexpr char mul_text[] = "x0 * x1";
constexpr char div_text[] = "x0 / x1";
constexpr char pow_text[] = "power(x0, x1)";

void add_to(WebGpuOperatorTable& table) {
  table.add("Add", lower_add);
  table.add("Sub", lower_binary<sub_text>);
  table.add("Mul", lower_binary<mul_text>);
  table.add("Div", lower_binary<div_text>);
  table.add("Pow", lower_binary<pow_text>);
  table.add("PRelu", lower_prelu);
  table.add("Max", lower_max);
  table.add("Min", lower_min);
  table.add("Sum", lower_sum);
}

}  // namespace driftscope::webgpu::nary
