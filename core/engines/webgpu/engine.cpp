// The WebGPU engine: compute shaders in WGSL on a plan of the whole graph, in browsers through navigator.gpu
// and on the PC through Dawn, and the strict kernels, node by node, for the rest; the trace says for which.
#include "core/engines/gpu/gpu_engine.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

class WebGpuEngine final : public gpu::GpuEngine {
 public:
  WebGpuEngine() : GpuEngine(gpu::Api::webgpu, "WGSL") {}

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
                    times_option(),
                    timeout_option()}};
    return info;
  }

 protected:
  [[nodiscard]] bool has_shaders(const Node& node) const override {
    return webgpu_operators().find(node) != nullptr;
  }

  [[nodiscard]] Result<lowering::Plan> plan(Graph& graph, const std::vector<NodeId>& producers,
                                            const EngineOptions& options, lowering::Fallback& fallback,
                                            gpu::Device& device) const override {
    webgpu::Lowering lowering(graph, producers, {.fuse = options.fuse}, fallback, device);
    const std::string kernels = option(options, "kernels", "auto");
    if (kernels != "auto") lowering.choose_for_cpu(kernels == "cpu");
    return lowering.run();
  }
};

}  // namespace

std::unique_ptr<Engine> make_webgpu_engine() { return std::make_unique<WebGpuEngine>(); }

}  // namespace driftscope
