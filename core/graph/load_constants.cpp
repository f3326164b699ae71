#include "core/graph/load_constants.hpp"

namespace driftscope {

void load_constants(const Graph& graph) {
  for (const Value& value : graph.values)
    if (value.constant) (void)value.constant->bytes();
  for (const Node& node : graph.nodes)
    for (const Subgraph& subgraph : node.subgraphs) load_constants(*subgraph.graph);
}

}  // namespace driftscope
