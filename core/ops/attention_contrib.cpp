// com.microsoft Attention and QAttention: the projections of input [batch, S, width] to query, key and value
// by one matrix [width, 2 · hidden + value hidden] and a bias, then attention (attention.hpp) with a mask
// (key_mask.hpp) and a cache [2, batch, heads, P, size]. QAttention's input and weights are 8-bit integers;
// their product is MatMulInteger's, times the scales.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/head_options.hpp"
#include "core/ops/shared/key_mask.hpp"

namespace driftscope::ops::attention_contrib {

// Which input is what.
struct Places {
  std::size_t mask, past, bias_of_scores;
  bool quantized;
};
constexpr Places plain{3, 4, 5, false};
constexpr Places quantized{5, 8, 99, true};

std::string_view name_of(const Places& places, std::size_t i) {
  constexpr std::array<std::string_view, 7> own = {
      "input", "weights", "bias", "mask_index", "past", "attention_bias", "past_sequence_length"};
  constexpr std::array<std::string_view, 9> of_integers = {"input",
                                                           "weight",
                                                           "bias",
                                                           "input_scale",
                                                           "weight_scale",
                                                           "mask_index",
                                                           "input_zero_point",
                                                           "weight_zero_point",
                                                           "past"};
  return places.quantized ? of_integers[i] : own[i];
}

using Options = ProjectedHeadOptions;

Status check_types(const InferContext& context, const Places& places) {
  if (!places.quantized) {
    for (const std::size_t i : {0u, 1u, 2u, 4u})
      DRIFTSCOPE_CHECK(expect_kind(context, i, name_of(places, i), Kinds::floating));
    if (context.has_input(6))
      return unsupported("Attention with input 6 (past_sequence_length) is not known here");
    return {};
  }
  for (const std::size_t i : {0u, 1u, 6u, 7u})
    DRIFTSCOPE_CHECK(expect_dtype(context, i, name_of(places, i), {DType::uint8, DType::int8}));
  for (const std::size_t i : {2u, 3u, 4u, 8u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, name_of(places, i), Kinds::floating));
  return {};
}

Result<std::vector<TensorType>> infer_at(const InferContext& context, const Places& places) {
  DRIFTSCOPE_TRY(Options options, read_projected_head_options(context.node()));
  DRIFTSCOPE_CHECK(check_types(context, places));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 3, 3));
  DRIFTSCOPE_CHECK(expect_shape(context, 1, name_of(places, 1),
                                {dimension_of(context, 0, 2), dimension_of(context, 1, 1)}));
  if (const Dimension columns = dimension_of(context, 1, 1); columns.known()) {
    DRIFTSCOPE_TRY(options, with_widths(options, columns.size));
  }
  DRIFTSCOPE_CHECK(expect_shape(context, 2, "bias", {dimension_of(context, 1, 1)}));
  const Dimension batch = dimension_of(context, 0, 0);
  const Dimension queries = dimension_of(context, 0, 1);
  const Dimension heads = known_dimension(options.heads);
  const Dimension size = options.hidden > 0 ? known_dimension(options.hidden / options.heads) : Dimension{};
  const Dimension before =
      context.has_input(places.past) ? dimension_of(context, places.past, 3) : known_dimension(0);
  DRIFTSCOPE_CHECK(
      expect_shape(context, places.past, "past", {known_dimension(2), batch, heads, before, size}));
  if ((context.has_input(places.past) ||
       (context.node().outputs.size() > 1 && context.node().outputs[1] != no_value)) &&
      options.hidden != options.value_hidden)
    return bad_input("attribute qkv_hidden_sizes: with a cache all three must be equal");
  const Dimension total = sum_of_sizes(before, queries);
  DRIFTSCOPE_CHECK(expect_key_mask(context, places.mask, "mask_index", batch, queries, total));
  DRIFTSCOPE_CHECK(expect_attention_bias(context, places.bias_of_scores, batch, heads, queries, total));
  const DType dtype = context.input(places.quantized ? 2 : 0).dtype;
  const Dimension width = options.hidden > 0 ? known_dimension(options.value_hidden) : Dimension{};
  std::vector<TensorType> outputs = {
      TensorType{dtype, SymbolicShape{batch, queries, width}},
      TensorType{dtype, SymbolicShape{known_dimension(2), batch, heads, total, size}}};
  outputs.resize(std::max<std::size_t>(2, context.node().outputs.size()));
  return outputs;
}

// [batch, S, 2 · hidden + value hidden].
template <class S>
Result<std::vector<S>> projections(KernelContext<S>& context, const Places& places) {
  Composition<S> parts(context);
  using Value = typename Composition<S>::Value;
  Value product = nullptr;
  if (places.quantized) {
    DRIFTSCOPE_TRY(const Value sums, parts.one("MatMulInteger", {parts.input(0), parts.input(1),
                                                                 parts.input(6), parts.input(7)}));
    const auto type = static_cast<std::int64_t>(context.dtype(2));
    DRIFTSCOPE_TRY(const Value numbers, parts.one("Cast", {sums}, {{"to", type}}));
    DRIFTSCOPE_TRY(const Value scale, parts.one("Mul", {parts.input(3), parts.input(4)}));
    DRIFTSCOPE_TRY(product, parts.one("Mul", {numbers, scale}));
  } else {
    DRIFTSCOPE_TRY(product, parts.one("MatMul", {parts.input(0), parts.input(1)}));
  }
  if (context.has_input(2)) {
    DRIFTSCOPE_TRY(product, parts.one("Add", {product, parts.input(2)}));
  }
  return parts.elements(product);
}

template <class S>
Status attend_projected(KernelContext<S>& context, const Places& places) {
  DRIFTSCOPE_TRY(Options options, read_projected_head_options(context.node()));
  DRIFTSCOPE_TRY(options, with_widths(options, context.shape(1)[1]));
  DRIFTSCOPE_TRY(const std::vector<S> all, projections(context, places));
  const Shape& input = context.shape(0);
  const std::int64_t heads = options.heads;
  const std::int64_t before = context.has_input(places.past) ? context.shape(places.past)[3] : 0;
  const std::int64_t added = input[1];
  const AttentionSizes sizes{
      input[0], heads, heads, added, before + added, options.hidden / heads, options.value_hidden / heads};
  const std::int64_t width = 2 * options.hidden + options.value_hidden;
  const auto part = [&](std::int64_t size, std::int64_t offset) {
    return split_heads<S>(all, sizes.batch, added, heads, size, width, offset);
  };
  const std::vector<S> q = part(sizes.head_size, 0);
  std::vector<S> k = part(sizes.head_size, options.hidden);
  std::vector<S> v = part(sizes.value_size, 2 * options.hidden);
  if (context.has_input(places.past)) {
    const std::span<const S> past = context.real(places.past);
    const std::size_t half = past.size() / 2;
    k = appended<S>(past.first(half), k, sizes.batch * heads, before, added, sizes.head_size);
    v = appended<S>(past.subspan(half), v, sizes.batch * heads, before, added, sizes.value_size);
  }
  if (context.wants_output(1)) {
    const std::span<S> present = context.real_output(1);
    std::copy(v.begin(), v.end(), std::copy(k.begin(), k.end(), present.begin()));
  }
  AttentionRules<S> rules;
  if (options.scale != 0.0f) rules.scale = options.scale;
  if (options.causal)
    rules.range = [&](std::int64_t, std::int64_t s) { return std::pair(std::int64_t{0}, before + s + 1); };
  const KeyMask mask =
      context.has_input(places.mask) ? KeyMask(context.tensor(places.mask), sizes) : KeyMask();
  std::optional<AttentionBias<S>> bias;
  if (context.has_input(places.bias_of_scores)) bias.emplace(context, places.bias_of_scores);
  const S filter = math::given<S>(options.filter);
  if (context.has_input(places.mask) || bias)
    rules.bias = [&](const ScorePlace& place) {
      const S own = bias ? bias->at(place) : S(0);
      return mask.masks(place) ? own + filter : own;
    };
  attend<S>(context, sizes, rules, q, k, v, context.real_output(0));
  return {};
}

template <bool of_integers>
struct Attention {
  static constexpr const Places& places = of_integers ? quantized : plain;
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    return infer_at(context, places);
  }
  template <class S>
  static Status run(KernelContext<S>& context) {
    return attend_projected(context, places);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Attention<false>>({.op_type = "Attention",
                                            .domain = microsoft_domain,
                                            .inputs = {2, 7},
                                            .outputs = {1, 2},
                                            .infer = Attention<false>::infer}));
  table.add(with_kernels<Attention<true>>({.op_type = "QAttention",
                                           .domain = microsoft_domain,
                                           .inputs = {5, 9},
                                           .outputs = {1, 2},
                                           .infer = Attention<true>::infer}));
}

}  // namespace driftscope::ops::attention_contrib
