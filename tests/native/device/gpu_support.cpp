#include "tests/native/device/gpu_support.hpp"

#include <doctest/doctest.h>

#include "core/verify/verify.hpp"

namespace driftscope::test {

bool gpu_is_there(gpu::Api api) {
  auto device = gpu::open_device(api);
  std::string why = device.ok() ? "" : device.error().message;
  while (why.empty()) {
    const auto ready = (*device)->ready();
    if (ready.ok() && *ready) return true;
    if (!ready.ok()) why = ready.error().message;
  }
  MESSAGE("not tried: ", why);
  return false;
}

const std::vector<GpuWay>& gpu_ways() {
  static const std::vector<GpuWay> all = [] {
    std::vector<GpuWay> made;
    if (gpu_is_there(gpu::Api::webgpu))
      made = {{"webgpu", Capture::all, {{"kernels", "cpu"}}},
              {"webgpu", Capture::fused, {{"kernels", "cpu"}}},
              {"webgpu", Capture::fused, {{"kernels", "gpu"}}}};
    if (gpu_is_there(gpu::Api::webgl)) {
      made.push_back({"webgl", Capture::all, {}});
      made.push_back({"webgl", Capture::fused, {}});
    }
    return made;
  }();
  return all;
}

namespace {

Result<GpuRun> try_on_gpu(const Graph& graph, const NamedInputs& inputs, const GpuWay& way) {
  const auto bound = bind_inputs(graph, inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine(way.engine);
  REQUIRE(engine.ok());
  EngineOptions options;
  options.fuse = way.capture != Capture::all;
  options.values = way.options;
  DRIFTSCOPE_TRY(const auto session, (*engine)->prepare(bound->graph, options));
  DRIFTSCOPE_TRY(Trace trace,
                 record(bound->graph, *session, bound->inputs, {.capture = way.capture, .repeat = 2}));
  return GpuRun{std::move(trace), session->ran_with()};
}

}  // namespace

GpuRun run_on_gpu(const Graph& graph, const NamedInputs& inputs, const GpuWay& way) {
  auto ran = try_on_gpu(graph, inputs, way);
  REQUIRE_MESSAGE(ran.ok(), ran.error().message);
  return *std::move(ran);
}

Error gpu_failure(const Graph& graph, const NamedInputs& inputs, const GpuWay& way) {
  auto ran = try_on_gpu(graph, inputs, way);
  REQUIRE(!ran.ok());
  return std::move(ran).error();
}

void check_on_gpu(const ModelBuilder& model, const NamedInputs& inputs) {
  const Graph graph = built(model);
  ThreadPool threads(2);
  for (const GpuWay& way : gpu_ways()) {
    const std::string engine = way.engine;  // a pointer would be printed as one
    CAPTURE(engine);
    CAPTURE(way.capture == Capture::all);
    const GpuRun ran = run_on_gpu(graph, inputs, way);
    CHECK_MESSAGE(!ran.with.options.contains("on_strict"), ran.with.options.at("on_strict"));
    const auto verification = verify(graph, "", ran.trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    CHECK(!verification->layers.empty());
    for (const LayerVerdict& layer : verification->layers) {
      CAPTURE(layer.node);
      CAPTURE(reason_of(layer));
      CAPTURE(layer.budget_used);
      CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding ||
             layer.verdict == Verdict::unjudged));
    }
  }
}

}  // namespace driftscope::test
