// LinearAttention (opset 27): a state [d_k, d_v] for each head of the keys, which every step lets decay,
// corrects (delta rule) and adds k ⊗ v to, and which the queries read: o = scale · qᵀS. Queries of several
// heads may share a state.
//
// Runtimes may compute chunks of steps at once. The bound is that of the recurrence, step by step, in any
// order of its sums; with the delta rule it grows with the number of steps faster than errors do.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/eval/room.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::linear_attention {

constexpr std::array<std::string_view, 6> names = {"query", "key", "value", "past_state", "decay", "beta"};

struct Options {
  std::int64_t q_heads = 0, kv_heads = 0;
  float scale = 0.0F;
  bool decays = false, corrects = false;
};

Result<Options> read_options(const Node& node) {
  Options options;
  DRIFTSCOPE_TRY(options.q_heads, int_attribute(node, "q_num_heads", 0));
  DRIFTSCOPE_TRY(options.kv_heads, int_attribute(node, "kv_num_heads", 0));
  DRIFTSCOPE_TRY(options.scale, float_attribute(node, "scale", 0.0F));
  DRIFTSCOPE_TRY(const std::string rule, string_attribute(node, "update_rule", "gated_delta"));
  if (options.kv_heads < 1 || options.q_heads < 1 || options.q_heads % options.kv_heads != 0)
    return bad_input(fmt::format("attribute q_num_heads: expected a multiple of kv_num_heads, {}, got {}",
                                 options.kv_heads, options.q_heads));
  options.decays = rule == "gated" || rule == "gated_delta";
  options.corrects = rule == "delta" || rule == "gated_delta";
  if (!options.decays && !options.corrects && rule != "linear")
    return bad_input(
        fmt::format("attribute update_rule: expected linear, gated, delta or gated_delta, got '{}'", rule));
  return options;
}

/// The last dimension of an input [batch, steps, heads · size], divided by the heads.
Result<Dimension> size_of_head(const InferContext& context, std::size_t input, std::int64_t heads) {
  const auto& shape = context.input(input).shape;
  if (!shape || !shape->back().known()) return Dimension{};
  if (shape->back().size % heads != 0)
    return bad_input(fmt::format("{}: expected a last dimension of {} heads, got shape {}",
                                 input_label(input, names[input]), heads, shape_text(*shape)));
  return known_dimension(shape->back().size / heads);
}

/// decay and beta: [batch, steps, one of two sizes], given exactly if the rule needs them.
Status check_gate(const InferContext& context, std::size_t input, bool needed, std::int64_t one,
                  const Dimension& other) {
  const std::string label = input_label(input, names[input]);
  if (context.has_input(input) != needed)
    return bad_input(fmt::format("{}: the update_rule {}", label, needed ? "needs it" : "has none"));
  if (!needed) return {};
  DRIFTSCOPE_CHECK(expect_rank(context, input, names[input], 3, 3));
  const auto& shape = context.input(input).shape;
  if (!shape || !shape->back().known() || shape->back().size == one || !other.known() ||
      shape->back().size == other.size)
    return {};
  return bad_input(fmt::format("{}: expected a last dimension of {} or {}, got shape {}", label, one,
                               other.size, shape_text(*shape)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
  for (std::size_t i = 0; i < 3; ++i) DRIFTSCOPE_CHECK(expect_rank(context, i, names[i], 3, 3));
  DRIFTSCOPE_TRY(const Dimension keys, size_of_head(context, 1, options.kv_heads));
  DRIFTSCOPE_TRY(const Dimension values, size_of_head(context, 2, options.kv_heads));
  DRIFTSCOPE_TRY([[maybe_unused]] const Dimension queries, size_of_head(context, 0, options.q_heads));
  const Dimension all_keys = keys.known() ? known_dimension(keys.size * options.kv_heads) : Dimension{};
  DRIFTSCOPE_CHECK(check_gate(context, 4, options.decays, options.kv_heads, all_keys));
  DRIFTSCOPE_CHECK(check_gate(context, 5, options.corrects, options.kv_heads, known_dimension(1)));
  const DType dtype = context.input(0).dtype;
  TensorType output{dtype, std::nullopt};
  TensorType state{context.has_input(3) ? context.input(3).dtype : dtype, std::nullopt};
  if (const auto& query = context.input(0).shape) {
    const Dimension batch = (*query)[0];
    const Dimension steps = (*query)[1];
    if (keys.known())
      DRIFTSCOPE_CHECK(
          expect_shape(context, 0, names[0], {batch, steps, known_dimension(keys.size * options.q_heads)}));
    for (std::size_t i = 1; i < context.input_count(); ++i)
      if (i != 3) DRIFTSCOPE_CHECK(expect_shape(context, i, names[i], {batch, steps, Dimension{}}));
    state.shape = {batch, known_dimension(options.kv_heads), keys, values};
    DRIFTSCOPE_CHECK(expect_shape(context, 3, names[3], *state.shape));
    output.shape = {batch, steps,
                    values.known() ? known_dimension(values.size * options.q_heads) : Dimension{}};
  }
  std::vector<TensorType> outputs = {std::move(output), std::move(state)};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

/// All steps of one head of the keys and the heads of queries that read it.
template <class S>
class Head {
 public:
  Head(const KernelContext<S>& context, const Options& options, std::int64_t batch, std::int64_t head)
      : context_(context), options_(options), batch_(batch), head_(head) {
    steps_ = context.shape(0)[1];
    keys_ = context.shape(1)[2] / options.kv_heads;
    values_ = context.shape(2)[2] / options.kv_heads;
    const float root = 1.0F / std::sqrt(static_cast<float>(keys_));
    scale_ = math::given<S>(options.scale != 0.0F ? options.scale : root);
    if constexpr (std::is_same_v<S, Bounded>)  // rounded once where it is derived
      if (options.scale == 0.0F) scale_ = math::round_more(scale_, 1);
  }

  /// `output`: of the whole batch; `state`: of this head, the past one at first, [keys, values].
  void run(std::span<S> output, std::span<S> state) const {
    const std::int64_t readers = options_.q_heads / options_.kv_heads;
    std::vector<S> v(static_cast<std::size_t>(values_));
    for (std::int64_t step = 0; step < steps_; ++step) {
      const std::span<const S> k = part(1, step, head_, keys_);
      if (options_.decays) decay(state, step);
      std::ranges::copy(part(2, step, head_, values_), v.begin());
      if (options_.corrects) correct(v, state, k, step);
      for (std::size_t i = 0; i < k.size(); ++i)
        for (std::size_t j = 0; j < v.size(); ++j) add_product(state[i * v.size() + j], k[i], v[j]);
      for (std::int64_t reader = 0; reader < readers; ++reader)
        read(output, state, step, head_ * readers + reader);
    }
  }

 private:
  /// Row `head` of an input [batch, steps, heads · size].
  [[nodiscard]] std::span<const S> part(std::size_t input, std::int64_t step, std::int64_t head,
                                        std::int64_t size) const {
    const std::int64_t width = context_.shape(input)[2];
    return context_.real(input).subspan(
        static_cast<std::size_t>((batch_ * steps_ + step) * width + head * size),
        static_cast<std::size_t>(size));
  }

  static void add_product(S& to, const S& a, const S& b) {
    Sum<S> sum(to);
    sum.add_product(a, b);
    to = sum.result();
  }

  void decay(std::span<S> state, std::int64_t step) const {
    const bool by_key = context_.shape(4)[2] != options_.kv_heads;
    const std::span<const S> gates = part(4, step, head_, by_key ? keys_ : 1);
    const auto width = static_cast<std::size_t>(values_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(keys_); ++i) {
      const S factor = math::exp(gates[by_key ? i : 0]);
      for (S& x : state.subspan(i * width, width)) x = x * factor;
    }
  }

  /// v becomes β · (v − Sᵀk).
  void correct(std::span<S> v, std::span<const S> state, std::span<const S> k, std::int64_t step) const {
    const bool by_head = context_.shape(5)[2] != 1;
    const S beta = part(5, step, by_head ? head_ : 0, 1)[0];
    for (std::size_t j = 0; j < v.size(); ++j) {
      Sum<S> sum;
      for (std::size_t i = 0; i < k.size(); ++i) sum.add_product(state[i * v.size() + j], k[i]);
      v[j] = beta * (v[j] - sum.result());
    }
  }

  void read(std::span<S> output, std::span<const S> state, std::int64_t step, std::int64_t reader) const {
    const std::span<const S> q = part(0, step, reader, keys_);
    const auto width = static_cast<std::size_t>(values_);
    S* const to = output.data() + ((batch_ * steps_ + step) * options_.q_heads + reader) * values_;
    for (std::size_t j = 0; j < width; ++j) {
      Sum<S> sum;
      for (std::size_t i = 0; i < q.size(); ++i) sum.add_product(q[i], state[i * width + j]);
      if constexpr (std::is_same_v<S, Bounded>) sum.round_once_more();  // some scale the queries
      to[j] = scale_ * sum.result();
    }
  }

  const KernelContext<S>& context_;
  const Options& options_;
  std::int64_t batch_ = 0, head_ = 0, steps_ = 0, keys_ = 0, values_ = 0;
  S scale_{};
};

struct LinearAttention {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
    const std::int64_t batch = context.shape(0)[0];
    const Shape shape = {batch, options.kv_heads, context.shape(1)[2] / options.kv_heads,
                         context.shape(2)[2] / options.kv_heads};
    DRIFTSCOPE_CHECK(expect_room("present_state", shape, sizeof(S)));
    const std::int64_t size = shape[2] * shape[3];
    const std::span<S> output = context.real_output(0);
    std::vector<S> states(static_cast<std::size_t>(element_count(shape)));
    if (context.has_input(3)) std::ranges::copy(context.real(3), states.begin());
    context.parallel_for(batch * options.kv_heads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at)
        Head<S>(context, options, at / options.kv_heads, at % options.kv_heads)
            .run(output, std::span(states).subspan(static_cast<std::size_t>(at * size),
                                                   static_cast<std::size_t>(size)));
    });
    if (context.wants_output(1)) std::ranges::copy(states, context.real_output(1).begin());
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<LinearAttention>(
      {.op_type = "LinearAttention", .since = 27, .inputs = {3, 6}, .outputs = {1, 2}, .infer = infer}));
}

}  // namespace driftscope::ops::linear_attention
