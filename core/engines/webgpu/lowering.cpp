#include "core/engines/webgpu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::webgpu {

LowerOperator WebGpuOperatorTable::find(const Node& node) const {
  if (!node.domain.empty()) return nullptr;
  const auto found = table_.find(node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

Result<bool> Lowering::lower_on_device(const Node& node) {
  const LowerOperator lower_operator = webgpu_operators().find(node);
  return lower_operator == nullptr ? Result<bool>(false) : lower_operator(*this, node);
}

std::optional<Grid> Lowering::grid(std::int64_t items, std::int64_t per_group) const {
  const std::int64_t limit = facts().max_groups;
  const std::int64_t groups = (items + per_group - 1) / per_group;
  const std::int64_t x = std::min(groups, limit);
  const std::int64_t y = (groups + x - 1) / std::max<std::int64_t>(x, 1);
  // Indices in shaders are 32 bits.
  if (groups <= 0 || y > limit || x * y * per_group > std::int64_t{0xffffffff}) return std::nullopt;
  return Grid{{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1}, x * per_group};
}

Result<bool> Lowering::emit_flat(std::string_view file, ShaderValues values, std::vector<BufferId> reads,
                                 BufferId write, std::int64_t items) {
  const auto where = grid(items, flat_threads);
  if (!where) return limit_error("the GPU has too few workgroups for so many elements");
  values["THREADS"] = flat_threads;
  values["ROW"] = where->row;
  values["COUNT"] = items;
  DRIFTSCOPE_CHECK(emit(file, values, std::move(reads), {write}, where->groups));
  return true;
}

Result<bool> Lowering::emit_move(BufferId source, BufferId target, const std::vector<WalkAxis>& axes,
                                 std::int64_t source_offset, std::int64_t target_offset) {
  const std::vector<WalkAxis> walk = joined(axes);
  std::int64_t count = 1;
  for (const WalkAxis& axis : walk) count *= axis.size;
  return emit_flat("webgpu/move.wgsl",
                   {{"COORDINATES", std::string()},
                    {"FILL", std::string("0.0")},
                    {"WITHIN", std::string("true")},
                    {"FROM", place_of(walk, 0, "i", source_offset)},
                    {"TO", place_of(walk, 1, "i", target_offset)}},
                   {source}, target, count);
}

Result<bool> Lowering::emit_elements(std::string_view name, ShaderValues values, std::vector<BufferId> reads,
                                     BufferId write, std::int64_t count) {
  values["INPUTS"] = std::ssize(reads);
  return emit_flat(fmt::format("webgpu/{}.wgsl", name), std::move(values), std::move(reads), write, count);
}

Result<bool> Lowering::emit_gather(BufferId source, BufferId target, const std::vector<gpu::GatherAxis>& axes,
                                   std::int64_t offset, float fill) {
  std::int64_t count = 1;
  for (const gpu::GatherAxis& axis : axes) count *= axis.size;
  const gpu::GatherText text = gpu::gather_text(axes, offset, true);
  return emit_flat("webgpu/move.wgsl",
                   {{"COORDINATES", text.coordinates},
                    {"FILL", float_text(fill)},
                    {"WITHIN", text.within},
                    {"FROM", text.from},
                    {"TO", std::string("i")}},
                   {source}, target, count);
}

Result<bool> Lowering::emit_concat(const std::vector<gpu::Piece>& pieces, std::int64_t outer,
                                   std::int64_t inner, BufferId target) {
  std::int64_t total = 0;
  for (const gpu::Piece& piece : pieces) total += piece.size;
  std::int64_t before = 0;
  for (const gpu::Piece& piece : pieces) {
    const std::int64_t run = piece.size * inner;
    DRIFTSCOPE_TRY(
        const bool done,
        emit_move(piece.buffer, target, {{outer, {run, total * inner}}, {run, {1, 1}}}, 0, before * inner));
    if (!done) return internal_error("a piece was not moved");
    before += piece.size;
  }
  return true;
}

Status Lowering::emit_rearrangement(const Conversion& conversion) {
  const bool to_channels_last = conversion.from.plain();
  const Blocks blocks =
      blocks_of(conversion.shape, to_channels_last ? conversion.to.layout : conversion.from.layout);
  const std::int64_t n = blocks.channels * blocks.spatial;
  // In the order of the target.
  std::vector<WalkAxis> axes;
  if (to_channels_last)
    axes = {{blocks.batch, {n, n}},
            {blocks.spatial, {1, blocks.channels}},
            {blocks.channels, {blocks.spatial, 1}}};
  else
    axes = {{blocks.batch, {n, n}},
            {blocks.channels, {1, blocks.spatial}},
            {blocks.spatial, {blocks.channels, 1}}};
  DRIFTSCOPE_TRY(const bool done, emit_move(conversion.source, conversion.target, axes));
  return done ? Status() : internal_error("a layout was not changed");
}

}  // namespace driftscope::webgpu
