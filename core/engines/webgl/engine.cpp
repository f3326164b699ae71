// The WebGL engine: fragment shaders in GLSL ES 3.00 on a plan of the whole graph, in browsers through WebGL2
// and on the PC through OpenGL ES 3, and the strict kernels, node by node, for the rest; the trace says for
// which.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/gpu_engine.hpp"
#include "core/engines/webgl/lowering.hpp"
#include "core/numerics/gpu_error_models.hpp"

namespace driftscope {
namespace {

class WebGlEngine final : public gpu::GpuEngine {
 public:
  WebGlEngine() : GpuEngine(gpu::Api::webgl, "GLSL ES 3.00") {}

  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {.name = "webgl",
                                    .summary = "WebGL2 fragment shaders; bits depend on GPU and driver",
                                    .order = 31,
                                    .device = DeviceKind::gpu,
                                    .error_model = glsl_model(),
                                    .options = {times_option(), timeout_option(), calls_option()},
                                    .browser_api = "WebGL 2 with float textures"};
    return info;
  }

 protected:
  [[nodiscard]] Result<lowering::Plan> plan(Graph& graph, const std::vector<NodeId>& producers,
                                            const EngineOptions& options, lowering::Fallback& fallback,
                                            gpu::Device& device) const override {
    return webgl::Lowering(graph, producers, {.fuse = options.fuse}, fallback, device).run();
  }
};

}  // namespace

std::unique_ptr<Engine> make_webgl_engine() { return std::make_unique<WebGlEngine>(); }

}  // namespace driftscope
