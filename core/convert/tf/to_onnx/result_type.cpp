#include "core/convert/tf/to_onnx/result_type.hpp"

#include <algorithm>
#include <array>

namespace driftscope::tf::to_onnx_parts {
namespace {

constexpr auto truths = std::to_array<std::string_view>(
    {"All", "Any", "Equal", "Greater", "GreaterEqual", "IsFinite", "IsInf", "IsNan", "Less", "LessEqual",
     "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "NotEqual"});
constexpr auto places =
    std::to_array<std::string_view>({"ArgMax", "ArgMin", "Rank", "Shape", "Size", "Where"});
constexpr auto choices = std::to_array<std::string_view>({"Select", "SelectV2"});

}  // namespace

DType result_type(const Maker& maker, const Node& node) {
  const auto is_one_of = [&](const auto& names) { return std::ranges::find(names, node.op) != names.end(); };
  const auto of_input = [&](std::size_t i) {
    return i < node.inputs.size() ? maker.dtype(node.inputs[i], DType::undefined) : DType::undefined;
  };
  if (is_one_of(truths)) return DType::boolean;
  for (const char* name : {"DstT", "output_type", "out_type", "T"})
    if (const DType said = attribute<DType>(node, name, DType::undefined); said != DType::undefined)
      return said;
  if (is_one_of(places)) return DType::int32;
  return of_input(is_one_of(choices) ? 1 : 0);
}

}  // namespace driftscope::tf::to_onnx_parts
