#include "core/deploy/graph_memory.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/checked.hpp"

namespace driftscope {
namespace {

std::int64_t saturating(std::int64_t a, std::int64_t b) {
  return checked_add(a, b).value_or(std::numeric_limits<std::int64_t>::max());
}

void add_constants(const Graph& graph, GraphMemory& memory) {
  for (const Value& value : graph.values)
    if (value.constant)
      memory.constant_bytes =
          saturating(memory.constant_bytes, static_cast<std::int64_t>(value.constant->byte_size()));
  for (const Node& node : graph.nodes)
    for (const Subgraph& subgraph : node.subgraphs) add_constants(*subgraph.graph, memory);
}

}  // namespace

GraphMemory graph_memory(const Graph& bound) {
  GraphMemory memory;
  add_constants(bound, memory);
  const std::size_t steps = std::max<std::size_t>(bound.nodes.size(), 1);
  // First and last step of every value; last < first: never needed.
  std::vector<std::size_t> last(bound.values.size(), 0);
  for (NodeId n = 0; n < bound.nodes.size(); ++n)
    for (const ValueId id : bound.nodes[n].reads())
      if (id != no_value) last[id] = n;
  for (const ValueId id : bound.inputs) last[id] = steps - 1;
  for (const ValueId id : bound.outputs) last[id] = steps - 1;
  std::vector<std::int64_t> begins(steps, 0);
  std::vector<std::int64_t> ends(steps + 1, 0);
  const auto alive = [&](ValueId id, std::size_t first) {
    const Value& value = bound.values[id];
    if (value.constant || value.dtype == DType::undefined) return;
    const auto shape = value.static_shape();
    const auto bytes =
        shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(internal_error(""));
    if (!bytes.ok()) {
      ++memory.unknown_values;
      return;
    }
    begins[first] = saturating(begins[first], *bytes);
    const std::size_t end = std::max(last[id], first) + 1;
    ends[end] = saturating(ends[end], *bytes);
  };
  for (const ValueId id : bound.inputs) alive(id, 0);
  for (NodeId n = 0; n < bound.nodes.size(); ++n)
    for (const ValueId id : bound.nodes[n].outputs)
      if (id != no_value) alive(id, n);
  std::int64_t now = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    now = saturating(now - ends[step], begins[step]);
    if (now <= memory.peak_bytes) continue;
    memory.peak_bytes = now;
    memory.peak_node = step < bound.nodes.size() ? bound.nodes[step].name : "";
  }
  return memory;
}

}  // namespace driftscope
