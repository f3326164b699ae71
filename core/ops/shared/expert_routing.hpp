// Which experts each token of a MoE or QMoE goes to, and with what weight. Client: the operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/log_softmax.hpp"
#include "core/ops/shared/moe.hpp"

namespace driftscope {

/// A token that an expert works on.
template <class S>
struct ExpertRoute {
  std::int64_t token;
  S weight;
};

template <class S>
struct ExpertRouting {
  std::vector<std::vector<ExpertRoute<S>>> by_expert;  ///< tokens ascending
  std::vector<std::int64_t> open;  ///< tokens for which errors leave open which experts are chosen
};

/// A Bounded quotient is written x · (1/Σ), as in Softmax. Zeros stay.
template <class S>
void divide_by_sum(std::span<S> lane) {
  const S sum = reduce_sum(std::span<const S>(lane));
  if (math::value(sum) == 0 && !math::has_error(std::span(&sum, 1)))
    return std::fill(lane.begin(), lane.end(), S(0));
  if constexpr (std::is_same_v<S, Bounded>) {
    const Bounded reciprocal = Bounded(1.0) / sum;
    for (S& x : lane) x = x * reciprocal;
  } else {
    for (S& x : lane) x = x / sum;
  }
}

template <class S>
void softmax_of_experts(std::span<S> lane) {
  const S largest = largest_of<S>(lane);
  for (S& x : lane) x = math::exp(x - largest);
  divide_by_sum(lane);
}

/// Whether an expert of the first k may have to give way to one behind them. Equal logits cannot change
/// places, and it does not matter among experts that add nothing.
[[nodiscard]] inline bool may_change_places(std::span<const Bounded> logits, std::span<const Bounded> scores,
                                            std::span<const std::size_t> order, std::size_t k) {
  constexpr double nothing = 0x1p-100;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = k; j < order.size(); ++j) {
      const std::size_t a = order[i];
      const std::size_t b = order[j];
      if (logits[a].worst == 0.0 && logits[b].worst == 0.0 && logits[a].value == logits[b].value) continue;
      if (scores.data() != logits.data() && scores[a].value + scores[a].worst <= nothing) continue;
      if (!(scores[a].value - scores[b].value > scores[a].worst + scores[b].worst)) return true;
    }
  return false;
}

template <class S>
[[nodiscard]] ExpertRouting<S> route_to_experts(const KernelContext<S>& context,
                                                const ExpertOptions& options) {
  const bool quantized = has_packed_experts(context.node());
  const auto experts = static_cast<std::size_t>(context.shape(1)[1]);
  const auto k = static_cast<std::size_t>(options.k);
  const std::span<const S> logits = context.real(1);
  const std::span<const S> given =
      quantized && context.has_input(mixing_weights) ? context.real(mixing_weights) : std::span<const S>();
  ExpertRouting<S> routing;
  routing.by_expert.resize(experts);
  std::vector<std::size_t> order(experts);
  std::vector<S> chosen(k);
  for (std::size_t first = 0; first < logits.size(); first += experts) {
    const auto lane = logits.subspan(first, experts);
    const auto token = static_cast<std::int64_t>(first / experts);
    std::vector<S> probabilities;
    if (!quantized) {
      probabilities.assign(lane.begin(), lane.end());
      softmax_of_experts(std::span<S>(probabilities));
    }
    const std::span<const S> scores = quantized ? lane : std::span<const S>(probabilities);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        if (ordered_before(scores[b], scores[a])) return true;
                        return !ordered_before(scores[a], scores[b]) && a > b;
                      });
    for (std::size_t j = 0; j < k; ++j)
      chosen[j] = given.empty() ? scores[order[j]] : given[first + order[j]];
    if (quantized && given.empty())
      softmax_of_experts(std::span<S>(chosen));
    else if (options.normalize)
      divide_by_sum(std::span<S>(chosen));
    const double least = least_expert_weight(context.node());
    for (std::size_t j = 0; j < k; ++j) {
      double largest = math::to_double(chosen[j]);
      if constexpr (std::is_same_v<S, Bounded>) largest += chosen[j].worst;
      if (largest > least) routing.by_expert[order[j]].push_back({token, chosen[j]});
    }
    if constexpr (std::is_same_v<S, Bounded>)
      if (may_change_places(lane, scores, order, k)) routing.open.push_back(token);
  }
  return routing;
}

/// With errors, an expert that may be left out adds its share or 0.
[[nodiscard]] inline Bounded expert_share(const Bounded& weight, const Bounded& x, double least) {
  Bounded share = weight * x;
  if (!(std::fabs(weight.value - least) <= weight.worst)) return share;
  const double size = std::fabs(share.value);
  if (weight.value <= least) share.value = 0.0;
  return {share.value, share.worst + size, share.likely + size, share.systematic + size};
}

}  // namespace driftscope
