// com.microsoft GroupQueryAttention: causal attention of a decoder with its caches. query [batch, S, heads ×
// D], key and value [batch, S, kv_heads × D], or all three in query; caches [batch, kv_heads, P, D] before
// and [batch, kv_heads, max(P, total), D] after. Sequence b has seqlens_k[b] + 1 positions with the new ones.
//
// A query at position p looks at the positions up to p, at most local_window_size of them. Rotary embedding
// is that of RotaryEmbedding, at the positions of the sequence or at position_ids. Attention: attention.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/head_options.hpp"
#include "core/ops/shared/key_mask.hpp"
#include "core/ops/shared/rotary.hpp"

namespace driftscope::ops::group_query_attention {

constexpr std::array<std::string_view, 12> names = {"query",
                                                    "key",
                                                    "value",
                                                    "past_key",
                                                    "past_value",
                                                    "seqlens_k",
                                                    "total_sequence_length",
                                                    "cos_cache",
                                                    "sin_cache",
                                                    "position_ids",
                                                    "attention_bias",
                                                    "head_sink"};

using Options = GroupQueryOptions;

// The size of a head; unknown where the input's last size is.
Result<Dimension> head_size(const InferContext& context, const Options& options) {
  const bool packed = !context.has_input(1);
  const Dimension width = dimension_of(context, 0, 2);
  if (!width.known()) return Dimension{};
  const std::int64_t heads = options.heads + (packed ? 2 * options.kv_heads : 0);
  if (width.size % heads != 0 || width.size == 0)
    return bad_input(fmt::format("input 0 (query): {} elements of a position cannot be split into {} heads{}",
                                 width.size, heads, packed ? " of query, key and value" : ""));
  return known_dimension(width.size / heads);
}

Status check_rotary(const InferContext& context, const Dimension& size) {
  for (const std::size_t i : {7u, 8u})
    if (!context.has_input(i))
      return bad_input(fmt::format("{}: do_rotary needs it, but it is omitted", input_label(i, names[i])));
  DRIFTSCOPE_CHECK(expect_rank(context, 7, names[7], 2, 2));
  if (const auto& cos = context.input(7).shape) {
    DRIFTSCOPE_CHECK(expect_shape(context, 8, names[8], *cos));
    if ((*cos)[1].known() && size.known() && (*cos)[1].size > size.size / 2)
      return bad_input(fmt::format("input 7 (cos_cache): {} columns turn more than a head of {}",
                                   (*cos)[1].size, size.size));
  }
  return {};
}

// total_sequence_length, where it is known.
Result<Dimension> total_length(const InferContext& context, const Dimension& added) {
  const Tensor* const tensor = context.constant(6);
  if (tensor == nullptr || tensor->dtype() != DType::int32) return Dimension{};
  if (tensor->elements() != 1)
    return bad_input(fmt::format("input 6 (total_sequence_length): expected one number, got shape {}",
                                 shape_text(tensor->shape())));
  const std::int64_t total = tensor->values<std::int32_t>()[0];
  if (total < 0 || (added.known() && total < added.size))
    return bad_input(fmt::format("input 6 (total_sequence_length): {} is less than the {} new positions",
                                 total, added.size));
  return known_dimension(total);
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Options options, read_group_query_options(context.node()));
  DRIFTSCOPE_CHECK(expect_given(context, {0, 5, 6}, names));
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 10u, 11u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  for (const std::size_t i : {5u, 6u}) DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::int32}));
  DRIFTSCOPE_CHECK(expect_dtype(context, 9, names[9], {DType::int64}));
  if (context.has_input(1) != context.has_input(2))
    return bad_input("inputs 1 (key) and 2 (value): one is given without the other");
  if (context.has_input(3) != context.has_input(4))
    return bad_input("inputs 3 (past_key) and 4 (past_value): one is given without the other");
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 3));
  const Dimension batch = dimension_of(context, 0, 0);
  const Dimension added = dimension_of(context, 0, 1);
  DRIFTSCOPE_TRY(const Dimension size, head_size(context, options));
  const auto width = [&](std::int64_t heads) {
    return size.known() ? known_dimension(heads * size.size) : Dimension{};
  };
  for (const std::size_t i : {1u, 2u})
    DRIFTSCOPE_CHECK(expect_shape(context, i, names[i], {batch, added, width(options.kv_heads)}));
  const Dimension before = context.has_input(3) ? dimension_of(context, 3, 2) : known_dimension(0);
  for (const std::size_t i : {3u, 4u})
    DRIFTSCOPE_CHECK(
        expect_shape(context, i, names[i], {batch, known_dimension(options.kv_heads), before, size}));
  if (batch.known())
    DRIFTSCOPE_CHECK(expect_elements(context, 5, names[5], batch.size, "one for each sequence of the batch"));
  DRIFTSCOPE_TRY(const Dimension total, total_length(context, added));
  if (options.rotary) DRIFTSCOPE_CHECK(check_rotary(context, size));
  DRIFTSCOPE_CHECK(expect_shape(context, 9, names[9], {batch, added}));
  DRIFTSCOPE_CHECK(expect_attention_bias(context, 10, batch, known_dimension(options.heads), added,
                                         dimension_of(context, 10, 3)));
  DRIFTSCOPE_CHECK(expect_shape(context, 11, names[11], {known_dimension(options.heads)}));
  const DType dtype = context.input(0).dtype;
  Dimension after;
  if (before.known() && total.known()) after = known_dimension(std::max(before.size, total.size));
  const TensorType cache{dtype, SymbolicShape{batch, known_dimension(options.kv_heads), after, size}};
  std::vector<TensorType> outputs = {TensorType{dtype, SymbolicShape{batch, added, width(options.heads)}},
                                     cache, cache};
  outputs.resize(std::max<std::size_t>(3, context.node().outputs.size()));
  return outputs;
}

// Of one run.
struct Run {
  AttentionSizes sizes;
  GroupQueryLengths rows;
  std::vector<std::int64_t> lengths;  // of each sequence, with the new positions
  std::vector<std::int64_t> past;     // … without
};

template <class S>
Result<Run> read_run(const KernelContext<S>& context, const Options& options) {
  Run run;
  const Shape& query = context.shape(0);
  const std::int64_t heads = options.heads + (context.has_input(1) ? 0 : 2 * options.kv_heads);
  run.rows = {query[1], context.has_input(3) ? context.shape(3)[2] : 0,
              context.tensor(6).template values<std::int32_t>()[0]};
  const std::span<const std::int32_t> lasts = context.tensor(5).template values<std::int32_t>();
  DRIFTSCOPE_CHECK(run.rows.check(lasts));
  run.sizes = {query[0],         options.heads,    options.kv_heads, query[1],
               run.rows.after(), query[2] / heads, query[2] / heads};
  for (const std::int32_t last : lasts) {
    run.lengths.push_back(std::int64_t{last} + 1);
    run.past.push_back(run.rows.past(last));
  }
  return run;
}

template <class S>
Status rotate(const KernelContext<S>& context, const Options& options, const Run& run, std::int64_t heads,
              std::vector<S>& x) {
  const AttentionSizes& sizes = run.sizes;
  const auto size = static_cast<std::size_t>(sizes.head_size);
  const auto half = static_cast<std::size_t>(context.shape(7)[1]);
  std::vector<S> turned(size);
  for (std::int64_t b = 0; b < sizes.batch; ++b)
    for (std::int64_t s = 0; s < sizes.queries; ++s) {
      std::int64_t position = run.past[static_cast<std::size_t>(b)] + s;
      const bool padding = position >= run.lengths[static_cast<std::size_t>(b)];
      if (padding) position = 1;  // as ONNX Runtime has it
      if (context.has_input(9))
        position = context.tensor(9)
                       .template values<std::int64_t>()[static_cast<std::size_t>(b * sizes.queries + s)];
      if (padding && position >= context.shape(7)[0]) continue;
      if (position < 0 || position >= context.shape(7)[0])
        return bad_input(
            fmt::format("input 7 (cos_cache): position {} of sequence {} is needed, it has {} rows", position,
                        b, context.shape(7)[0]));
      const std::size_t row = static_cast<std::size_t>(position) * half;
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::span<S> head =
            std::span(x).subspan(static_cast<std::size_t>((b * heads + h) * sizes.queries + s) * size, size);
        rotate_head<S>(head, turned, context.real(7).subspan(row, half), context.real(8).subspan(row, half),
                       options.interleaved);
        std::copy(turned.begin(), turned.end(), head.begin());
      }
    }
  return {};
}

// The caches after the run: what each sequence had, then its new rows; zeros beyond.
template <class S>
std::vector<S> cache_after(std::span<const S> past, std::span<const S> added, const Run& run) {
  const AttentionSizes& sizes = run.sizes;
  const std::int64_t size = sizes.head_size;
  std::vector<S> cache(static_cast<std::size_t>(sizes.batch * sizes.kv_heads * sizes.keys * size), S(0));
  for (std::int64_t group = 0; group < sizes.batch * sizes.kv_heads; ++group) {
    const std::int64_t kept = run.past[static_cast<std::size_t>(group / sizes.kv_heads)];
    const auto copy = [&](std::span<const S> from, std::int64_t first, std::int64_t to, std::int64_t rows) {
      const auto part =
          from.subspan(static_cast<std::size_t>(first * size), static_cast<std::size_t>(rows * size));
      std::copy(part.begin(), part.end(), cache.begin() + (group * sizes.keys + to) * size);
    };
    copy(past, group * run.rows.before, 0, kept);
    copy(added, group * sizes.queries, kept, std::min(sizes.queries, sizes.keys - kept));
  }
  return cache;
}

struct GroupQueryAttention {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_group_query_options(context.node()));
    DRIFTSCOPE_TRY(const Run run, read_run(context, options));
    const AttentionSizes& sizes = run.sizes;
    const bool packed = !context.has_input(1);
    const std::int64_t size = sizes.head_size;
    const auto heads_of = [&](std::size_t input, std::int64_t heads, std::int64_t offset) {
      const std::size_t from = packed ? 0 : input;
      return split_heads(context.real(from), sizes.batch, sizes.queries, heads, size, context.shape(from)[2],
                         packed ? offset : 0);
    };
    std::vector<S> q = heads_of(0, sizes.heads, 0);
    std::vector<S> k = heads_of(1, sizes.kv_heads, sizes.heads * size);
    const std::vector<S> v = heads_of(2, sizes.kv_heads, (sizes.heads + sizes.kv_heads) * size);
    if (options.rotary) {
      DRIFTSCOPE_CHECK(rotate(context, options, run, sizes.heads, q));
      DRIFTSCOPE_CHECK(rotate(context, options, run, sizes.kv_heads, k));
    }
    const auto past = [&](std::size_t i) {
      return context.has_input(i) ? context.real(i) : std::span<const S>();
    };
    const std::vector<S> keys = cache_after<S>(past(3), k, run);
    const std::vector<S> values = cache_after<S>(past(4), v, run);
    for (const auto& [output, cache] : {std::pair{1u, &keys}, {2u, &values}})
      if (context.wants_output(output))
        std::copy(cache->begin(), cache->end(), context.real_output(output).begin());

    AttentionRules<S> rules;
    if (options.scale != 0.0f) rules.scale = options.scale;
    rules.softcap = options.softcap;
    rules.range = [&](std::int64_t b, std::int64_t s) {
      const std::int64_t end = std::min(run.past[static_cast<std::size_t>(b)] + s + 1, sizes.keys);
      return std::pair(options.window < 0 ? 0 : std::max<std::int64_t>(0, end - options.window), end);
    };
    std::optional<AttentionBias<S>> bias;
    if (context.has_input(10)) {
      if (context.shape(10)[3] < run.rows.total)
        return bad_input(fmt::format("input 10 (attention_bias): expected at least {} columns, got shape {}",
                                     run.rows.total, shape_text(context.shape(10))));
      bias.emplace(context, 10);
      rules.bias = [&](const ScorePlace& place) { return bias->at(place); };
    }
    if (context.has_input(11))
      rules.sink = [&](std::int64_t head) { return context.real(11)[static_cast<std::size_t>(head)]; };
    else if (options.smooth)
      rules.sink = [](std::int64_t) { return S(0); };
    attend<S>(context, sizes, rules, q, keys, values, context.real_output(0));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<GroupQueryAttention>({.op_type = "GroupQueryAttention",
                                               .domain = microsoft_domain,
                                               .inputs = {1, 17},
                                               .outputs = {1, 4},
                                               .infer = infer}));
}

}  // namespace driftscope::ops::group_query_attention
