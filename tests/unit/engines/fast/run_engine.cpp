#include "tests/unit/engines/fast/run_engine.hpp"

#include <doctest/doctest.h>

namespace driftscope::test {

Trace run_engine(const Graph& graph, const NamedInputs& inputs, Capture capture, int threads,
                 const char* engine_name, RanWith* ran, bool defer) {
  const auto bound = bind_inputs(graph, inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine(engine_name);
  REQUIRE(engine.ok());
  EngineOptions options;
  options.threads = threads;
  options.fuse = capture != Capture::all;
  options.defer_values = defer;
  const auto session = (*engine)->prepare(bound->graph, options);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  auto trace = record(bound->graph, **session, bound->inputs, {.capture = capture, .repeat = 2});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  if (ran != nullptr) *ran = (*session)->ran_with();
  return *std::move(trace);
}

}  // namespace driftscope::test
