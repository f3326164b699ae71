// com.microsoft MultiHeadAttention: query [batch, S, hidden]; key [batch, L, hidden] and value [batch, L,
// value hidden], or both split into heads already, [batch, heads, L, size]; a bias of query, key and value
// together; key_padding_mask as in key_mask.hpp; caches [batch, heads, P, size] before and after. Attention:
// attention.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/head_options.hpp"
#include "core/ops/shared/key_mask.hpp"

namespace driftscope::ops::multi_head_attention {

constexpr std::array<std::string_view, 8> names = {
    "query", "key", "value", "bias", "key_padding_mask", "attention_bias", "past_key", "past_value"};

Result<HeadOptions> read_options(const Node& node) {
  DRIFTSCOPE_TRY(const HeadOptions options, read_head_options(node));
  for (const std::size_t i : {8u, 9u})
    if (i < node.inputs.size() && node.inputs[i] != no_value)
      return unsupported(
          fmt::format("MultiHeadAttention with input {} (past_sequence_length or cache_indirection) "
                      "is not known here",
                      i));
  if (node.outputs.size() > 3 && node.outputs[3] != no_value)
    return unsupported("MultiHeadAttention with output 3 (qk) is not known here");
  return options;
}

Result<Dimension> split(const Dimension& width, std::int64_t heads, std::size_t input) {
  if (!width.known()) return Dimension{};
  if (width.size == 0 || width.size % heads != 0)
    return bad_input(fmt::format("{}: {} elements of a position cannot be split into {} heads",
                                 input_label(input, names[input]), width.size, heads));
  return known_dimension(width.size / heads);
}

struct Sizes {
  Dimension batch, queries, size, added, value_size, before;
};

Result<Sizes> read_sizes(const InferContext& context, const HeadOptions& options) {
  Sizes sizes;
  sizes.batch = dimension_of(context, 0, 0);
  sizes.queries = dimension_of(context, 0, 1);
  DRIFTSCOPE_TRY(sizes.size, split(dimension_of(context, 0, 2), options.heads, 0));
  const Dimension heads = known_dimension(options.heads);
  // ONNX Runtime takes heads that are split already from another operator: both or neither.
  const bool split_already = context.input(1).shape && context.input(1).shape->size() == 4;
  sizes.added = dimension_of(context, 1, split_already ? 2 : 1);
  if (split_already) {
    DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], {sizes.batch, heads, sizes.added, sizes.size}));
    sizes.value_size = dimension_of(context, 2, 3);
    DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], {sizes.batch, heads, sizes.added, sizes.value_size}));
  } else {
    DRIFTSCOPE_CHECK(
        expect_shape(context, 1, names[1], {sizes.batch, sizes.added, times(sizes.size, options.heads)}));
    const Dimension width = dimension_of(context, 2, 2);
    DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], {sizes.batch, sizes.added, width}));
    DRIFTSCOPE_TRY(sizes.value_size, split(width, options.heads, 2));
  }
  sizes.before = context.has_input(6) ? dimension_of(context, 6, 2) : known_dimension(0);
  DRIFTSCOPE_CHECK(expect_shape(context, 6, names[6], {sizes.batch, heads, sizes.before, sizes.size}));
  DRIFTSCOPE_CHECK(expect_shape(context, 7, names[7], {sizes.batch, heads, sizes.before, sizes.value_size}));
  return sizes;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const HeadOptions options, read_options(context.node()));
  if (!context.has_input(1) || !context.has_input(2))
    return unsupported("MultiHeadAttention with query, key and value packed in one is not known here");
  for (const std::size_t i : {0u, 1u, 2u, 3u, 6u, 7u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  if (context.has_input(6) != context.has_input(7))
    return bad_input("inputs 6 (past_key) and 7 (past_value): one is given without the other");
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 3));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], 3, 4));
  DRIFTSCOPE_TRY(const Sizes sizes, read_sizes(context, options));
  const Dimension total = sum_of_sizes(sizes.before, sizes.added);
  DRIFTSCOPE_CHECK(expect_key_mask(context, 4, names[4], sizes.batch, sizes.queries, total));
  DRIFTSCOPE_CHECK(
      expect_attention_bias(context, 5, sizes.batch, known_dimension(options.heads), sizes.queries, total));
  DRIFTSCOPE_CHECK(expect_shape(
      context, 3, names[3],
      {sum_of_sizes(sum_of_sizes(times(sizes.size, options.heads), times(sizes.size, options.heads)),
                    times(sizes.value_size, options.heads))}));
  const DType dtype = context.input(0).dtype;
  const Dimension heads = known_dimension(options.heads);
  std::vector<TensorType> outputs = {
      TensorType{dtype, SymbolicShape{sizes.batch, sizes.queries, times(sizes.value_size, options.heads)}},
      TensorType{dtype, SymbolicShape{sizes.batch, heads, total, sizes.size}},
      TensorType{dtype, SymbolicShape{sizes.batch, heads, total, sizes.value_size}}};
  outputs.resize(std::max<std::size_t>(3, context.node().outputs.size()));
  return outputs;
}

struct MultiHeadAttention {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const HeadOptions options, read_options(context.node()));
    const Shape& query = context.shape(0);
    const bool split_already = context.shape(1).size() == 4;
    const std::int64_t added = context.shape(1)[split_already ? 2 : 1];
    const std::int64_t before = context.has_input(6) ? context.shape(6)[2] : 0;
    const std::int64_t heads = options.heads;
    const std::int64_t value_size = split_already ? context.shape(2)[3] : context.shape(2)[2] / heads;
    const AttentionSizes sizes{query[0],         heads,     heads, query[1], before + added,
                               query[2] / heads, value_size};

    // As [batch, heads, rows, size], with the part of the bias that begins at `first`.
    const auto operand = [&](std::size_t i, std::int64_t rows, std::int64_t size, std::int64_t first) {
      if (i > 0 && split_already) {
        const std::span<const S> x = context.real(i);
        return std::vector<S>(x.begin(), x.end());
      }
      std::vector<S> x = split_heads(context.real(i), sizes.batch, rows, heads, size, heads * size, 0);
      if (!context.has_input(3)) return x;
      const std::span<const S> bias = context.real(3);
      for (std::size_t at = 0; at < x.size(); ++at) {
        const auto place = static_cast<std::int64_t>(at);
        const std::int64_t h = place / (rows * size) % heads;
        x[at] = x[at] + bias[static_cast<std::size_t>(first + h * size + place % size)];
      }
      return x;
    };
    const std::int64_t width = heads * sizes.head_size;
    const std::vector<S> q = operand(0, sizes.queries, sizes.head_size, 0);
    std::vector<S> k = operand(1, added, sizes.head_size, width);
    std::vector<S> v = operand(2, added, value_size, 2 * width);
    if (context.has_input(6)) {
      k = appended<S>(context.real(6), k, sizes.batch * heads, before, added, sizes.head_size);
      v = appended<S>(context.real(7), v, sizes.batch * heads, before, added, value_size);
    }
    for (const auto& [output, cache] : {std::pair{1u, &k}, {2u, &v}})
      if (context.wants_output(output))
        std::copy(cache->begin(), cache->end(), context.real_output(output).begin());

    AttentionRules<S> rules;
    if (options.scale != 0.0f) rules.scale = options.scale;
    if (options.causal)
      rules.range = [&](std::int64_t, std::int64_t s) {
        return std::pair(std::int64_t{0}, std::clamp<std::int64_t>(before + s + 1, 0, sizes.keys));
      };
    const KeyMask mask = context.has_input(4) ? KeyMask(context.tensor(4), sizes) : KeyMask();
    std::optional<AttentionBias<S>> bias;
    if (context.has_input(5)) bias.emplace(context, 5);
    const S filter = math::given<S>(options.filter);
    if (context.has_input(4) || bias)
      rules.bias = [&](const ScorePlace& place) {
        const S own = bias ? bias->at(place) : S(0);
        return mask.masks(place) ? own + filter : own;
      };
    attend<S>(context, sizes, rules, q, k, v, context.real_output(0));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MultiHeadAttention>({.op_type = "MultiHeadAttention",
                                              .domain = microsoft_domain,
                                              .inputs = {1, 10},
                                              .outputs = {1, 4},
                                              .infer = infer}));
}

}  // namespace driftscope::ops::multi_head_attention
