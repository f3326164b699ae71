#include "core/convert/tf/half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/convert/place_tensor.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::tf {
namespace {

constexpr auto exact = std::to_array<std::string_view>({"Abs",
                                                        "Ceil",
                                                        "Concat",
                                                        "ConstantOfShape",
                                                        "DepthToSpace",
                                                        "Dropout",
                                                        "Expand",
                                                        "Flatten",
                                                        "Floor",
                                                        "Gather",
                                                        "GatherElements",
                                                        "GatherND",
                                                        "GlobalMaxPool",
                                                        "Identity",
                                                        "Max",
                                                        "MaxPool",
                                                        "Min",
                                                        "Neg",
                                                        "ReduceMax",
                                                        "ReduceMin",
                                                        "Relu",
                                                        "Reshape",
                                                        "ReverseSequence",
                                                        "Round",
                                                        "Sign",
                                                        "Slice",
                                                        "SpaceToDepth",
                                                        "Split",
                                                        "Squeeze",
                                                        "Tile",
                                                        "TopK",
                                                        "Transpose",
                                                        "Trilu",
                                                        "Unsqueeze",
                                                        "Where"});

// Whether its results are float16 numbers wherever its inputs are.
bool is_exact(const Graph& graph, const OnnxNode& node) {
  if (!node.domain.empty()) return false;
  if (std::ranges::find(exact, node.op_type) != exact.end()) return true;
  if (node.op_type == "Cast" || node.op_type == "CastLike")
    return graph.values[node.inputs[0]].dtype == DType::float16 ||
           graph.values[node.inputs[0]].dtype == DType::boolean;
  if (node.op_type == "Clip" || node.op_type == "Pad") return node.opset >= 11;  // no bounds among attributes
  if (node.op_type == "ScatterND" || node.op_type == "ScatterElements") {
    const auto reduction = string_attribute(node, "reduction", "none");
    return reduction.ok() && *reduction == "none";
  }
  return false;
}

Status widen_attributes(OnnxNode& node) {
  const auto is_half = [](const driftscope::Attribute& attribute) {
    const auto* tensor = std::get_if<Tensor>(&attribute.value);
    return tensor != nullptr && tensor->dtype() == DType::float16;
  };
  if (std::ranges::none_of(node.attributes, is_half)) return {};  // edit() would copy the list
  for (driftscope::Attribute& attribute : node.attributes.edit())
    if (is_half(attribute)) {
      Tensor& tensor = std::get<Tensor>(attribute.value);
      DRIFTSCOPE_TRY(tensor, convert::with_dtype(tensor, DType::float32));
    }
  return {};
}

}  // namespace

bool has_float16(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const Value& value) { return value.dtype == DType::float16; });
}

Result<Graph> with_float32(Graph graph) {
  std::vector<bool> half;
  for (const Value& value : graph.values) half.push_back(value.dtype == DType::float16);
  std::vector<OnnxNode> nodes;
  for (OnnxNode& node : graph.nodes) {
    const bool rounds = !is_exact(graph, node);
    DRIFTSCOPE_CHECK(widen_attributes(node));
    std::vector<OnnxNode> behind;
    for (ValueId& id : node.outputs) {
      if (!rounds || id == no_value || !half[id] || graph.values[id].constant) continue;
      Value whole = graph.values[id];
      whole.name += "/unrounded";
      whole.dtype = DType::float32;
      OnnxNode round;
      round.name = node.name;
      round.op_type = round_to_float16;
      round.opset = node.opset;
      round.outputs = {id};
      id = static_cast<ValueId>(graph.values.size());
      round.inputs = {id};
      graph.values.push_back(std::move(whole));
      behind.push_back(std::move(round));
    }
    nodes.push_back(std::move(node));
    std::ranges::move(behind, std::back_inserter(nodes));
  }
  graph.nodes = std::move(nodes);
  for (ValueId id = 0; id < half.size(); ++id) {
    if (!half[id]) continue;
    Value& value = graph.values[id];
    value.dtype = DType::float32;
    if (value.constant) {
      DRIFTSCOPE_TRY(value.constant, convert::with_dtype(*value.constant, DType::float32));
    }
  }
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].outputs)
      if (id != no_value) graph.values[id].producer = n;
  return graph;
}

}  // namespace driftscope::tf
