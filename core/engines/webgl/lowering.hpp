// The lowering with what the WebGL engine brings: its kernels. A value is a run of texels, four float32 each,
// in the order of its memory; images lie channels last. An intermediate value is divided into layers of whole
// pixels, so that one fragment computes a texel of each with the same weights. Clients: engine.cpp; the
// kernels of this folder.
#pragma once

#include "core/device/texture_extent.hpp"
#include "core/engines/gpu/lowering.hpp"

namespace driftscope::webgl {

using namespace gpu;

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Mesa's llvmpipe ends all loops of a fragment after 65,535 iterations in all, without an error.
inline constexpr std::int64_t max_loops = 60'000;

/// Where the texels of a buffer are.
struct Texels {
  int layers = 1;
  std::int64_t layer_texels = 1;  ///< of each but the last
  [[nodiscard]] TextureExtent extent() const { return texture_extent(layer_texels); }
  bool operator==(const Texels&) const = default;
};

struct ProductKernel;

class Lowering final : public GpuLowering {
 public:
  using GpuLowering::GpuLowering;

  /// For each element; a fragment computes four of each layer.
  [[nodiscard]] bool may_loop(std::int64_t times) const override {
    return times <= max_loops / (std::int64_t{4} * facts().layers);
  }
  [[nodiscard]] bool lanes_fit(const Lanes& lanes) const override {
    return may_loop_per_texel(2 * lanes.size + 4);
  }
  /// Every WebGL2 has as many samplers in a fragment shader.
  [[nodiscard]] std::size_t max_inputs() const override { return 16; }
  [[nodiscard]] std::int64_t depthwise_unit() const override { return 4; }
  [[nodiscard]] bool adds_sum(bool windows, std::int64_t columns) const override {
    return windows && columns % 4 == 0;
  }

  [[nodiscard]] Result<bool> emit_concat(const std::vector<Piece>& pieces, std::int64_t outer,
                                         std::int64_t inner, BufferId target) override;
  [[nodiscard]] Result<bool> emit_elementwise(const Elementwise& function, std::vector<BufferId> reads,
                                              BufferId write) override;
  [[nodiscard]] Result<bool> emit_product(Product product) override;
  [[nodiscard]] Result<bool> emit_depthwise(const ConvParts& parts, const Clamp& clamp, std::int64_t pixels,
                                            BufferId in, BufferId weights, BufferId out) override;
  [[nodiscard]] Result<bool> emit_lanes(std::string_view name, ShaderValues values, const Lanes& lanes,
                                        std::vector<BufferId> reads, BufferId write) override;
  [[nodiscard]] Result<bool> emit_reduction(const Reduction& reduction, const Lanes& lanes, BufferId in,
                                            BufferId out) override;

 private:
  [[nodiscard]] Texels texels(BufferId id) const;
  /// One draw of `file` into `write`. shaders/webgl/inputs.glsl gets the places of `reads`; the shader gets
  /// the numbers LAYERS, LAYER_TEXELS (of what it writes), LAYERS_USED and INPUTS.
  [[nodiscard]] Status emit_draw(std::string_view file, ShaderValues values, std::vector<BufferId> reads,
                                 BufferId write);
  [[nodiscard]] Result<bool> emit_values(std::string_view name, ShaderValues values,
                                         std::vector<BufferId> reads, BufferId write, std::int64_t count,
                                         bool elements) override;
  [[nodiscard]] Status emit_vectors(const Product& product, const ProductKernel& kernel, ShaderValues values,
                                    std::vector<BufferId> reads);
  [[nodiscard]] Status emit_padded(Product product, const ProductKernel& kernel, ShaderValues values,
                                   std::vector<BufferId> reads);
  [[nodiscard]] Status emit_any(const Product& product, ShaderValues values, std::vector<BufferId> reads);
  /// Each row whole in a layer.
  [[nodiscard]] BufferId scratch_rows(std::int64_t rows, std::int64_t row_texels) override {
    return scratch_texels(ceil_div(rows, facts().layers) * row_texels * facts().layers);
  }
  [[nodiscard]] BufferId scratch_texels(std::int64_t count) {
    return scratch(static_cast<std::size_t>(count) * 16);
  }
  [[nodiscard]] std::int64_t memory_size(const Buffer& buffer) const override;
};

}  // namespace driftscope::webgl
