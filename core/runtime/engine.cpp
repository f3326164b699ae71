#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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
