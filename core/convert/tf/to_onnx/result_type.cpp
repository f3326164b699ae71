#include "core/convert/tf/to_onnx/result_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace driftscope::tf::to_onnx_parts {
namespace {

constexpr auto truths = std::to_array<std::string_view>(
    {"All", "Any", "Equal", "Greater", "GreaterEqual", "IsFinite", "IsInf", "IsNan", "Less", "LessEqual",
     "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "NotEqual"});
constexpr auto places =
    std::to_array<std::string_view>({"ArgMax", "ArgMin", "Rank", "Shape", "Size", "Where"});
// Which input has the type of the result, where it is not the first.
constexpr auto typed_by = std::to_array<std::pair<std::string_view, std::size_t>>({
    {"Conv2DBackpropInput", 1},
    {"DepthwiseConv2dNativeBackpropInput", 1},
    {"Fill", 1},
    {"OneHot", 2},
    {"ScatterNd", 1},
    {"Select", 1},
    {"SelectV2", 1},
    {"Split", 1},
    {"TensorScatterUpdate", 0},
});

}  // namespace

DType result_type(const Maker& maker, const Node& node, std::size_t output) {
  const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, node.op) != names.end(); };
  const auto of_input = [&](std::size_t i) {
    return i < node.inputs.size() ? maker.dtype(node.inputs[i], DType::undefined) : DType::undefined;
  };
  if (is_one_of(truths)) return DType::boolean;
  if (is_one_of(places) || (node.op == "TopKV2" && output == 1)) return DType::int32;
  // TensorFlow.js computes these in float32.
  if ((node.op == "Mean" || node.op == "ResizeBilinear") && maker.info(node.name) == nullptr)
    return DType::float32;
  for (const char* name : {"DstT", "T"})
    if (const DType said = attribute<DType>(node, name, DType::undefined); said != DType::undefined)
      return said;
  const auto* const typing =
      std::ranges::find(typed_by, node.op, &std::pair<std::string_view, std::size_t>::first);
  return of_input(typing == typed_by.end() ? 0 : typing->second);
}

}  // namespace driftscope::tf::to_onnx_parts
