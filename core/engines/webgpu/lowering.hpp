// The lowering with what the WebGPU engine brings: its operators and shaders. Images lie channels last.
// Clients: engine.cpp; operators/.
#pragma once

#include <optional>

#include "core/engines/gpu/indexing.hpp"
#include "core/engines/gpu/lowering.hpp"
#include "core/engines/webgpu/operator_table.hpp"

namespace driftscope::webgpu {

using namespace lowering;
using gpu::broadcast_strides;
using gpu::float_text;
using gpu::joined;
using gpu::place_of;
using gpu::ShaderValues;
using gpu::WalkAxis;

/// Threads of a workgroup for shaders that do one element each.
inline constexpr std::int64_t flat_threads = 64;

/// How many workgroups in the directions x and y, and how many items a row of them does.
struct Grid {
  std::array<std::uint32_t, 3> groups = {1, 1, 1};
  std::int64_t row = 0;
};

struct Tile;

class Lowering final : public gpu::GpuLowering {
 public:
  using GpuLowering::GpuLowering;

  /// Of large products on a GPU.
  [[nodiscard]] const Tile& large_tile() const;
  void choose_tile(const Tile& tile) { large_tile_ = &tile; }

  /// Workgroups for `items`, of which one takes `per_group`; nothing where the device has not as many.
  [[nodiscard]] std::optional<Grid> grid(std::int64_t items, std::int64_t per_group) const;

  /// One dispatch of a shader that does one of `items` per thread: adds ROW, COUNT and THREADS.
  [[nodiscard]] Result<bool> emit_flat(std::string_view file, ShaderValues values,
                                       std::vector<BufferId> reads, BufferId write, std::int64_t items);

  /// Y[to] = X[from] for each element of a walk whose operands are the source and the target. The engine's
  /// shader for everything that only moves elements.
  [[nodiscard]] Result<bool> emit_move(BufferId source, BufferId target, const std::vector<WalkAxis>& axes,
                                       std::int64_t source_offset = 0, std::int64_t target_offset = 0);

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

 private:
  [[nodiscard]] Result<bool> lower_on_device(const Node& node) override;
  [[nodiscard]] Status emit_rearrangement(const Conversion& conversion) override;

  const Tile* large_tile_ = nullptr;
};

}  // namespace driftscope::webgpu
