#include "native/host/node_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/eval/operator.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {
namespace {

Result<NodeId> find_node(const Graph& graph, std::string_view text) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.name == text || node_label(node) == text) return id;
  }
  if (const auto value = graph.find_value(text); value && graph.values[*value].producer != no_node)
    return graph.values[*value].producer;
  if (graph.nodes.empty()) return bad_input("the graph has no nodes");
  return bad_input(fmt::format("there is no node {}; the graph has {} nodes, from {} to {}", in_quotes(text),
                               graph.nodes.size(), in_quotes(graph.nodes.front().name),
                               in_quotes(graph.nodes.back().name)));
}

bool has_shaders(const EngineInfo& engine, const Host& host) {
  return engine.device == DeviceKind::gpu && engine.kind == EngineKind::own && host.can_run(engine);
}

/// Targets of this host, under this name.
std::vector<std::string> with_shaders(const Host& host, std::string_view name) {
  std::vector<std::string> targets;
  for (const auto& engine : engines())
    if (has_shaders(engine->info(), host)) targets.push_back(fmt::format("{}/{}", name, engine->name()));
  return targets;
}

Error without_shaders(const Target& target, const Host& host) {
  std::vector<std::string> others = with_shaders(host, target.host);
  if (others.empty())
    for (const auto& other : host_table().all())
      for (std::string& name : with_shaders(*other, other->facts().name)) others.push_back(std::move(name));
  return unsupported(fmt::format("{} has no shaders to print; these targets have some: {}", target.text(),
                                 others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", "))));
}

}  // namespace

Result<NodePrograms> node_programs(TargetRunner& runner, const Target& target, const RunRequest& request,
                                   std::string_view node, const TargetProgress& progress) {
  DRIFTSCOPE_TRY(const Host* const host, find_host(target));
  DRIFTSCOPE_TRY(const NodeId wanted, find_node(request.model->graph, node));
  const auto engine = find_engine(target.engine);  // of a file it is a path
  if (!engine.ok() || !has_shaders((*engine)->info(), *host)) return without_shaders(target, *host);
  return runner.programs(target, request, wanted, progress);
}

}  // namespace driftscope
