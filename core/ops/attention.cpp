// Attention, opset 23 to 28: softmax(softcap(scale · Q·Kᵀ) + mask) · V. Q, K, V are [batch, heads, sequence,
// size], or [batch, sequence, heads × size] with the heads as attributes; caches before and after. A query i
// looks at the keys j ≤ i + offset if causal, within the window (opset 25) around i + offset, and below
// nonpad_kv_seqlen (24); offset: the keys of the cache, or nonpad_kv_seqlen less the queries. attn_mask:
// booleans, or numbers that are added, broadcast to [batch, heads, queries, keys]; where it is shorter than
// the keys they are left out. A query without keys has zeros. qk_matmul_output: the scores at one of four
// places. Attention: core/ops/shared/attention.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/head_options.hpp"
#include "core/ops/shared/key_mask.hpp"

namespace driftscope::ops::attention {

constexpr std::array<std::string_view, 7> names = {
    "Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};

using Options = AttentionOptions;

// [batch, heads, sequence, size] of input `i`.
Result<SymbolicShape> by_heads(const InferContext& context, std::size_t i, std::int64_t heads) {
  const auto& shape = context.input(i).shape;
  if (!shape) return unknown_shape(4);
  if (shape->size() == 4) return *shape;
  if (heads == 0)
    return bad_input(fmt::format("attribute {}_num_heads: needed where {} has three axes",
                                 i == 0 ? "q" : "kv", input_label(i, names[i])));
  const Dimension& width = (*shape)[2];
  if (width.known() && (width.size == 0 || width.size % heads != 0))
    return bad_input(fmt::format("{}: {} elements of a position cannot be split into {} heads",
                                 input_label(i, names[i]), width.size, heads));
  const Dimension size = width.known() ? known_dimension(width.size / heads) : Dimension{};
  return SymbolicShape{(*shape)[0], known_dimension(heads), (*shape)[1], size};
}

Status check_mask(const InferContext& context, const SymbolicShape& q, const Dimension& keys) {
  if (!context.has_input(3) || !context.input(3).shape) return {};
  const SymbolicShape& mask = *context.input(3).shape;
  const SymbolicShape whole = {q[0], q[1], q[2], keys};
  bool fits = !mask.empty() && mask.size() <= 4;
  for (std::size_t k = 0; fits && k < mask.size(); ++k) {
    const Dimension& own = mask[mask.size() - 1 - k];
    const Dimension& size = whole[3 - k];
    // The last axis may be shorter.
    fits = (k > 0 && own.size == 1) || unify(own, size) || (k == 0 && own.known() && own.size <= size.size);
  }
  if (fits) return {};
  return bad_input(fmt::format("input 3 (attn_mask): shape {} does not fit [batch, heads, queries, keys] {}",
                               shape_text(mask), shape_text(whole)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Options options, read_attention_options(context.node()));
  for (const std::size_t i : {0u, 1u, 2u, 4u, 5u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 3, names[3], Kinds::numeric_or_bool));
  DRIFTSCOPE_CHECK(expect_dtype(context, 6, names[6], {DType::int64}));
  if (context.has_input(4) != context.has_input(5))
    return bad_input("inputs 4 (past_key) and 5 (past_value): one is given without the other");
  if (context.has_input(4) && context.has_input(6))
    return bad_input("input 6 (nonpad_kv_seqlen): it cannot be combined with past_key and past_value");
  for (const std::size_t i : {0u, 1u, 2u}) DRIFTSCOPE_CHECK(expect_rank(context, i, names[i], 3, 4));
  DRIFTSCOPE_TRY(SymbolicShape q, by_heads(context, 0, options.heads));
  DRIFTSCOPE_TRY(SymbolicShape k, by_heads(context, 1, options.kv_heads));
  DRIFTSCOPE_TRY(const SymbolicShape v, by_heads(context, 2, options.kv_heads));
  const auto same = [&](std::size_t i, const SymbolicShape& shape, std::initializer_list<std::size_t> axes,
                        const SymbolicShape& other) -> Status {
    for (const std::size_t axis : axes)
      if (!unify(shape[axis], other[axis]))
        return bad_input(fmt::format("{}: as [batch, heads, sequence, size] {} does not fit {}",
                                     input_label(i, names[i]), shape_text(shape), shape_text(other)));
    return {};
  };
  DRIFTSCOPE_CHECK(same(1, k, {0, 3}, q));
  DRIFTSCOPE_CHECK(same(2, v, {0, 1, 2}, k));
  if (q[1].known() && k[1].known() && (k[1].size == 0 || q[1].size % k[1].size != 0))
    return bad_input(fmt::format("input 0 (Q): {} heads are not a multiple of the {} of input 1 (K)",
                                 q[1].size, k[1].size));
  const Dimension before = context.has_input(4) ? dimension_of(context, 4, 2) : known_dimension(0);
  DRIFTSCOPE_CHECK(expect_shape(context, 4, names[4], {k[0], k[1], before, k[3]}));
  DRIFTSCOPE_CHECK(expect_shape(context, 5, names[5], {k[0], k[1], before, v[3]}));
  DRIFTSCOPE_CHECK(expect_shape(context, 6, names[6], {q[0]}));
  const Dimension keys = sum_of_sizes(before, k[2]);
  DRIFTSCOPE_CHECK(check_mask(context, q, keys));
  const DType dtype = context.input(0).dtype;
  TensorType y{dtype, SymbolicShape{q[0], q[1], q[2], v[3]}};
  if (!context.input(0).shape) {
    y.shape.reset();
  } else if (context.input(0).shape->size() == 3) {
    DRIFTSCOPE_TRY(const Dimension width, multiply(std::array{q[1], v[3]}));
    y.shape = SymbolicShape{q[0], q[2], width};
  }
  std::vector<TensorType> outputs = {
      y, TensorType{dtype, SymbolicShape{k[0], k[1], keys, k[3]}},
      TensorType{context.input(2).dtype, SymbolicShape{k[0], k[1], keys, v[3]}},
      TensorType{dtype, SymbolicShape{q[0], q[1], q[2], keys}}};
  outputs.resize(std::max<std::size_t>(3, context.node().outputs.size()));
  return outputs;
}

/// attn_mask, at the places of the scores.
template <class S>
class Mask {
 public:
  Mask(const KernelContext<S>& context, const AttentionSizes& sizes)
      : is_bool_(context.dtype(3) == DType::boolean) {
    if (is_bool_)
      chosen_ = context.tensor(3).bytes();
    else
      added_ = context.real(3);
    keys_ = context.shape(3).back();
    const Shape whole = {sizes.batch, sizes.heads, sizes.queries, keys_};
    strides_ = broadcast_strides(context.shape(3), whole);
  }

  [[nodiscard]] bool leaves_out(const ScorePlace& at) const {
    if (at.key >= keys_) return true;
    if (is_bool_) return chosen_[offset(at)] == std::byte{0};
    return math::to_double(added_[offset(at)]) == -std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] bool adds() const { return !is_bool_; }
  [[nodiscard]] const S& at(const ScorePlace& place) const { return added_[offset(place)]; }

 private:
  [[nodiscard]] std::size_t offset(const ScorePlace& at) const {
    return static_cast<std::size_t>(at.batch * strides_[0] + at.head * strides_[1] + at.query * strides_[2] +
                                    at.key * strides_[3]);
  }

  bool is_bool_;
  std::span<const std::byte> chosen_;
  std::span<const S> added_;
  std::int64_t keys_ = 0;
  Shape strides_;
};

struct Attention {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_attention_options(context.node()));
    if (context.has_input(3) && context.dtype(3) != DType::boolean && !is_floating(context.dtype(3)))
      return unsupported("attn_mask of integers is not known here");
    const Shape& q_shape = context.shape(0);
    const Shape& k_shape = context.shape(1);
    const bool split = q_shape.size() == 4;
    const std::int64_t heads = split ? q_shape[1] : options.heads;
    const std::int64_t kv_heads = k_shape.size() == 4 ? k_shape[1] : options.kv_heads;
    const std::int64_t added = k_shape[k_shape.size() == 4 ? 2 : 1];
    const std::int64_t before = context.has_input(4) ? context.shape(4)[2] : 0;
    const Shape& v_shape = context.shape(2);
    const AttentionSizes sizes{q_shape[0],
                               heads,
                               kv_heads,
                               q_shape[split ? 2 : 1],
                               before + added,
                               split ? q_shape[3] : q_shape[2] / heads,
                               v_shape.size() == 4 ? v_shape[3] : v_shape[2] / kv_heads};
    const auto operand = [&](std::size_t i, std::int64_t count, std::int64_t rows, std::int64_t size) {
      const std::span<const S> x = context.real(i);
      if (context.shape(i).size() == 4) return std::vector<S>(x.begin(), x.end());
      return split_heads(x, sizes.batch, rows, count, size, count * size, 0);
    };
    const std::vector<S> q = operand(0, heads, sizes.queries, sizes.head_size);
    std::vector<S> k = operand(1, kv_heads, added, sizes.head_size);
    std::vector<S> v = operand(2, kv_heads, added, sizes.value_size);
    if (context.has_input(4)) {
      k = appended<S>(context.real(4), k, sizes.batch * kv_heads, before, added, sizes.head_size);
      v = appended<S>(context.real(5), v, sizes.batch * kv_heads, before, added, sizes.value_size);
    }
    for (const auto& [output, cache] : {std::pair{1u, &k}, {2u, &v}})
      if (context.wants_output(output))
        std::copy(cache->begin(), cache->end(), context.real_output(output).begin());

    AttentionRules<S> rules;
    rules.scale = options.scale;
    rules.softcap = options.softcap;
    const std::span<const std::int64_t> valid = context.has_input(6)
                                                    ? context.tensor(6).template values<std::int64_t>()
                                                    : std::span<const std::int64_t>();
    rules.range = [&](std::int64_t b, std::int64_t s) {
      const std::int64_t count =
          valid.empty() ? sizes.keys
                        : std::clamp<std::int64_t>(valid[static_cast<std::size_t>(b)], 0, sizes.keys);
      const std::int64_t at = s + (valid.empty() ? before : count - sizes.queries);
      std::int64_t first = 0;
      std::int64_t end = count;
      if (options.causal) end = std::min(end, at + 1);
      if (options.right >= 0 && options.right < sizes.keys) end = std::min(end, at + options.right + 1);
      if (options.left >= 0 && options.left < sizes.keys + sizes.queries)
        first = std::max(first, at - options.left);
      end = std::max<std::int64_t>(end, 0);
      return std::pair(std::min(first, end), end);
    };
    std::optional<Mask<S>> mask;
    if (context.has_input(3)) {
      mask.emplace(context, sizes);
      rules.left_out = [&](const ScorePlace& place) { return mask->leaves_out(place); };
      if (mask->adds()) rules.bias = [&](const ScorePlace& place) { return mask->at(place); };
    }
    if (context.wants_output(3)) {
      rules.kept = context.real_output(3);
      rules.kept_scores = options.kept;
    }
    const std::span<S> y = context.real_output(0);
    if (!split) {
      attend<S>(context, sizes, rules, q, k, v, y);
      return {};
    }
    std::vector<S> by_position(y.size());
    attend<S>(context, sizes, rules, q, k, v, by_position);
    const std::vector<S> by_head = split_heads<S>(by_position, sizes.batch, sizes.queries, heads,
                                                  sizes.value_size, heads * sizes.value_size, 0);
    std::copy(by_head.begin(), by_head.end(), y.begin());
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Attention>(
      {.op_type = "Attention", .since = 23, .inputs = {3, 7}, .outputs = {1, 4}, .infer = infer}));
}

}  // namespace driftscope::ops::attention
