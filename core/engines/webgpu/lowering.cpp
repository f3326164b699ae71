// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgpu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"

namespace driftscope::webgpu {

std::optional<Grid> grid_of(std::int64_t items, std::int64_t per_group, std::int64_t max_groups) {
  const std::int64_t groups = (items + per_group - 1) / per_group;
  const std::int64_t x = std::min(groups, max_groups);
  const std::int64_t y = (groups + x - 1) / std::max<std::int64_t>(x, 1);
  // Indices are i32 in values.wgsl.
  if (groups <= 0 || y > max_groups || x * y * per_group > std::int64_t{0x7fffffff}) return std::nullopt;
  return Grid{{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 1}, x * per_group};
}

bool are_wide(const Lanes& lanes, bool for_cpu) {
  constexpr std::int64_t min_wide = 64;
  constexpr std::int64_t many_lanes = 16'384;
  return !for_cpu && lanes.size >= min_wide && (lanes.inner == 1 || lanes.count() < many_lanes);
}

Result<bool> Lowering::emit_flat(std::string_view file, ShaderValues values, std::vector<BufferId> reads,
                                 BufferId write, std::int64_t items) {
  const auto where = grid_of(items, flat_threads, facts().max_groups);
  if (!where) return limit_error("the GPU has too few workgroups for so many elements");
  values["THREADS"] = flat_threads;
  values["ROW"] = where->row;
  values["COUNT"] = items;
  DRIFTSCOPE_CHECK(emit(file, values, std::move(reads), {write}, where->groups));
  return true;
}

Result<bool> Lowering::emit_values(std::string_view name, ShaderValues values, std::vector<BufferId> reads,
                                   BufferId write, std::int64_t count, bool elements) {
  values["SHADER"] = fmt::format("gpu/{}.wgsl", name);
  values["ELEMENTS"] = elements ? 1 : 0;
  values["FOURS"] = 0;
  values["INPUTS"] = std::ssize(reads);
  for (std::size_t i = 0; i < reads.size(); ++i)
    values.try_emplace(fmt::format("TEXELS{}", i), elements ? 0 : 1);
  return emit_flat("webgpu/values.wgsl", std::move(values), std::move(reads), write,
                   elements ? count : (count + 3) / 4);
}

Result<bool> Lowering::emit_elementwise(const Elementwise& function, std::vector<BufferId> reads,
                                        BufferId write) {
  const bool as_result = function.axes.empty();
  std::string loads;
  for (std::size_t i = 0; i < reads.size(); ++i)
    loads += fmt::format("  let x{0}: T = in{0}_value({1});\n", i,
                         as_result ? "i" : place_of(function.axes, i, "i"));
  return emit_values("elementwise", {{"LOADS", loads}, {"EXPRESSION", function.expression}}, std::move(reads),
                     write, function.count, !as_result);
}

// A dispatch for each piece, as a shader of many pieces would bind more than devices can.
Result<bool> Lowering::emit_concat(const std::vector<Piece>& pieces, std::int64_t outer, std::int64_t inner,
                                   BufferId target) {
  std::int64_t total = 0;
  for (const Piece& piece : pieces) total += piece.size * inner;
  std::int64_t before = 0;
  for (const Piece& piece : pieces) {
    const std::int64_t run = piece.size * inner;
    const auto walk = joined({{outer, {run, total}}, {run, {1, 1}}});
    DRIFTSCOPE_TRY(const bool done,
                   emit_flat("webgpu/concat.wgsl",
                             {{"FROM", place_of(walk, 0, "i")}, {"TO", place_of(walk, 1, "i", before)}},
                             {piece.buffer}, target, outer * run));
    if (!done) return internal_error("a piece was not moved");
    before += run;
  }
  return true;
}

Result<bool> Lowering::emit_depthwise(const ConvParts& parts, const Clamp& clamp, std::int64_t pixels,
                                      BufferId in, BufferId weights, BufferId out) {
  const std::int64_t unit = parts.outputs % 4 == 0 ? 4 : 1;
  std::vector<float> bias(static_cast<std::size_t>(parts.outputs));
  std::ranges::copy(parts.bias, bias.begin());
  DRIFTSCOPE_TRY(const BufferId bias_at, keep_padded(bias));
  ShaderValues values = window_values(parts.window);
  add_clamp(values, clamp);
  values["TYPE"] = std::string(unit == 4 ? "vec4f" : "f32");
  values["CHANNELS"] = parts.outputs / unit;
  return emit_flat("webgpu/depthwise.wgsl", std::move(values), {in, weights, bias_at}, out,
                   pixels * parts.outputs / unit);
}

Result<bool> Lowering::emit_lanes(std::string_view name, ShaderValues values, const Lanes& lanes,
                                  std::vector<BufferId> reads, BufferId write) {
  const bool wide = are_wide(lanes, for_cpu());
  const auto where = grid_of(lanes.count(), wide ? 1 : flat_threads, facts().max_groups);
  if (!where) return limit_error("the GPU has too few workgroups for so many lanes");
  values["SIZE"] = lanes.size;
  values["INNER"] = lanes.inner;
  values["LANES"] = lanes.count();
  values["WIDE"] = wide ? 1 : 0;
  values["ROW"] = where->row;
  values["THREADS"] = flat_threads;
  DRIFTSCOPE_CHECK(
      emit(fmt::format("webgpu/{}.wgsl", name), values, std::move(reads), {write}, where->groups));
  return true;
}

Result<bool> Lowering::emit_reduction(const Reduction& reduction, const Lanes& lanes, BufferId in,
                                      BufferId out) {
  const auto join = [](Reduction::Join how) {
    switch (how) {
      case Reduction::Join::largest: return "largest_of";
      case Reduction::Join::product: return "product_of";
      default: return "add_up";
    }
  };
  return emit_lanes("reduce",
                    {{"FIRST", std::string(reduction.first)},
                     {"NEXT", std::string(reduction.next)},
                     {"JOIN", std::string(join(reduction.join))},
                     {"LAST", reduction.last_of(lanes.size)}},
                    lanes, {in}, out);
}

}  // namespace driftscope::webgpu
