// com.microsoft MoE and QMoE, a mixture of experts. Each row x of the input goes through the k experts that
// its logits (router_probs) choose: y = Σ wₑ · (fc2ₑ · act(fc1ₑ · x + b1ₑ) + b2ₑ). An expert's matrices are
// [outputs, inputs]; in QMoE of 2, 4 or 8 bits, (q − zero point) · scale by row, or by block of a row.
// - MoE: wₑ is the softmax over all logits; the k largest, with normalize_routing_weights over their sum.
// - QMoE: the k largest logits; wₑ is the softmax over these, or what router_weights has at their places,
//   with normalize_routing_weights over their sum.
// Of equals the expert with the higher number comes first. An expert with wₑ ≤ 0 (QMoE: 10⁻⁸) is left out, as
// ONNX Runtime's CPU kernels do.
// With a gate (swiglu, geglu, silu with fc3) act is f(g) · l: g and l are rows of fc1, in turn (swiglu_fusion
// 1) or one half after the other (2), else l is fc3 · x + b3.
//
// Strict definition (float): softmax as Softmax has it; products that of weight_product.hpp; experts in
// ascending order. The bound covers other orders, and experts that one runtime may leave out. Where errors
// leave open which experts are chosen it is infinite.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/ops/shared/activation.hpp"
#include "core/ops/shared/expert_routing.hpp"
#include "core/ops/shared/expert_weights.hpp"
#include "core/ops/shared/gelu.hpp"

namespace driftscope::ops::moe {

template <class S>
S activated(const ExpertOptions& options, S x) {
  switch (options.function) {
    case ExpertFunction::identity: return x;
    case ExpertFunction::relu: return at_least_zero(x);
    case ExpertFunction::relu2: return at_least_zero(x) * at_least_zero(x);
    case ExpertFunction::gelu:
    case ExpertFunction::geglu: return (S(0.5F) * x) * (S(1) + math::tanh(gelu_cubic(x)));
    case ExpertFunction::silu: return x * math::sigmoid(x);
    case ExpertFunction::swiglu: break;
  }
  const S limit = math::exact<S>(static_cast<double>(options.limit));
  const bool limited = std::isfinite(options.limit);
  if (limited && !options.limits_result) x = math::min(x, limit);
  const S y = x * math::sigmoid(math::given<S>(options.alpha) * x);
  return limited && options.limits_result ? math::min(y, limit) : y;
}

// l of f(g) · l.
template <class S>
S linear(const ExpertOptions& options, S x) {
  if (options.function != ExpertFunction::swiglu) return x;
  if (std::isfinite(options.limit)) {
    const S limit = math::exact<S>(static_cast<double>(options.limit));
    x = math::max(math::min(x, limit), -limit);
  }
  return x + math::given<S>(options.beta);
}

// [rows, inner] of the numbers of fc1, [rows, inner] or [rows, 2 · inner], and of fc3, if any.
template <class S>
std::vector<S> activations(const ExpertOptions& options, std::span<const S> first, std::span<const S> third,
                           std::size_t inner, std::size_t rows) {
  std::vector<S> result(rows * inner);
  const bool fused = options.width() == 2;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < inner; ++i) {
      const std::size_t at = row * inner + i;
      if (!fused) {
        const S y = activated(options, first[at]);
        result[at] = third.empty() ? y : y * linear(options, third[at]);
      } else {
        const S* pair = first.data() + 2 * row * inner;
        const bool in_turn = options.fusion == 1;
        result[at] = activated(options, pair[in_turn ? 2 * i : i]) *
                     linear(options, pair[in_turn ? 2 * i + 1 : inner + i]);
      }
    }
  return result;
}

constexpr std::size_t rows_at_once = 64;

struct Experts {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const ExpertOptions options, read_expert_options(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::span<const S> x = context.real(0);
    const ExpertMatrix& second = expert_matrix(context.node(), 1);
    const std::int64_t hidden = context.shape(0).back();
    const std::int64_t inner =
        context.shape(second.weights)[2] * (options.bits[1] == 0 ? 1 : 8 / options.bits[1]);
    const std::int64_t wide = options.width() * inner;
    const ExpertWeights<S> fc1(context, options, 0, wide, hidden);
    const ExpertWeights<S> fc2(context, options, 1, hidden, inner);
    std::optional<ExpertWeights<S>> fc3;
    if (context.has_input(expert_matrix(context.node(), 2).weights))
      fc3.emplace(context, options, 2, inner, hidden);
    const ExpertRouting<S> routing = route_to_experts(context, options);
    const double least = least_expert_weight(context.node());
    std::vector<double> sizes;  // Σ of the shares' sizes
    if constexpr (std::is_same_v<S, Bounded>) sizes.resize(y.size());
    std::fill(y.begin(), y.end(), S(0));
    const auto width = static_cast<std::size_t>(hidden);
    for (std::size_t expert = 0; expert < routing.by_expert.size(); ++expert) {
      const std::vector<ExpertRoute<S>>& routes = routing.by_expert[expert];
      for (std::size_t begin = 0; begin < routes.size(); begin += rows_at_once) {
        const std::size_t rows = std::min(rows_at_once, routes.size() - begin);
        const auto number = static_cast<std::int64_t>(expert);
        const auto product = [&](const ExpertWeights<S>& fc, std::vector<S> a, std::int64_t columns) {
          std::vector<S> made(rows * static_cast<std::size_t>(columns));
          fc.multiply(context, number, a, made);
          return made;
        };
        std::vector<S> own(rows * width);
        for (std::size_t row = 0; row < rows; ++row)
          std::copy_n(x.data() + routes[begin + row].token * hidden, width, own.data() + row * width);
        const std::vector<S> first = product(fc1, own, wide);
        const std::vector<S> third = fc3 ? product(*fc3, own, inner) : std::vector<S>();
        const std::vector<S> made = product(
            fc2, activations<S>(options, first, third, static_cast<std::size_t>(inner), rows), hidden);
        for (std::size_t row = 0; row < rows; ++row) {
          const ExpertRoute<S>& to = routes[begin + row];
          for (std::size_t j = 0; j < width; ++j) {
            const std::size_t at = static_cast<std::size_t>(to.token) * width + j;
            if constexpr (std::is_same_v<S, Bounded>) {
              const Bounded share = expert_share(to.weight, made[row * width + j], least);
              sizes[at] += std::fabs(share.value);
              y[at] = y[at] + share;
            } else {
              y[at] = y[at] + to.weight * made[row * width + j];
            }
          }
        }
      }
    }
    if constexpr (std::is_same_v<S, Bounded>) {
      // In another order the sums between may be larger.
      const double unit = current_error_model().unit_roundoff * static_cast<double>(options.k - 1);
      for (std::size_t i = 0; i < y.size(); ++i)
        if (const double more = unit * sizes[i]; std::isfinite(more))
          y[i] = {y[i].value, y[i].worst + more, y[i].likely + more, y[i].systematic + more};
      constexpr double anything = std::numeric_limits<double>::infinity();
      for (const std::int64_t token : routing.open)
        for (Bounded& to : y.subspan(static_cast<std::size_t>(token) * width, width))
          to = {to.value, anything, anything};
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const auto& [op_type, inputs] : {std::pair("MoE", Count{3, 8}), std::pair("QMoE", Count{3, 21})})
    table.add(with_kernels<Experts>({.op_type = op_type,
                                     .domain = microsoft_domain,
                                     .inputs = inputs,
                                     .outputs = {1, 1},
                                     .infer = infer_experts}));
}

}  // namespace driftscope::ops::moe
