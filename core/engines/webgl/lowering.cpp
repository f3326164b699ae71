// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/webgl/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/gpu/conv_parts.hpp"

namespace driftscope::webgl {
namespace {

// Texels that stay together in a layer: those of a pixel.
std::int64_t texels_together(const Buffer& buffer) {
  if (buffer.dtype != DType::float32 || buffer.shape.empty()) return 1;
  const bool images = !buffer.layout.plain() && buffer.shape.size() > 2;
  const std::int64_t innermost = images ? buffer.layout.channels : buffer.shape.back();
  return innermost > 0 && innermost % 4 == 0 ? innermost / 4 : 1;
}

}  // namespace

std::int64_t Lowering::memory_size(const Buffer& buffer) const {
  const std::int64_t bytes = GpuLowering::memory_size(buffer);
  if (buffer.space != Space::device) return bytes;
  const std::int64_t together = texels_together(buffer);
  const std::int64_t groups = ceil_div(std::max<std::int64_t>(ceil_div(bytes, texel_bytes), 1), together);
  return ceil_div(groups, facts().layers) * together * facts().layers * texel_bytes;
}

Texels Lowering::texels(BufferId id) const {
  const Buffer& root = root_of(id);
  if (root.storage == Storage::constant)
    return {1, std::max<std::int64_t>(1, ceil_div(element_count(root.shape), 4))};
  return {facts().layers, root.bytes / texel_bytes / facts().layers};
}

Status Lowering::emit_draw(std::string_view file, ShaderValues values, std::vector<BufferId> reads,
                           BufferId write) {
  if (reads.size() > max_inputs()) return internal_error("a shader with too many textures");
  values["INPUTS"] = std::ssize(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Texels at = texels(reads[i]);
    values[fmt::format("LAYERS_OF{}", i)] = at.layers;
    values[fmt::format("LAYER_TEXELS_OF{}", i)] = at.layer_texels;
    values[fmt::format("WIDTH{}", i)] = at.extent().width;
    values[fmt::format("WIDTH_BITS{}", i)] = at.extent().width_bits;
  }
  const Texels written = texels(write);
  const TextureExtent extent = written.extent();
  values["WIDTH_OF_RESULT"] = extent.width;
  values["LAYERS"] = written.layers;
  values["LAYER_TEXELS"] = written.layer_texels;
  if (const auto count = values.find("COUNT"); count != values.end())
    values["LAYERS_USED"] = std::min<std::int64_t>(
        written.layers, ceil_div(ceil_div(std::get<std::int64_t>(count->second), 4), written.layer_texels));
  const std::int64_t width = std::min(extent.width, written.layer_texels);
  return emit(file, values, std::move(reads), {write},
              {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(extent.height), 1});
}

Result<bool> Lowering::emit_values(std::string_view name, ShaderValues values, std::vector<BufferId> reads,
                                   BufferId write, std::int64_t count, bool elements) {
  values["SHADER"] = fmt::format("gpu/{}.wgsl", name);
  values["ELEMENTS"] = elements ? 1 : 0;
  values["FOURS"] = 1;
  values["COUNT"] = count;
  values.try_emplace("ALIKE", 0);
  DRIFTSCOPE_CHECK(emit_draw("webgl/values.glsl", std::move(values), std::move(reads), write));
  return true;
}

Result<bool> Lowering::emit_elementwise(const Elementwise& function, std::vector<BufferId> reads,
                                        BufferId write) {
  const bool as_result = function.axes.empty();
  const bool alike =
      as_result && std::ranges::all_of(reads, [&](BufferId id) { return texels(id) == texels(write); });
  const auto walk = in_texels(function.axes);
  std::string loads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto place = [&] { return place_of(walk ? walk->axes : function.axes, i, walk ? "i" : "e"); };
    const bool single = !as_result && std::ranges::all_of(function.axes, [&](const WalkAxis& axis) {
      return axis.strides[i] == 0;
    });
    if (as_result)
      loads += fmt::format("  let x{0}: T = in{0}_value(i);\n", i);
    else if (single || (walk && walk->one_for_all[i]))
      loads += fmt::format("  let x{0}: T = T(in{0}_element({1}));\n", i, single ? "0" : place());
    else if (walk)
      loads += fmt::format("  let x{0}: T = in{0}_texel({1});\n", i, place());
    else if (place() == "e")
      loads += fmt::format("  let x{0}: T = in{0}_texel(i);\n", i);
    else
      loads += fmt::format(
          "  var x{0}: T = T(0.0);\n"
          "  for (var j: i32 = 0; j < 4; j++) {{ let e: i32 = 4 * i + j; x{0}[j] = in{0}_element({1}); }}\n",
          i, place());
  }
  return emit_texels("elementwise",
                     {{"ALIKE", alike ? 1 : 0}, {"LOADS", loads}, {"EXPRESSION", function.expression}},
                     std::move(reads), write, function.count);
}

Result<bool> Lowering::emit_concat(const std::vector<Piece>& pieces, std::int64_t outer, std::int64_t inner,
                                   BufferId target) {
  if (pieces.size() > max_inputs()) return false;
  std::int64_t total = 0;
  bool texels_whole = true;
  for (const Piece& piece : pieces) {
    total += piece.size;
    texels_whole = texels_whole && piece.size * inner % 4 == 0;
  }
  const std::int64_t unit = texels_whole ? 4 : 1;
  std::string choices;
  std::vector<BufferId> reads;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t run = pieces[i].size * inner / unit;
    choices += fmt::format("  if (j < {}) return in{}_{}(outer * {} + j - {});\n", before + run, i,
                           texels_whole ? "texel" : "element", run, before);
    before += run;
    reads.push_back(pieces[i].buffer);
  }
  DRIFTSCOPE_CHECK(emit_draw("webgl/concat.glsl",
                             {{"ELEMENTS", texels_whole ? 0 : 1},
                              {"COUNT", outer * total * inner},
                              {"RUN", before},
                              {"PIECES", choices}},
                             std::move(reads), target));
  return true;
}

Result<bool> Lowering::emit_depthwise(const ConvParts& parts, const Clamp& clamp, std::int64_t pixels,
                                      BufferId in, BufferId weights, BufferId out) {
  std::vector<BufferId> reads = {in, weights};
  if (!parts.bias.empty()) {
    DRIFTSCOPE_TRY(const BufferId bias, keep_padded(parts.bias));
    reads.push_back(bias);
  }
  ShaderValues values = window_values(parts.window);
  add_clamp(values, clamp);
  values["BIAS"] = parts.bias.empty() ? 0 : 1;
  values["C"] = parts.outputs;
  values["ROWS"] = pixels;
  DRIFTSCOPE_CHECK(emit_draw("webgl/depthwise.glsl", std::move(values), std::move(reads), out));
  return true;
}

// What is common to a lane into a texel for each, then every element with the texel of its lane.
Result<bool> Lowering::emit_lanes(std::string_view name, ShaderValues values, const Lanes& lanes,
                                  std::vector<BufferId> reads, BufferId write) {
  values["SIZE"] = lanes.size;
  values["INNER"] = lanes.inner;
  values["ELEMENTS"] = 0;
  values["COUNT"] = lanes.count() * 4;
  const BufferId found = scratch_texels(lanes.count());
  DRIFTSCOPE_CHECK(emit_draw(fmt::format("webgl/{}_of_lane.glsl", name), values, {reads[0]}, found));
  values["ELEMENTS"] = 1;
  values["COUNT"] = lanes.count() * lanes.size;
  reads.insert(reads.begin() + 1, found);
  DRIFTSCOPE_CHECK(emit_draw(fmt::format("webgl/{}.glsl", name), std::move(values), std::move(reads), write));
  return true;
}

// Long lanes in stages, so that no fragment loops for long and many work at once.
Result<bool> Lowering::emit_reduction(const Reduction& reduction, const Lanes& lanes, BufferId in,
                                      BufferId out) {
  constexpr std::int64_t longest_part = 1024;
  const auto join = [](Reduction::Join how) {
    switch (how) {
      case Reduction::Join::largest: return "max(part, v)";
      case Reduction::Join::product: return "part * v";
      default: return "part + v";
    }
  };
  const char* next = reduction.next;
  for (std::int64_t size = lanes.size;;) {
    const bool last = size <= longest_part;
    const std::int64_t parts = last ? 1 : ceil_div(size, longest_part);
    // The parts of a lane one behind the other in its place.
    const BufferId made = last ? out : scratch_texels(ceil_div(lanes.count() * parts, 4));
    DRIFTSCOPE_CHECK(emit_draw("webgl/reduce.glsl",
                               {{"FIRST", std::string(reduction.first)},
                                {"NEXT", std::string(next)},
                                {"LAST", last ? reduction.last_of(lanes.size) : std::string("whole")},
                                {"SIZE", size},
                                {"INNER", lanes.inner},
                                {"PARTS", parts},
                                {"PART", ceil_div(size, parts)},
                                {"ELEMENTS", lanes.inner % 4 == 0 ? 0 : 1},
                                {"COUNT", lanes.count() * parts}},
                               {in}, made));
    if (last) return true;
    in = made;
    size = parts;
    next = join(reduction.join);
  }
}

}  // namespace driftscope::webgl
