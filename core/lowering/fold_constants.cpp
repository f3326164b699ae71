// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/fold_constants.hpp"

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/graph/attributes.hpp"
#include "core/graph/constant_nodes.hpp"

namespace driftscope::lowering {
namespace {

// Of its second input CastLike needs the type alone.
bool reads_type_only(const Graph& graph, const Node& node, std::size_t input) {
  return node.op_type == "CastLike" && node.domain.empty() && input == 1 &&
         graph.values[node.inputs[1]].dtype != DType::undefined;
}

bool reads_only_constants(const Graph& graph, const Node& node) {
  if (!is_deterministic(node)) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value && !graph.values[node.inputs[i]].constant &&
        !reads_type_only(graph, node, i))
      return false;
  return true;
}

bool all_known(const Graph& graph, const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return id == no_value || graph.values[id].constant.has_value(); });
}

// Shape and Size of a value whose sizes are bound.
std::optional<Tensor> known_sizes(const Graph& graph, const Node& node) {
  if ((node.op_type != "Shape" && node.op_type != "Size") || !node.domain.empty() || node.inputs.empty() ||
      node.inputs[0] == no_value || node.outputs[0] == no_value)
    return std::nullopt;
  const auto sizes = graph.values[node.inputs[0]].static_shape();
  if (!sizes) return std::nullopt;
  const auto made = [](Shape shape, std::span<const std::int64_t> numbers) {
    auto tensor = Tensor::from_values<std::int64_t>(std::move(shape), numbers);
    return tensor.ok() ? std::optional(*std::move(tensor)) : std::nullopt;
  };
  if (node.op_type == "Size") {
    const std::int64_t count = element_count(*sizes);
    return made({}, std::span(&count, 1));
  }
  const auto rank = static_cast<std::int64_t>(sizes->size());
  const auto start = int_attribute(node, "start", 0);
  const auto end = int_attribute(node, "end", rank);
  if (!start.ok() || !end.ok()) return std::nullopt;
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t count = std::max<std::int64_t>(0, place(*end) - place(*start));
  return made({count}, std::span(*sizes).subspan(static_cast<std::size_t>(place(*start)),
                                                 static_cast<std::size_t>(count)));
}

}  // namespace

Graph fold_constants(Graph graph, ThreadPool& threads) {
  for (const Node& node : graph.nodes) {
    if (auto known = known_sizes(graph, node)) {
      graph.values[node.outputs[0]].constant = *std::move(known);
      continue;
    }
    if (!reads_only_constants(graph, node) || all_known(graph, node)) continue;
    std::vector<const Tensor*> inputs;
    Tensor of_type;
    for (const ValueId id : node.inputs) {
      if (id != no_value && !graph.values[id].constant) {
        auto empty = Tensor::make(graph.values[id].dtype, {0});
        if (!empty.ok()) break;
        of_type = *std::move(empty);
        inputs.push_back(&of_type);
        continue;
      }
      inputs.push_back(id == no_value ? nullptr : &*graph.values[id].constant);
      if (inputs.back() != nullptr) (void)inputs.back()->bytes();  // kernels read them on any thread
    }
    if (inputs.size() != node.inputs.size()) continue;
    auto outputs = evaluate_strict(node, inputs, threads);
    if (!outputs.ok()) continue;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) graph.values[node.outputs[i]].constant = std::move((*outputs)[i]);
  }
  return graph;
}

}  // namespace driftscope::lowering
