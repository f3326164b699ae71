// The lowering with what the WebGL engine brings: its operators and shaders. A value is a run of texels, four
// float32 each, in the order of its memory; images lie channels last. An intermediate value is divided into
// layers of whole pixels, so that one fragment computes a texel of each with the same weights. Clients:
// engine.cpp; operators/.
#pragma once

#include "core/device/texture_extent.hpp"
#include "core/engines/gpu/indexing.hpp"
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/webgl/operator_table.hpp"

namespace driftscope::webgl {

using namespace lowering;
using gpu::broadcast_strides;
using gpu::joined;
using gpu::ShaderValues;
using gpu::WalkAxis;

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Every WebGL2 has as many samplers in a fragment shader.
inline constexpr std::size_t max_samplers = 16;

/// Mesa's llvmpipe ends all loops of a fragment after 65,535 iterations in all, without an error.
inline constexpr std::int64_t max_loops = 60'000;

/// Where the texels of a buffer are.
struct Texels {
  int layers = 1;
  std::int64_t layer_texels = 1;  ///< of each but the last
  [[nodiscard]] gpu::TextureExtent extent() const { return gpu::texture_extent(layer_texels); }
  bool operator==(const Texels&) const = default;
};

class Lowering final : public gpu::GpuLowering {
 public:
  using GpuLowering::GpuLowering;

  [[nodiscard]] Texels texels(BufferId id) const;

  /// One draw of `file` into `write`. The shader finds, for each of `reads`, the functions
  ///   vec4 inI_texel(int t)   texel number t,   float inI_element(int e)   element number e,
  ///   vec4 inI_at(int q, int layer)   texel q of a layer,
  /// and the numbers LAYERS, LAYER_TEXELS (of what it writes) and INPUTS.
  [[nodiscard]] Status emit_draw(std::string_view file, ShaderValues values, std::vector<BufferId> reads,
                                 BufferId write);

  /// y[e] = x[FROM] for each element e of the target, in the order of the axes, whose one operand is x.
  [[nodiscard]] Result<bool> emit_walk(BufferId source, BufferId target, const std::vector<WalkAxis>& axes,
                                       std::int64_t source_offset = 0);

  /// For each element; a fragment computes four of each layer.
  [[nodiscard]] bool may_loop(std::int64_t times) const override {
    return times <= max_loops / (4 * facts().layers);
  }
  /// For each texel.
  [[nodiscard]] bool may_loop_per_texel(std::int64_t times) const { return may_loop((times + 3) / 4); }

  [[nodiscard]] Result<bool> emit_elements(std::string_view name, ShaderValues values,
                                           std::vector<BufferId> reads, BufferId write,
                                           std::int64_t count) override;
  [[nodiscard]] Result<bool> emit_gather(BufferId source, BufferId target,
                                         const std::vector<gpu::GatherAxis>& axes, std::int64_t offset,
                                         float fill) override;
  [[nodiscard]] Result<bool> emit_concat(const std::vector<gpu::Piece>& pieces, std::int64_t outer,
                                         std::int64_t inner, BufferId target) override;
  [[nodiscard]] Result<BufferId> emit_constant_product(BufferId a, std::int64_t rows, std::int64_t depth,
                                                       std::int64_t columns, const gpu::MatrixElement& b,
                                                       std::span<const float> bias) override;

  /// For rows of so many texels, each whole in a layer.
  [[nodiscard]] BufferId scratch_rows(std::int64_t rows, std::int64_t row_texels) {
    return scratch_texels(ceil_div(rows, facts().layers) * row_texels * facts().layers);
  }
  /// For so many vec4.
  [[nodiscard]] BufferId scratch_texels(std::int64_t count) {
    return scratch(static_cast<std::size_t>(count) * 16);
  }

 private:
  [[nodiscard]] Result<bool> lower_on_device(const Node& node) override;
  [[nodiscard]] Status emit_rearrangement(const Conversion& conversion) override;
  [[nodiscard]] std::int64_t memory_size(const Buffer& buffer) const override;
};

/// gpu::place_of with GLSL's integers.
[[nodiscard]] inline std::string glsl_place(const std::vector<WalkAxis>& axes, std::size_t operand,
                                            std::string_view index, std::int64_t offset = 0) {
  return gpu::place_of(axes, operand, index, offset, "");
}

/// A number as GLSL writes it.
[[nodiscard]] std::string float_text(float value);

/// The axes in steps of four elements of the innermost, if every operand can: it lies side by side there, or
/// (stride 0) has one element for all; then `one_for_all` says of which operands.
struct TexelWalk {
  std::vector<WalkAxis> axes;
  std::vector<bool> one_for_all;  ///< by operand; its strides remain in elements
};
[[nodiscard]] std::optional<TexelWalk> in_texels(const std::vector<WalkAxis>& joined_axes);

}  // namespace driftscope::webgl
