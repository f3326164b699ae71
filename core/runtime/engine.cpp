#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr int max_threads = 1024;
constexpr std::int64_t slice_ns = 50'000'000;

class NoTraceSink : public TraceSink {
 public:
  [[nodiscard]] bool wants(ValueId /*value*/) const override { return false; }
  Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
  void node_done(NodeId /*node*/, std::int64_t /*time_ns*/) override {}
};

}  // namespace

Result<EngineOptions> read_engine_options(const std::map<std::string, std::string>& options) {
  EngineOptions result;
  result.values = options;
  const auto threads = result.values.find("threads");
  if (threads == result.values.end()) return result;
  const std::string& text = threads->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.threads);
  if (error != std::errc{} || end != text.data() + text.size() || result.threads < 1 ||
      result.threads > max_threads)
    return bad_input(
        fmt::format("option threads={}: expected a whole number from 1 to {}", text, max_threads));
  result.values.erase(threads);
  return result;
}

Result<std::vector<Tensor>> run_to_end(Session& session, std::vector<Tensor> inputs, TraceSink& trace_sink) {
  DRIFTSCOPE_CHECK(session.start(std::move(inputs), trace_sink));
  while (true) {
    DRIFTSCOPE_TRY(const Progress progress, session.poll(slice_ns));
    if (progress.finished()) return session.finish();
    if (progress.waiting) return internal_error("the engine waits for an event loop, which nobody runs here");
  }
}

TraceSink& no_trace_sink() {
  static NoTraceSink trace_sink;
  return trace_sink;
}

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
