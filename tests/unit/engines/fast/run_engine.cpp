#include "tests/unit/engines/fast/run_engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/verify/verify.hpp"

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

void check_deferred(const Graph& graph, const NamedInputs& inputs, std::size_t min_deferred) {
  for (const Capture capture : {Capture::all, Capture::fused})
    for (const int threads : {1, 2}) {
      CAPTURE(static_cast<int>(capture));
      CAPTURE(threads);
      const Trace expected = run_engine(graph, inputs, capture, threads);
      const Trace trace = run_engine(graph, inputs, capture, threads, "fast", nullptr, true);
      REQUIRE(trace.tensors.size() == expected.tensors.size());
      std::size_t deferred = 0;
      for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
        CAPTURE(trace.tensors[i].name);
        REQUIRE(trace.tensors[i].name == expected.tensors[i].name);
        deferred += trace.tensors[i].tensor.in_memory() ? 0 : 1;
        CHECK(std::ranges::equal(trace.tensors[i].tensor.bytes(), expected.tensors[i].tensor.bytes()));
      }
      if (capture == Capture::all) CHECK(deferred >= min_deferred);
    }
}

void check_clean(const Graph& graph, const Trace& trace, ThreadPool& threads) {
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  CHECK(!verification->layers.empty());
  for (const LayerVerdict& layer : verification->layers) {
    CAPTURE(layer.node);
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used);
    CAPTURE(layer.budget_used_statistical);
    CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding));
  }
}

std::set<std::string> names_of(const Trace& trace) {
  std::set<std::string> names;
  for (const NamedTensor& tensor : trace.tensors) names.insert(tensor.name);
  return names;
}

}  // namespace driftscope::test
