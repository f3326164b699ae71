#include "core/engines/webgl/lowering.hpp"

#include <fmt/format.h>

#include <cmath>

namespace driftscope::webgl {
namespace {

constexpr std::int64_t texel_bytes = 16;

// Texels that stay together in a layer: those of a pixel.
std::int64_t texels_together(const Buffer& buffer) {
  if (buffer.dtype != DType::float32 || buffer.shape.empty()) return 1;
  const bool images = !buffer.layout.plain() && buffer.shape.size() > 2;
  const std::int64_t innermost = images ? buffer.layout.channels : buffer.shape.back();
  return innermost > 0 && innermost % 4 == 0 ? innermost / 4 : 1;
}

std::string layer_of(const std::string& t, const Texels& at) {
  std::string text = fmt::format("int({} >= {})", t, at.layer_texels);
  for (int layer = 2; layer < at.layers; ++layer)
    text += fmt::format(" + int({} >= {})", t, layer * at.layer_texels);
  return text;
}

// The functions by which a shader reads binding `i`.
std::string reader(std::size_t i, const Texels& at) {
  const gpu::TextureExtent extent = at.extent();
  const std::string place = fmt::format("q & {}, q >> {}", extent.width - 1, extent.width_bits);
  std::string text = fmt::format("uniform sampler2DArray in{0};\n", i);
  text += fmt::format("vec4 in{}_at(int q, int layer) {{ return texelFetch(in{}, ivec3({}, layer), 0); }}\n",
                      i, i, place);
  if (at.layers == 1)
    text += fmt::format(
        "int in{0}_layer(int t) {{ return 0; }}\nvec4 in{0}_texel(int t) {{ return in{0}_at(t, 0); }}\n", i);
  else
    text += fmt::format(
        "int in{0}_layer(int t) {{ return {1}; }}\n"
        "vec4 in{0}_texel(int t) {{ int layer = in{0}_layer(t); return in{0}_at(t - layer * {2}, layer); "
        "}}\n",
        i, layer_of("t", at), at.layer_texels);
  text += fmt::format("float in{0}_element(int e) {{ return in{0}_texel(e >> 2)[e & 3]; }}\n", i);
  return text;
}

}  // namespace

LowerOperator WebGlOperatorTable::find(const Node& node) const {
  if (!node.domain.empty()) return nullptr;
  const auto found = table_.find(node.op_type);
  return found == table_.end() ? nullptr : found->second;
}

Result<bool> Lowering::lower_on_device(const Node& node) {
  const LowerOperator lower_operator = webgl_operators().find(node);
  return lower_operator == nullptr ? Result<bool>(false) : lower_operator(*this, node);
}

std::int64_t Lowering::memory_size(const Buffer& buffer) const {
  const std::int64_t bytes = GraphLowering::memory_size(buffer);
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
  if (reads.size() > max_samplers) return internal_error("a shader with too many textures");
  const Texels written = texels(write);
  const gpu::TextureExtent extent = written.extent();
  std::string head =
      "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2DArray;\n";
  for (std::size_t i = 0; i < reads.size(); ++i) head += reader(i, texels(reads[i]));
  for (int layer = 0; layer < written.layers; ++layer)
    head += fmt::format("layout(location = {0}) out vec4 out{0};\n", layer);
  head +=
      fmt::format("int pixel() {{ return int(gl_FragCoord.y) * {} + int(gl_FragCoord.x); }}\n", extent.width);
  values["LAYERS"] = written.layers;
  values["LAYER_TEXELS"] = written.layer_texels;
  values["INPUTS"] = std::ssize(reads);
  if (const auto count = values.find("COUNT"); count != values.end())
    values["LAYERS_USED"] = std::min<std::int64_t>(
        written.layers, ceil_div(ceil_div(std::get<std::int64_t>(count->second), 4), written.layer_texels));
  const std::int64_t width = std::min(extent.width, written.layer_texels);
  return emit(file, values, std::move(reads), {write},
              {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(extent.height), 1}, head);
}

Result<bool> Lowering::emit_walk(BufferId source, BufferId target, const std::vector<WalkAxis>& axes,
                                 std::int64_t source_offset) {
  const std::vector<WalkAxis> walk = joined(axes);
  std::int64_t count = 1;
  for (const WalkAxis& axis : walk) count *= axis.size;
  const auto texel_walk = source_offset % 4 == 0 ? in_texels(walk) : std::nullopt;
  ShaderValues values = {{"COUNT", count}, {"ELEMENTS", texel_walk ? 0 : 1}};
  values["FROM"] = texel_walk ? glsl_place(texel_walk->axes, 0, "i", source_offset / 4)
                              : glsl_place(walk, 0, "i", source_offset);
  values["COORDINATES"] = std::string();
  values["WITHIN"] = std::string("true");
  values["FILL"] = std::string("0.0");
  values["ONE_FOR_ALL"] = texel_walk && texel_walk->one_for_all[0] ? 1 : 0;
  DRIFTSCOPE_CHECK(emit_draw("webgl/move.glsl", std::move(values), {source}, target));
  return true;
}

Result<bool> Lowering::emit_elements(std::string_view name, ShaderValues values, std::vector<BufferId> reads,
                                     BufferId write, std::int64_t count) {
  values["ELEMENTS"] = 1;
  values["COUNT"] = count;
  DRIFTSCOPE_CHECK(emit_draw(fmt::format("webgl/{}.glsl", name), std::move(values), std::move(reads), write));
  return true;
}

Result<bool> Lowering::emit_gather(BufferId source, BufferId target, const std::vector<gpu::GatherAxis>& axes,
                                   std::int64_t offset, float fill) {
  if (const auto walk = gpu::as_walk(axes)) return emit_walk(source, target, *walk, offset);
  std::int64_t count = 1;
  for (const gpu::GatherAxis& axis : axes) count *= axis.size;
  const gpu::GatherText text = gpu::gather_text(axes, offset, false);
  return emit_elements("move",
                       {{"COORDINATES", text.coordinates},
                        {"WITHIN", text.within},
                        {"FILL", float_text(fill)},
                        {"FROM", text.from},
                        {"ONE_FOR_ALL", 0}},
                       {source}, target, count);
}

Result<bool> Lowering::emit_concat(const std::vector<gpu::Piece>& pieces, std::int64_t outer,
                                   std::int64_t inner, BufferId target) {
  if (pieces.size() > max_samplers) return false;
  std::int64_t total = 0;
  bool texels_whole = true;
  for (const gpu::Piece& piece : pieces) {
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

Status Lowering::emit_rearrangement(const Conversion& conversion) {
  const bool to_channels_last = conversion.from.plain();
  const Blocks blocks =
      blocks_of(conversion.shape, to_channels_last ? conversion.to.layout : conversion.from.layout);
  const std::int64_t n = blocks.channels * blocks.spatial;
  // In the order of the target.
  std::vector<WalkAxis> axes;
  if (to_channels_last)
    axes = {{blocks.batch, {n}}, {blocks.spatial, {1}}, {blocks.channels, {blocks.spatial}}};
  else
    axes = {{blocks.batch, {n}}, {blocks.channels, {1}}, {blocks.spatial, {blocks.channels}}};
  DRIFTSCOPE_TRY(const bool done, emit_walk(conversion.source, conversion.target, axes));
  return done ? Status() : internal_error("a layout was not changed");
}

std::string float_text(float value) {
  return std::isnan(value) ? "uintBitsToFloat(0x7fc00000u)" : gpu::float_text(value);
}

std::optional<TexelWalk> in_texels(const std::vector<WalkAxis>& joined_axes) {
  if (joined_axes.empty() || joined_axes.back().size % 4 != 0) return std::nullopt;
  TexelWalk walk{joined_axes, {}};
  const std::size_t operands = joined_axes.back().strides.size();
  walk.axes.back().size /= 4;
  for (std::size_t i = 0; i < operands; ++i) {
    const std::int64_t innermost = joined_axes.back().strides[i];
    walk.one_for_all.push_back(innermost == 0);
    if (innermost == 0) continue;
    if (innermost != 1) return std::nullopt;
    for (std::size_t axis = 0; axis + 1 < joined_axes.size(); ++axis) {
      if (joined_axes[axis].strides[i] % 4 != 0) return std::nullopt;
      walk.axes[axis].strides[i] /= 4;
    }
  }
  return walk;
}

}  // namespace driftscope::webgl
