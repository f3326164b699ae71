// com.microsoft GroupQueryAttention: rotations of queries and keys, the caches with the new rows behind those
// of each sequence, attention. The host checks the lengths of the sequences in each run.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/engines/gpu/attention.hpp"
#include "core/engines/gpu/operator_table.hpp"

namespace driftscope::gpu::group_query_attention {

constexpr std::int64_t max_exact = 0x1000000;  // integers that float32 has

struct GroupQueryNode {
  GroupQueryOptions options;
  GroupQueryLengths rows;
  AttentionSizes sizes;
  bool packed = false;
  std::int64_t cache_rows = 0;  // of cos_cache
};

bool takes_types(const GpuLowering& lowering, const Node& node, const GroupQueryNode& it) {
  if (!are_floats(lowering, node, {0, 1, 2, 10, 11})) return false;
  if (it.rows.before > 0 && !are_floats(lowering, node, {3, 4})) return false;
  if (it.options.rotary && !are_floats(lowering, node, {7, 8})) return false;
  return std::ranges::all_of(node.outputs,
                             [&](ValueId id) { return id == no_value || lowering.is_float(id); });
}

// Whether shaders know the position of each new row: a prompt's padding has position 1 in the caches.
bool knows_positions(const GpuLowering& lowering, const Node& node, const GroupQueryNode& it) {
  if (!it.options.rotary) return true;
  if (it.cache_rows > max_exact || (it.rows.is_prompt() && it.rows.queries > 1 && it.cache_rows < 2))
    return false;
  return !lowering.has_input(node, 9) ||
         (!it.rows.is_prompt() && lowering.value(node.inputs[9]).static_shape());
}

// Nothing where strict runs it: sizes that only a run knows, or that it refuses.
Result<std::optional<GroupQueryNode>> read_node(const GpuLowering& lowering, const Node& node) {
  GroupQueryNode it;
  DRIFTSCOPE_TRY(it.options, read_group_query_options(node));
  const Tensor* total = lowering.constant(node.inputs[6]);
  if (total == nullptr || !lowering.value(node.inputs[5]).static_shape() ||
      !lowering.is_float(node.inputs[0]))
    return std::optional<GroupQueryNode>();
  it.packed = !lowering.has_input(node, 1);
  const Shape q = lowering.shape(node.inputs[0]);
  if (lowering.has_input(node, 3)) {
    const auto past = lowering.value(node.inputs[3]).static_shape();
    if (!past) return std::optional<GroupQueryNode>();
    it.rows.before = (*past)[2];
  }
  it.rows.queries = q[1];
  it.rows.total = total->values<std::int32_t>()[0];
  if (it.options.rotary && lowering.is_float(node.inputs[7]))
    it.cache_rows = lowering.shape(node.inputs[7])[0];
  const std::int64_t size = q[2] / (it.options.heads + (it.packed ? 2 * it.options.kv_heads : 0));
  it.sizes = {q[0], it.options.heads, it.options.kv_heads, q[1], it.rows.after(), size, size};
  const bool covered = !lowering.has_input(node, 10) || (lowering.is_float(node.inputs[10]) &&
                                                         lowering.shape(node.inputs[10])[3] >= it.rows.total);
  if (it.rows.total > it.rows.before + it.rows.queries || !covered || !takes_types(lowering, node, it) ||
      !knows_positions(lowering, node, it))
    return std::optional<GroupQueryNode>();
  return std::optional<GroupQueryNode>(std::move(it));
}

// The last position of each sequence, checked as strict does.
Result<BufferId> read_lasts(GpuLowering& lowering, const Node& node, const GroupQueryNode& it) {
  const bool turned_at_lasts = it.options.rotary && !lowering.has_input(node, 9);
  return lowering.read_mapped(
      node.inputs[5], {},
      [rows = it.rows, cache_rows = turned_at_lasts ? it.cache_rows : max_exact,
       label = node_label(node)](const Tensor& from) -> Result<Tensor> {
        const auto lasts = from.values<std::int32_t>();
        if (auto checked = rows.check(lasts); !checked.ok())
          return in_context(std::move(checked).error(), label);
        DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "seqlens_k"));
        for (std::size_t b = 0; b < lasts.size(); ++b) {
          const std::int64_t position =
              std::min<std::int64_t>(lasts[b], rows.past(lasts[b]) + rows.queries - 1);
          if (position >= cache_rows)
            return bad_input(
                fmt::format("{}: input 7 (cos_cache): position {} of sequence {} is needed, it has {} rows",
                            label, position, b, cache_rows));
          made.mutable_values<float>()[b] = static_cast<float>(lasts[b]);
        }
        return made;
      });
}

Result<BufferId> read_positions(GpuLowering& lowering, const Node& node, const GroupQueryNode& it) {
  return lowering.read_mapped(
      node.inputs[9], {},
      [rows = it.cache_rows, steps = it.rows.queries,
       label = node_label(node)](const Tensor& from) -> Result<Tensor> {
        DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, from.shape(), "position_ids"));
        const auto positions = from.values<std::int64_t>();
        for (std::size_t i = 0; i < positions.size(); ++i) {
          if (positions[i] < 0 || positions[i] >= rows)
            return bad_input(
                fmt::format("{}: input 7 (cos_cache): position {} of sequence {} is needed, it has {} rows",
                            label, positions[i], static_cast<std::int64_t>(i) / steps, rows));
          made.mutable_values<float>()[i] = static_cast<float>(positions[i]);
        }
        return made;
      });
}

// The heads from `offset` on of rows of `width`, turned, as rows of their own.
Result<HeadRows> rotated(GpuLowering& lowering, const Node& node, const GroupQueryNode& it, BufferId places,
                         std::int64_t heads, const HeadRows& from) {
  const AttentionSizes& sizes = it.sizes;
  const std::int64_t half = lowering.shape(node.inputs[7])[1];
  const std::int64_t row = heads * sizes.head_size;
  const std::string step = fmt::format("(head / {})", heads);
  const std::string own = fmt::format("i32(in3_value({} / {}))", step, sizes.queries);
  const std::string s = fmt::format("{} % {}", step, sizes.queries);
  std::string position = fmt::format("{} + {} - {}", own, s, sizes.queries - 1);
  if (lowering.has_input(node, 9))
    position = fmt::format("i32(in3_value({}))", step);
  else if (it.rows.is_prompt())
    position = fmt::format("select({0}, 1, {0} > {1})", s, own);
  std::vector<BufferId> reads = {from.buffer};
  for (const std::size_t i : {7u, 8u}) {
    DRIFTSCOPE_TRY(reads.emplace_back(), lowering.read(node.inputs[i], {}));
  }
  reads.push_back(places);
  const bool interleaved = it.options.interleaved;
  const std::int64_t count = sizes.batch * sizes.queries * row;
  const BufferId made = lowering.scratch(static_cast<std::size_t>(count) * sizeof(float));
  DRIFTSCOPE_CHECK(emitted(lowering.emit_elements(
      "rotary",
      {{"PLACE", fmt::format("e / {0} * {1} + {2} + e % {0}", row, from.row, from.offset)},
       {"SIZE", sizes.head_size},
       {"HALF", half},
       {"STEP", interleaved ? 1 : half},
       {"PAIR", interleaved ? std::string("i / 2") : fmt::format("i % {}", half)},
       {"CACHE_ROW", position}},
      std::move(reads), made, count)));
  return HeadRows::by_position(made, sizes.queries, row, sizes.head_size);
}

Result<bool> lower(GpuLowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const auto read, read_node(lowering, node));
  if (!read) return false;
  const GroupQueryNode& it = *read;
  const AttentionSizes& sizes = it.sizes;
  AttentionParts parts{.sizes = sizes, .softcap = it.options.softcap};
  if (it.options.scale != 0.0f) parts.scale = it.options.scale;
  const bool prompt = it.rows.is_prompt();
  parts.end = prompt ? fmt::format("min(s + 1, {})", sizes.keys)
                     : fmt::format("min(length_of(b) + s - {}, {})", sizes.queries - 2, sizes.keys);
  if (it.options.window >= 0 && it.options.window < sizes.keys)
    parts.first = fmt::format("max(end_key(b, s) - {}, 0)", it.options.window);
  if (!can_attend(lowering, parts)) return false;

  const Shape q = lowering.shape(node.inputs[0]);
  const auto rows_of = [&](std::size_t i, std::int64_t heads, std::int64_t offset) -> Result<HeadRows> {
    DRIFTSCOPE_TRY(const BufferId buffer, lowering.read(node.inputs[it.packed ? 0 : i], {}));
    return HeadRows::by_position(buffer, sizes.queries, it.packed ? q[2] : heads * sizes.head_size,
                                 sizes.head_size, it.packed ? offset : 0);
  };
  DRIFTSCOPE_TRY(parts.q, rows_of(0, sizes.heads, 0));
  DRIFTSCOPE_TRY(parts.k, rows_of(1, sizes.kv_heads, sizes.heads * sizes.head_size));
  DRIFTSCOPE_TRY(parts.v, rows_of(2, sizes.kv_heads, (sizes.heads + sizes.kv_heads) * sizes.head_size));
  DRIFTSCOPE_TRY(const BufferId lasts, read_lasts(lowering, node, it));
  if (!prompt) parts.lengths = lasts;
  if (it.options.rotary) {
    BufferId places = lasts;
    if (lowering.has_input(node, 9)) {
      DRIFTSCOPE_TRY(places, read_positions(lowering, node, it));
    }
    DRIFTSCOPE_TRY(parts.q, rotated(lowering, node, it, places, sizes.heads, parts.q));
    DRIFTSCOPE_TRY(parts.k, rotated(lowering, node, it, places, sizes.kv_heads, parts.k));
  }
  for (const std::size_t i : {1u, 2u}) {
    HeadRows& rows = i == 1 ? parts.k : parts.v;
    CacheRows cache{.batch = sizes.batch,
                    .heads = sizes.kv_heads,
                    .size = sizes.head_size,
                    .before = it.rows.before,
                    .added = sizes.queries,
                    .rows = sizes.keys,
                    .kept = fmt::format("length_of(b) - {}", sizes.queries - 1),
                    .lengths = lasts};
    if (it.rows.before > 0 && !prompt) {
      DRIFTSCOPE_TRY(cache.past, lowering.read(node.inputs[2 + i], {}));
    }
    DRIFTSCOPE_TRY(rows, with_cache(lowering, node, i, cache, rows));
  }
  DRIFTSCOPE_TRY(parts.bias, read_attention_bias(lowering, node, 10));
  if (lowering.has_input(node, 11)) {
    DRIFTSCOPE_TRY(parts.sinks, lowering.read(node.inputs[11], {}));
  }
  parts.sink_of_zero = it.options.smooth;
  DRIFTSCOPE_CHECK(emit_attention(lowering, parts, lowering.write(node.outputs[0], {}), false));
  return true;
}

void add_to(GpuOperatorTable& table) { table.add("com.microsoft.GroupQueryAttention", lower); }

}  // namespace driftscope::gpu::group_query_attention
