// The lowering with what the WebGPU engine brings: its kernels. Images lie channels last. Clients:
// engine.cpp, the kernels of this folder.
#pragma once

#include <optional>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/webgpu/product_kernel.hpp"

namespace driftscope::webgpu {

using namespace gpu;

/// Threads of a workgroup for shaders that do one element each.
inline constexpr std::int64_t flat_threads = 64;

/// How many workgroups in the directions x and y, and how many items a row of them does.
struct Grid {
  std::array<std::uint32_t, 3> groups = {1, 1, 1};
  std::int64_t row = 0;
};
/// Workgroups for `items`, of which one takes `per_group`; nothing where a device with so many in a direction
/// has too few, or an index would need more than 31 bits.
[[nodiscard]] std::optional<Grid> grid_of(std::int64_t items, std::int64_t per_group,
                                          std::int64_t max_groups);

/// Whether a workgroup takes a lane, or each of its threads one.
[[nodiscard]] bool are_wide(const Lanes& lanes, bool for_cpu);

class Lowering final : public GpuLowering {
 public:
  using GpuLowering::GpuLowering;

  /// Of large products on a GPU.
  void choose_tile(const Tile& tile) { large_tile_ = &tile; }

  /// WebGPU guarantees eight buffers for a shader.
  [[nodiscard]] std::size_t max_inputs() const override { return 7; }
  [[nodiscard]] std::int64_t depthwise_unit() const override { return 1; }

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
  /// One dispatch of a shader that does one of `items` per thread: adds ROW, COUNT and THREADS.
  [[nodiscard]] Result<bool> emit_flat(std::string_view file, ShaderValues values,
                                       std::vector<BufferId> reads, BufferId write, std::int64_t items);
  [[nodiscard]] Result<bool> emit_values(std::string_view name, ShaderValues values,
                                         std::vector<BufferId> reads, BufferId write, std::int64_t count,
                                         bool elements) override;

  const Tile* large_tile_ = &large_tiles.front();
};

}  // namespace driftscope::webgpu
