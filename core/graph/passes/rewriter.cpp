#include "core/graph/passes/rewriter.hpp"

#include <algorithm>

namespace driftscope {

GraphRewriter::GraphRewriter(Graph graph)
    : graph_(std::move(graph)),
      removed_(graph_.nodes.size()),
      is_output_(graph_.values.size()),
      readers_(graph_.values.size()) {
  for (const ValueId output : graph_.outputs) is_output_[output] = true;
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    for (const ValueId input : graph_.nodes[id].inputs)
      if (input != no_value) readers_[input].push_back(id);
    // Reads by a subgraph cannot be redirected: counted twice, so that it is never the only reader.
    for (const ValueId captured : graph_.nodes[id].captured)
      readers_[captured].insert(readers_[captured].end(), 2, id);
  }
}

const Tensor* GraphRewriter::float_constant(ValueId id) const {
  if (id == no_value) return nullptr;
  const auto& constant = graph_.values[id].constant;
  return constant && constant->dtype() == DType::float32 ? &*constant : nullptr;
}

std::optional<NodeId> GraphRewriter::only_reader(ValueId id) const {
  if (id == no_value || is_output_[id] || readers_[id].size() != 1) return std::nullopt;
  return readers_[id][0];
}

ValueId GraphRewriter::add_constant(Tensor tensor, const std::string& stem) {
  std::string name = stem;
  while (graph_.find_value(name)) name += '\'';
  SymbolicShape shape;
  for (const std::int64_t size : tensor.shape()) shape.push_back({size, ""});
  const auto id = static_cast<ValueId>(graph_.values.size());
  const DType dtype = tensor.dtype();
  graph_.values.push_back(
      {.name = std::move(name), .dtype = dtype, .shape = std::move(shape), .constant = std::move(tensor)});
  is_output_.push_back(false);
  readers_.emplace_back();
  return id;
}

void GraphRewriter::set_input(NodeId id, std::size_t input, ValueId value) {
  std::vector<ValueId>& inputs = graph_.nodes[id].inputs;
  if (inputs.size() <= input) inputs.resize(input + 1, no_value);
  if (const ValueId old = inputs[input]; old != no_value) {
    std::vector<NodeId>& readers = readers_[old];
    readers.erase(std::find(readers.begin(), readers.end(), id));
  }
  inputs[input] = value;
  if (value != no_value) readers_[value].push_back(id);
}

void GraphRewriter::set_attribute(NodeId id, Attribute attribute) {
  std::vector<Attribute>& attributes = graph_.nodes[id].attributes.edit();
  const auto old = std::find_if(attributes.begin(), attributes.end(),
                                [&](const Attribute& a) { return a.name == attribute.name; });
  if (old == attributes.end())
    attributes.push_back(std::move(attribute));
  else
    *old = std::move(attribute);
}

void GraphRewriter::set_output(NodeId id, ValueId value) {
  graph_.values[graph_.nodes[id].outputs[0]].producer = no_node;
  graph_.nodes[id].outputs[0] = value;
  graph_.values[value].producer = id;
}

void GraphRewriter::set_operator(NodeId id, std::string op_type, std::int64_t opset) {
  Node& node = graph_.nodes[id];
  node.op_type = std::move(op_type);
  node.opset = opset;
  node.attributes.clear();
}

void GraphRewriter::remove(NodeId id) {
  removed_[id] = true;
  for (std::size_t i = 0; i < graph_.nodes[id].inputs.size(); ++i) set_input(id, i, no_value);
  for (const ValueId output : graph_.nodes[id].outputs)
    if (output != no_value) graph_.values[output].producer = no_node;
}

void GraphRewriter::replace_reads(ValueId from, ValueId to) {
  for (const NodeId reader : std::vector<NodeId>(readers_[from])) {
    Node& node = graph_.nodes[reader];
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == from) set_input(reader, i, to);
    std::replace(node.captured.begin(), node.captured.end(), from, to);
  }
}

Graph GraphRewriter::take() {
  std::vector<Node> kept;
  for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
    if (removed_[id]) continue;
    for (const ValueId output : graph_.nodes[id].outputs)
      if (output != no_value) graph_.values[output].producer = static_cast<NodeId>(kept.size());
    kept.push_back(std::move(graph_.nodes[id]));
  }
  graph_.nodes = std::move(kept);
  return std::move(graph_);
}

}  // namespace driftscope
