#include "native/host/node_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <thread>

#include "core/base/text.hpp"
#include "core/eval/operator.hpp"
#include "core/protocol/run.hpp"
#include "core/runtime/resolve_target.hpp"
#include "native/host/load_request.hpp"

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

bool has_shaders(const EngineInfo& engine) {
  return engine.device == DeviceKind::gpu && engine.kind == EngineKind::own && runs_on(engine, "pc");
}

Error without_shaders(const Target& target) {
  std::vector<std::string> names;
  for (const auto& engine : engines())
    if (has_shaders(engine->info())) names.push_back("pc/" + engine->name());
  const char* const why = target.host == "pc" ? "has no shaders to print"
                                              : "does not run on this PC; shaders can be printed only for "
                                                "targets on the PC";
  return unsupported(fmt::format("{} {}; these targets have some: {}", target.text(), why,
                                 names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

Result<NodePrograms> node_programs(const Target& target, const RunRequest& request, std::string_view node) {
  if (target.host != "pc") return without_shaders(target);
  DRIFTSCOPE_TRY(const NodeId wanted, find_node(request.model->graph, node));
  DRIFTSCOPE_TRY(const ResolvedTarget resolved, resolve_target(target));
  if (!has_shaders(resolved.engine->info())) return without_shaders(target);
  const LoadRequest load = load_request(*request.model, target);
  ByteSource bytes{static_cast<std::uint64_t>(load.head.outside.value_or(0)),
                   [&load](std::uint64_t offset, std::span<std::byte> to) { load.read(offset, to); }};
  DRIFTSCOPE_TRY(LoadedModel model, load_model(load.head, std::move(bytes), true));
  DRIFTSCOPE_TRY(BoundInputs bound, bind_model(model, request.inputs));
  const std::shared_ptr<const Graph> graph = without_weights(*bound.graph);
  DRIFTSCOPE_TRY(
      const auto session,
      prepare_session(target, nlohmann::json::object({{"host", target.host}}), model, std::move(bound.graph),
                      {.capture = capture_of_message(request.plan.capture)}, false));
  auto* const source = dynamic_cast<ProgramSource*>(session.get());
  if (source == nullptr) return without_shaders(target);
  while (true) {
    if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
    DRIFTSCOPE_TRY(auto found, source->programs(*graph, wanted));
    if (found) return *std::move(found);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace driftscope
