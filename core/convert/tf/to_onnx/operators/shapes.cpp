// Operators that give the same elements another shape or order, join, split and repeat values.
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::shapes {
namespace {

using namespace to_onnx_parts;

Status reshape(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  if (node.inputs.size() > 1) {
    maker.give("Reshape", {x, maker.as_int64(node.inputs[1])}, {of("allowzero", std::int64_t{1})});
    return {};
  }
  const auto shape = attribute<Numbers>(node, "shape", {});  // TensorFlow Lite's option
  maker.give("Reshape", {x, maker.integers(shape, "shape")});
  return {};
}

Status squeeze(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  auto axes = attribute<Numbers>(node, "squeeze_dims", attribute<Numbers>(node, "axis", {}));
  Names inputs = {x};
  if (!axes.empty()) inputs.push_back(maker.integers(axes, "axes"));
  maker.give("Squeeze", std::move(inputs));
  return {};
}

Status expand_dims(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers axes, maker.known_integers(node, 1));
  if (axes.size() != 1) return bad_input("the axis must be one number");
  maker.give("Unsqueeze", {x, maker.integers(axes, "axes")});
  return {};
}

Status transpose(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(Numbers order, maker.known_integers(node, 1));
  maker.give("Transpose", {x}, {of("perm", std::move(order))});
  return {};
}

Status concat(Maker& maker, const Node& node) {
  if (node.inputs.size() < 2) return bad_input("it has no values to concatenate");
  DRIFTSCOPE_TRY(const Numbers axis, maker.known_integers(node, node.inputs.size() - 1));
  if (axis.size() != 1) return bad_input("the axis must be one number");
  Names inputs;
  for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, i));
    inputs.push_back(std::move(one));
  }
  maker.give("Concat", std::move(inputs), {of("axis", axis[0])});
  return {};
}

Status pack(Maker& maker, const Node& node) {
  const auto axis = attribute<std::int64_t>(node, "axis", 0);
  const std::string axes = maker.integers({axis}, "axes");
  Names inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(const std::string one, maker.input(node, i));
    inputs.push_back(maker.make("part", "Unsqueeze", {one, axes}));
  }
  maker.give("Concat", std::move(inputs), {of("axis", axis)});
  return {};
}

Result<std::size_t> count_of(const Node& node, std::string_view name) {
  const auto count = attribute<std::int64_t>(node, name, 0);
  constexpr std::int64_t max_count = 65536;
  if (count < 1 || count > max_count)
    return bad_input(fmt::format("{}: {}; expected 1 to {}", name, count, max_count));
  return static_cast<std::size_t>(count);
}

Status unpack(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::size_t count, count_of(node, "num"));
  const auto axis = attribute<std::int64_t>(node, "axis", 0);
  const std::string axes = maker.integers({axis}, "axes");
  const Names parts = maker.make_all(
      "part", "Split", {x}, {of("axis", axis), of("num_outputs", static_cast<std::int64_t>(count))}, count);
  for (std::size_t i = 0; i < count; ++i) maker.give("Squeeze", {parts[i], axes}, {}, i);
  return {};
}

/// [axis, value].
Status split(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const Numbers axis, maker.known_integers(node, 0));
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 1));
  DRIFTSCOPE_TRY(const std::size_t count, count_of(node, "num_split"));
  if (axis.size() != 1) return bad_input("the axis must be one number");
  maker.give_all("Split", {x}, {of("axis", axis[0]), of("num_outputs", static_cast<std::int64_t>(count))},
                 count);
  return {};
}

/// [value, sizes, axis].
Status split_v(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers sizes, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const Numbers axis, maker.known_integers(node, 2));
  if (axis.size() != 1 || sizes.empty())
    return bad_input("the axis must be one number, and sizes are required");
  for (const std::int64_t size : sizes)
    if (size < 0) return unsupported("a size of -1 is not supported");
  maker.give_all("Split", {x, maker.integers(sizes, "sizes")}, {of("axis", axis[0])}, sizes.size());
  return {};
}

Status tile(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  if (node.inputs.size() < 2) return bad_input("it has no multiples");
  maker.give("Tile", {x, maker.as_int64(node.inputs[1])});
  return {};
}

Status broadcast(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  if (node.inputs.size() < 2) return bad_input("it has no shape");
  maker.give("Expand", {x, maker.as_int64(node.inputs[1])});
  return {};
}

/// [shape, value].
Status fill(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string value, maker.input(node, 1));
  maker.give("Expand", {value, maker.as_int64(node.inputs[0])});
  return {};
}

Status zeros_like(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, maker.dtype(node.inputs[0])));
  maker.give("Expand", {zero, maker.make("shape", "Shape", {x})});
  return {};
}

Status shape(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DType type = attribute<DType>(node, "out_type", DType::undefined);
  if (type == DType::undefined) type = maker.dtype(node.name, DType::int32);
  maker.give("Cast", {maker.make("int64", "Shape", {x})}, {of("to", static_cast<std::int64_t>(type))});
  return {};
}

Status range(Maker& maker, const Node& node) {
  Names inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    DRIFTSCOPE_TRY(const std::string one, maker.input(node, i));
    const std::string name = fmt::format("scalar_{}", i);
    inputs.push_back(maker.make(name, "Reshape", {one, maker.integers({}, name + "_shape")}));
  }
  maker.give("Range", std::move(inputs));
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("Reshape", reshape);
  table.add("Squeeze", squeeze);
  table.add("ExpandDims", expand_dims);
  table.add("Transpose", transpose);
  table.add("ConcatV2", concat);
  table.add("Pack", pack);
  table.add("Unpack", unpack);
  table.add("Split", split);
  table.add("SplitV", split_v);
  table.add("Tile", tile);
  table.add("BroadcastTo", broadcast);
  table.add("Fill", fill);
  table.add("ZerosLike", zeros_like);
  table.add("Shape", shape);
  table.add("Range", range);
}

}  // namespace driftscope::tf::to_onnx_operators::shapes
