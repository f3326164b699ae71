#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace driftscope {
namespace {

constexpr std::int64_t slice_ns = 50'000'000;

class NoTraceSink : public TraceSink {
 public:
  [[nodiscard]] bool wants(ValueId /*value*/) const override { return false; }
  Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
  void node_done(NodeId /*node*/, std::int64_t /*time_ns*/) override {}
};

struct Missing {
  std::map<std::string, int> operators;  ///< and how many nodes have each
  std::string first;
};

void find_opaque(const Graph& graph, Missing& missing) {
  for (const Node& node : graph.nodes) {
    for (const Subgraph& subgraph : node.subgraphs) find_opaque(*subgraph.graph, missing);
    if (node.opaque.empty()) continue;
    ++missing.operators[node.domain.empty() ? node.op_type : node.domain + "." + node.op_type];
    if (missing.first.empty()) missing.first = node.opaque;
  }
}

/// Every operator that keeps an engine of ours from running the graph is named at once.
Status expect_known_operators(const EngineInfo& engine, const Graph& graph) {
  Missing missing;
  find_opaque(graph, missing);
  if (missing.operators.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, count] : missing.operators)
    names.push_back(count == 1 ? name : fmt::format("{} ({} nodes)", name, count));
  return unsupported(fmt::format(
      "engine {} lacks what this model needs: {}; {}{}; a runtime that reads the model itself may have it "
      "(target pc/ort)",
      engine.name, fmt::join(names, ", "), names.size() > 1 ? "the first: " : "", missing.first));
}

}  // namespace

Result<EngineOptions> read_engine_options(const EngineInfo& engine,
                                          const std::map<std::string, std::string>& options) {
  DRIFTSCOPE_CHECK(check_options(engine, options));
  EngineOptions result;
  result.values = options;
  if (const auto threads = result.values.find("threads"); threads != result.values.end()) {
    const std::string& text = threads->second;
    std::from_chars(text.data(), text.data() + text.size(), result.threads);
    result.values.erase(threads);
  }
  return result;
}

Result<std::unique_ptr<Session>> Engine::prepare(std::shared_ptr<const Graph> graph,
                                                 const EngineOptions& options) const {
  DRIFTSCOPE_CHECK(check_options(info(), options.values));
  if (!reads_source()) DRIFTSCOPE_CHECK(expect_known_operators(info(), *graph));
  for (const Node& node : graph->nodes)
    if (const Availability here = supports(*graph, node); !here.ok) return unsupported(here.reason);
  return make_session(std::move(graph), options);
}

Result<std::vector<Tensor>> run_to_end(Session& session, std::vector<Tensor> inputs, TraceSink& trace_sink) {
  DRIFTSCOPE_CHECK(session.start(std::move(inputs), trace_sink));
  while (true) {
    DRIFTSCOPE_TRY(const Progress progress, session.poll(slice_ns));
    if (progress.finished()) return session.finish();
    if (progress.waiting)
      return internal_error("the engine waits for an event loop, which does not run here");
  }
}

TraceSink& no_trace_sink() {
  static NoTraceSink trace_sink;
  return trace_sink;
}

const std::vector<std::unique_ptr<Engine>>& engines() {
  static const std::vector<std::unique_ptr<Engine>> all = [] {
    auto made = make_engines();
    std::ranges::sort(made, {}, [](const std::unique_ptr<Engine>& engine) {
      return std::tuple(engine->info().order, std::string_view(engine->info().name));
    });
    return made;
  }();
  return all;
}

const Engine& default_engine() { return *engines().front(); }

Result<const Engine*> find_engine(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& engine : engines()) {
    if (engine->name() == name) return engine.get();
    names.push_back(engine->name());
  }
  return bad_input(
      fmt::format("there is no engine \"{}\" in this build; it has: {}", name, fmt::join(names, ", ")));
}

}  // namespace driftscope
