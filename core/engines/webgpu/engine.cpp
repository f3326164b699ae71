// The WebGPU engine: compute shaders in WGSL on a plan of the whole graph, in browsers through navigator.gpu
// and on the PC through Dawn, and the strict kernels, node by node, for the rest; the trace says for which.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/gpu_engine.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/engines/webgpu/tile_probe.hpp"
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
                    {.name = "tiles",
                     .help = "of large products; auto measures on a GPU, once",
                     .values = tile_values(),
                     .default_text = "auto"},
                    times_option(),
                    timeout_option(),
                    calls_option()},
        .browser_api = "WebGPU"};
    return info;
  }

 protected:
  [[nodiscard]] Result<lowering::Plan> plan(Graph& graph, const std::vector<NodeId>& producers,
                                            const EngineOptions& options, lowering::Fallback& fallback,
                                            gpu::Device& device) const override {
    webgpu::Lowering lowering(graph, producers, {.fuse = options.fuse}, fallback, device);
    const std::string kernels = option(options, "kernels", "auto");
    if (kernels != "auto") lowering.choose_for_cpu(kernels == "cpu");
    lowering.choose_tile(tile(options, device));
    return lowering.run();
  }

  [[nodiscard]] std::unique_ptr<gpu::Probe> probe(const EngineOptions& options,
                                                  gpu::Device& device) const override {
    const std::string tiles = option(options, "tiles", "auto");
    const bool wanted = tiles == "measured" || (tiles == "auto" && !device.facts().software);
    if (!wanted || !tiled(options, device) || webgpu::measured_tile(device.facts()) != nullptr)
      return nullptr;
    return webgpu::make_tile_probe(device);
  }

  [[nodiscard]] std::map<std::string, std::string> choices(const EngineOptions& options,
                                                           const gpu::Device& device) const override {
    if (!tiled(options, device)) return {};
    return {{"tiles", tile(options, device).name}};
  }

 private:
  static std::vector<std::string> tile_values() {
    std::vector<std::string> values = {"auto", "measured"};
    for (const webgpu::Tile& tile : webgpu::large_tiles) values.emplace_back(tile.name);
    return values;
  }

  // Whether the kernels are those that have tiles.
  [[nodiscard]] static bool tiled(const EngineOptions& options, const gpu::Device& device) {
    const std::string kernels = option(options, "kernels", "auto");
    return kernels == "gpu" || (kernels == "auto" && !device.facts().software);
  }

  [[nodiscard]] static const webgpu::Tile& tile(const EngineOptions& options, const gpu::Device& device) {
    const std::string wanted = option(options, "tiles", "auto");
    for (const webgpu::Tile& one : webgpu::large_tiles)
      if (wanted == one.name) return one;
    const webgpu::Tile* measured = webgpu::measured_tile(device.facts());
    return measured == nullptr ? webgpu::large_tiles.front() : *measured;
  }
};

}  // namespace

std::unique_ptr<Engine> make_webgpu_engine() { return std::make_unique<WebGpuEngine>(); }

}  // namespace driftscope
