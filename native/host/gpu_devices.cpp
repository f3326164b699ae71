#include "native/host/gpu_devices.hpp"

#include <utility>

#include "core/model/onnx_writer.hpp"
#include "core/trace/run_fact.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {
namespace {

Result<ModelFile> one_node() {
  const auto vector = [](std::string name) {
    return ValueInfo{std::move(name), DType::float32, SymbolicShape{{.size = 4, .symbol = ""}}};
  };
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 17;
  model.graph.name = "probe";
  ModelNode& node = model.graph.nodes.emplace_back();
  node.op_type = "Relu";
  node.inputs = {"x"};
  node.outputs = {"y"};
  model.graph.inputs = {vector("x")};
  model.graph.outputs = {vector("y")};
  DRIFTSCOPE_TRY(std::vector<std::byte> bytes, write_onnx(model));
  return load_model_bytes("probe.onnx", "probe.onnx", SharedBytes(std::move(bytes)), {});
}

Result<std::string> device_of(const Target& target, const ModelFile& model, const RunnerOptions& options,
                              const TargetProgress& progress) {
  DRIFTSCOPE_TRY(Tensor x, Tensor::make(DType::float32, {4}));
  RunRequest request;
  request.model = &model;
  request.inputs = {{"x", std::move(x)}};
  request.plan.capture = messages::Capture::outputs;
  TargetRunner runner(options);
  DRIFTSCOPE_TRY(const Trace trace, runner.run(target, request, progress));
  const auto device = run_fact_json(trace, "device");
  return device && device->is_string() ? device->get<std::string>() : std::string("a device without a name");
}

}  // namespace

std::vector<GpuDevice> gpu_devices(const RunnerOptions& options, const TargetProgress& progress) {
  std::vector<GpuDevice> found;
  const auto model = one_node();
  for (const auto& host : host_table().all()) {
    if (!host->facts().runs || !host->version().ok()) continue;
    const std::vector<std::string> names = host->names();
    for (const auto& engine : engines()) {
      const EngineInfo& info = engine->info();
      if (info.kind != EngineKind::own || info.device != DeviceKind::gpu || !host->can_run(info)) continue;
      for (const std::string& name : names) {
        const Target target{.host = name, .engine = info.name, .options = {}};
        const auto on_step = [&](std::string_view step, std::int64_t, std::int64_t) {
          progress(target.text() + ": " + std::string(step), 0, 0);
        };
        found.push_back({target.text(), model.ok() ? device_of(target, *model, options, on_step)
                                                   : Result<std::string>(model.error())});
      }
    }
  }
  return found;
}

}  // namespace driftscope
