// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope::gpu {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);

std::int64_t key_texels(const AttentionSizes& sizes) { return (sizes.keys + 3) / 4; }
std::int64_t lanes_of(const AttentionSizes& sizes) { return sizes.batch * sizes.heads * sizes.queries; }

// Whether rows of so many elements lie in whole texels.
bool in_texels(const HeadRows& rows, std::int64_t size) {
  return (size | rows.batch | rows.head | rows.row | rows.offset) % 4 == 0;
}

// Where the row of sequence b and a head begins, in elements or texels.
std::string place_of_head(const HeadRows& rows, std::int64_t unit, std::string_view head) {
  return fmt::format("b * {} + {} * {} + {}", rows.batch / unit, head, rows.head / unit, rows.offset / unit);
}

std::string kv_head(const AttentionSizes& sizes) {
  return sizes.heads == sizes.kv_heads ? "h" : fmt::format("h / {}", sizes.heads / sizes.kv_heads);
}

// Adds an input that may be missing; its number, or 0.
std::int64_t add_input(std::vector<BufferId>& reads, BufferId buffer) {
  if (buffer == no_buffer) return 0;
  reads.push_back(buffer);
  return std::ssize(reads) - 1;
}

ShaderValues shared_values(const AttentionParts& parts, std::vector<BufferId>& reads) {
  const AttentionSizes& sizes = parts.sizes;
  ShaderValues values = {{"FIRST", parts.first},
                         {"END", parts.end},
                         {"QUERIES", sizes.queries},
                         {"HEADS", sizes.heads},
                         {"KEY_TEXELS", key_texels(sizes)}};
  values["LENGTHS"] = add_input(reads, parts.lengths);
  values["HAS_LENGTHS"] = parts.lengths == no_buffer ? 0 : 1;
  return values;
}

Status emit_scores(GpuLowering& lowering, const AttentionParts& parts, float softcap, bool raw,
                   BufferId out) {
  const AttentionSizes& sizes = parts.sizes;
  std::vector<BufferId> reads = {parts.q.buffer, parts.k.buffer};
  // What a shader does not read may not be bound: products alone know no lengths.
  AttentionParts ranged = parts;
  if (raw) {
    ranged.lengths = no_buffer;
    ranged.first = ranged.end = "0";
  }
  ShaderValues values = shared_values(ranged, reads);
  const std::int64_t unit =
      in_texels(parts.q, sizes.head_size) && in_texels(parts.k, sizes.head_size) ? 4 : 1;
  values["Q_TEXELS"] = unit == 4 ? 1 : 0;
  values["DEPTH"] = sizes.head_size / unit;
  values["Q_PLACE"] = place_of_head(parts.q, unit, "h") + fmt::format(" + s * {}", parts.q.row / unit);
  values["K_PLACE"] = place_of_head(parts.k, unit, kv_head(sizes));
  values["K_ROW"] = parts.k.row / unit;
  values["KEYS"] = sizes.keys;
  values["SCALE"] = float_text(
      parts.scale.value_or(static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes.head_size)))));
  values["CAPPED"] = softcap == 0.0f ? 0 : 1;
  values["SOFTCAP"] = float_text(softcap);
  values["RAW"] = raw ? 1 : 0;
  const ScoreBias bias = raw ? ScoreBias{} : parts.bias.value_or(ScoreBias{});
  values["BIAS"] = add_input(reads, bias.buffer);
  values["BIAS_PLACE"] = bias.place;
  values["BIAS_KEYS"] = bias.keys;
  values["BIAS_CHOOSES"] = bias.chooses ? 1 : 0;
  values["BIAS_LEAVES_OUT"] = bias.leaves_out ? 1 : 0;
  const std::int64_t mask = add_input(reads, raw ? no_buffer : parts.mask);
  values["MASK"] = mask;
  values["MASKED"] = mask == 0 ? std::string() : fmt::format(fmt::runtime(parts.masked), mask);
  values["FILTER"] = float_text(parts.filter);
  return emitted(lowering.emit_texels("attention_scores", std::move(values), std::move(reads), out,
                                      lanes_of(sizes) * key_texels(sizes) * 4));
}

}  // namespace

Status emitted(const Result<bool>& done) {
  if (!done.ok()) return done.error();
  return *done ? Status() : internal_error("a step of attention was not taken");
}

Result<std::optional<ScoreBias>> read_attention_bias(GpuLowering& lowering, const Node& node,
                                                     std::size_t input) {
  if (!lowering.has_input(node, input)) return std::optional<ScoreBias>();
  const Shape shape = lowering.shape(node.inputs[input]);
  const auto strides = broadcast_strides({shape[0], shape[1]}, 2);
  const std::int64_t rows = shape[2] * shape[3];
  ScoreBias bias;
  DRIFTSCOPE_TRY(bias.buffer, lowering.read(node.inputs[input], {}));
  bias.place = fmt::format("(b * {} + h * {}) * {} + s * {} + key", strides[0], strides[1], rows, shape[3]);
  return std::optional<ScoreBias>(std::move(bias));
}

bool can_attend(const GpuLowering& lowering, const AttentionParts& parts) {
  const AttentionSizes& sizes = parts.sizes;
  constexpr std::int64_t max_exact = 0x1000000;  // integers that float32 has
  const std::int64_t object_elements = lowering.facts().max_object_bytes / float_bytes;
  const bool finite = std::isfinite(parts.scale.value_or(1.0f)) && std::isfinite(parts.softcap) &&
                      std::isfinite(parts.filter);
  // Rows of scores as well as the values that are read and written are counted in int32.
  if (!finite || lanes_of(sizes) == 0 || sizes.keys == 0 || sizes.keys > max_exact ||
      key_texels(sizes) * 4 > std::min<std::int64_t>(object_elements, 0x7fffffff) / lanes_of(sizes))
    return false;
  return lowering.may_loop_per_texel(sizes.head_size) && lowering.may_loop_per_texel(2 * key_texels(sizes)) &&
         lowering.may_loop(key_texels(sizes));
}

Status emit_attention(GpuLowering& lowering, const AttentionParts& parts, BufferId out, bool by_head) {
  const AttentionSizes& sizes = parts.sizes;
  const std::int64_t lanes = lanes_of(sizes);
  const BufferId scores = lowering.scratch(static_cast<std::size_t>(lanes * key_texels(sizes)) * 16);
  DRIFTSCOPE_CHECK(emit_scores(lowering, parts, parts.softcap, false, scores));

  std::vector<BufferId> reads = {scores};
  ShaderValues values = shared_values(parts, reads);
  const std::int64_t sinks = add_input(reads, parts.sinks);
  values["SINK"] = sinks > 0 || parts.sink_of_zero ? 1 : 0;
  values["SINK_VALUE"] =
      sinks > 0 ? fmt::format("in{}_element(i / {} % {})", sinks, sizes.queries, sizes.heads) : "0.0";
  const BufferId found = lowering.scratch(static_cast<std::size_t>(lanes) * 16);
  DRIFTSCOPE_CHECK(emitted(
      lowering.emit_texels("attention_lanes", std::move(values), std::move(reads), found, lanes * 4)));

  reads = {scores, parts.v.buffer, found};
  values = shared_values(parts, reads);
  const bool texels = in_texels(parts.v, sizes.value_size);
  const std::int64_t unit = texels ? 4 : 1;
  values["UNITS"] = sizes.value_size / unit;
  values["BY_HEAD"] = by_head ? 1 : 0;
  values["V_PLACE"] = place_of_head(parts.v, unit, kv_head(sizes));
  values["V_ROW"] = parts.v.row / unit;
  const std::int64_t count = lanes * sizes.value_size;
  if (texels)
    return emitted(lowering.emit_texels("attention_values", std::move(values), std::move(reads), out, count));
  values["TEXELS0"] = values["TEXELS2"] = 1;
  return emitted(lowering.emit_elements("attention_values", std::move(values), std::move(reads), out, count));
}

Status emit_products(GpuLowering& lowering, const AttentionParts& parts, bool softcapped, BufferId out) {
  const AttentionSizes& sizes = parts.sizes;
  const float softcap = softcapped ? parts.softcap : 0.0f;
  if (sizes.keys % 4 == 0) return emit_scores(lowering, parts, softcap, true, out);
  const std::int64_t row = key_texels(sizes) * 4;
  const BufferId padded = lowering.scratch(static_cast<std::size_t>(lanes_of(sizes) * row) * sizeof(float));
  DRIFTSCOPE_CHECK(emit_scores(lowering, parts, softcap, true, padded));
  return emitted(lowering.emit_gather(
      padded, out, {{.size = lanes_of(sizes), .stride = row}, {.size = sizes.keys, .stride = 1}}));
}

Status emit_cache(GpuLowering& lowering, const CacheRows& cache, const HeadRows& added, BufferId out) {
  std::vector<BufferId> reads = {added.buffer};
  const bool past = cache.past != no_buffer;
  if (past) reads.push_back(cache.past);
  ShaderValues values = {{"SIZE", cache.size},
                         {"ROWS", cache.rows},
                         {"HEADS", cache.heads},
                         {"KEPT", past ? cache.kept : std::string("0")},
                         {"BEFORE", past ? cache.before : 0},
                         {"PAST", cache.past_offset},
                         {"ADDED", cache.added},
                         {"PLACE", place_of_head(added, 1, "h")},
                         {"ADDED_ROW", added.row}};
  values["LENGTHS"] = add_input(reads, past ? cache.lengths : no_buffer);
  values["HAS_LENGTHS"] = past && cache.lengths != no_buffer ? 1 : 0;
  return emitted(lowering.emit_elements("cache", std::move(values), std::move(reads), out,
                                        cache.batch * cache.heads * cache.rows * cache.size));
}

Result<HeadRows> with_cache(GpuLowering& lowering, const Node& node, std::size_t output,
                            const CacheRows& cache, const HeadRows& added) {
  const bool wanted = wants_output(node, output);
  if (!wanted && cache.past == no_buffer && cache.rows == cache.added) return added;
  const std::int64_t count = cache.batch * cache.heads * cache.rows * cache.size;
  const BufferId made = wanted ? lowering.write(node.outputs[output], {})
                               : lowering.scratch(static_cast<std::size_t>(count) * sizeof(float));
  DRIFTSCOPE_CHECK(emit_cache(lowering, cache, added, made));
  return HeadRows::by_head(made, cache.heads, cache.rows, cache.size);
}

bool wants_output(const Node& node, std::size_t output) {
  return output < node.outputs.size() && node.outputs[output] != no_value;
}

bool are_floats(const GpuLowering& lowering, const Node& node, std::initializer_list<std::size_t> inputs) {
  return std::ranges::all_of(inputs, [&](std::size_t i) {
    return !lowering.has_input(node, i) || lowering.is_float(node.inputs[i]);
  });
}

}  // namespace driftscope::gpu
