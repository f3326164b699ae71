// How the tests of GPU engines run a model: on each engine, with each choice of kernels that this machine can
// run, SwiftShader and llvmpipe without a GPU. Where a driver is missing they say so and pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

/// How an engine is asked to run.
struct GpuWay {
  const char* engine;
  Capture capture;
  std::map<std::string, std::string> options;
};

/// Whether this machine has a driver; else it says why.
[[nodiscard]] bool gpu_is_there(gpu::Api api);

/// All of this machine.
[[nodiscard]] const std::vector<GpuWay>& gpu_ways();

struct GpuRun {
  Trace trace;
  RanWith with;
};

/// Runs twice: what the first run leaves behind must not show.
[[nodiscard]] GpuRun run_on_gpu(const Graph& graph, const NamedInputs& inputs, const GpuWay& way);

/// The error of a run.
[[nodiscard]] Error gpu_failure(const Graph& graph, const NamedInputs& inputs, const GpuWay& way);

/// In all ways on the device to the last node, and right.
void check_on_gpu(const ModelBuilder& model, const NamedInputs& inputs);

}  // namespace driftscope::test
