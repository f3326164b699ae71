// The WebGPU engine: compute shaders in WGSL on a plan of the whole graph, in browsers through navigator.gpu
// and on the PC through Dawn, and the strict kernels, node by node, for the rest; the trace says for which.
#include <fmt/format.h>

#include "core/engines/gpu/session.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/eval/operator.hpp"
#include "core/lowering/simplify.hpp"
#include "core/numerics/gpu_error_models.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope {
namespace {

class WebGpuEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {
        .name = "webgpu",
        .summary = "WebGPU compute shaders; bits depend on GPU and driver",
        .order = 30,
        .device = DeviceKind::gpu,
        .error_model = wgsl_model(),
        .options = {{.name = "kernels",
                     .help = "for a GPU, or for a device that computes on the CPU",
                     .values = {"auto", "gpu", "cpu"},
                     .default_text = "auto"},
                    {.name = "times",
                     .help = "whose times are taken on the GPU, which itself costs time",
                     .values = {"traced", "always"},
                     .default_text = "traced"}}};
    return info;
  }

  [[nodiscard]] Availability available() const override { return gpu::device_available(gpu::Api::webgpu); }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    if (!op.ok()) return {false, op.error().message};
    if (webgpu_operators().find(node) == nullptr && (*op)->strict_kernel == nullptr)
      return {false, fmt::format("{} has neither a shader nor a strict kernel", node.op_type)};
    return {};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const override {
    DRIFTSCOPE_TRY(auto device, gpu::open_device(gpu::Api::webgpu));
    DRIFTSCOPE_TRY(SimdTarget simd, choose_simd(0));
    auto resources = std::make_unique<gpu::Resources>(std::move(simd), 1);
    std::vector<std::string> labels;
    for (const Node& node : graph->nodes) labels.push_back(node_label(node));
    std::vector<NodeId> producers;
    for (const Value& value : graph->values) producers.push_back(value.producer);
    resources->graph = lowering::simplified(std::move(graph), options.fuse, resources->fallback.threads());
    const auto kernels = options.values.find("kernels");
    std::optional<bool> for_cpu;
    if (kernels != options.values.end() && kernels->second != "auto") for_cpu = kernels->second == "cpu";
    const auto plan = [producers, fuse = options.fuse, for_cpu](gpu::Resources& from,
                                                                gpu::Device& on) -> Result<lowering::Plan> {
      webgpu::Lowering lowering(*from.graph, producers, {.fuse = fuse}, from.fallback, on);
      lowering.choose_for_cpu(for_cpu);
      return lowering.run();
    };
    RanWith ran;
    ran.engine = name();
    ran.instruction_set = "WGSL";
    ran.device = "GPU";
    const auto times = options.values.find("times");
    const bool time_nodes = times != options.values.end() && times->second == "always";
    return std::unique_ptr<Session>(std::make_unique<gpu::GpuSession>(
        std::move(resources), std::move(device), plan, std::move(labels), std::move(ran), time_nodes));
  }
};

}  // namespace

std::unique_ptr<Engine> make_webgpu_engine() { return std::make_unique<WebGpuEngine>(); }

}  // namespace driftscope
