// Scaled dot-product attention, head by head: softmax(softcap(scale · Q·Kᵀ) + bias) · V, with keys left out
// by a mask. Scores are held for one query at a time. Clients: GroupQueryAttention, MultiHeadAttention,
// Attention, QAttention.
//
// Strict definition (float): a score is one accumulator from +0 over the head's elements, ascending, times
// scale; softcap · tanh(score / softcap); + bias; e^(score − largest) by strict_exp, their sum by reduce_sum
// over the keys that are not left out, a division each; outputs are one accumulator from +0, keys ascending.
// The bound covers factors that are scaled before the product, sums that are divided at the end, and softmax
// block by block (flash attention).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/numerics/dot.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/head_options.hpp"
#include "core/ops/shared/log_softmax.hpp"

namespace driftscope {

/// Where a score belongs.
struct ScorePlace {
  std::int64_t batch, head, query, key;
};

template <class S>
struct AttentionRules {
  std::optional<float> scale = {};  ///< default 1/√(head size)
  float softcap = 0.0f;             ///< 0: none
  /// The keys [first, end) that a query looks at.
  std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t batch, std::int64_t query)> range = {};
  std::function<bool(const ScorePlace&)> left_out = {};  ///< of those; null: none
  std::function<S(const ScorePlace&)> bias = {};         ///< null: none
  std::function<S(std::int64_t head)> sink = {};         ///< one more score, without a value; null: none
  /// [batch, heads, queries, keys], empty: not asked for. Of a key that is left out, `biased` is −∞ (runtimes
  /// also take the lowest number: anything is within the bound) and `weights` 0.
  std::span<S> kept = {};
  KeptScores kept_scores = KeptScores::products;
};

namespace attention_parts {

template <class S>
[[nodiscard]] S softcapped(const S& score, float softcap) {
  if (softcap == 0.0f) return score;
  const S cap = math::given<S>(softcap);
  S result = cap * math::tanh(score / cap);
  if constexpr (std::is_same_v<S, Bounded>) result = math::round_more(result, 1);
  return result;
}

// What is kept of a key that is left out.
template <class S>
[[nodiscard]] S left_out_score(KeptScores kept) {
  if (kept != KeptScores::biased) return S(0);
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if constexpr (std::is_same_v<S, Bounded>)
    return {-infinity, infinity, infinity};
  else
    return static_cast<S>(-infinity);
}

// Scores → weights, in place.
template <class S>
void softmax(std::vector<S>& lane, const S* sink) {
  S largest = largest_of<S>(lane);
  if (sink != nullptr) largest = math::max(largest, *sink);
  for (S& x : lane) x = math::exp(x - largest);
  S sum = reduce_sum(std::span<const S>(lane));
  if (sink != nullptr) sum = sum + math::exp(*sink - largest);
  if constexpr (std::is_same_v<S, Bounded>) {
    const Bounded reciprocal = Bounded(1.0) / sum;
    // Block by block a weight is a product of powers, rescaled.
    for (S& x : lane) {
      x = math::round_more(x * reciprocal, 8);
      // A weight lies in [0, 1] whatever the errors of the scores.
      const double room = std::fmax(x.value, 1.0 - x.value) + 0x1p-20;
      const auto cap = [&](double& bound) {
        bound = std::isnan(x.value) ? bound : bound < room ? bound : room;
      };
      cap(x.worst);
      cap(x.likely);
      cap(x.systematic);
    }
  } else {
    for (S& x : lane) x = x / sum;
  }
}

}  // namespace attention_parts

/// The same bits on the kernels of an engine; false where it has none or they would differ.
[[nodiscard]] bool attend_with_float_kernels(const KernelThreads& context, const AttentionSizes& sizes,
                                             const AttentionRules<float>& rules, float scale,
                                             std::span<const float> q, std::span<const float> k,
                                             std::span<const float> v, std::span<float> out);

/// q [batch, heads, queries, head_size], k [batch, kv_heads, keys, head_size], v [batch, kv_heads, keys,
/// value_size] → out [batch, queries, heads, value_size]. A query that looks at no key has zeros.
template <class S>
void attend(const KernelThreads& context, const AttentionSizes& sizes, const AttentionRules<S>& rules,
            std::span<const S> q, std::span<const S> k, std::span<const S> v, std::span<S> out) {
  if (out.empty() && rules.kept.empty()) return;
  const S scale = rules.scale
                      ? math::given<S>(*rules.scale)
                      : math::rounded_constant<S>(1.0 / std::sqrt(static_cast<double>(sizes.head_size)));
  if constexpr (std::is_same_v<S, float>)
    if (attend_with_float_kernels(context, sizes, rules, scale, q, k, v, out)) return;
  const std::int64_t shared = sizes.heads / sizes.kv_heads;
  with_dot_elements<S>(q, k, [&]<class Sums>(const auto* queries, const auto* keys) {
    using Element = typename Sums::Element;
    using Weighted = std::conditional_t<std::is_same_v<S, Bounded>, BoundedSums, PlainSums<S>>;
    context.parallel_for(sizes.batch * sizes.heads, 1, [&](std::int64_t begin, std::int64_t end) {
      Sums scores(sizes.keys);
      Weighted sums(sizes.value_size);
      std::vector<Element> turned(static_cast<std::size_t>(sizes.keys * sizes.head_size));
      std::vector<S> lane;
      std::vector<std::int64_t> places;
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t b = item / sizes.heads;
        const std::int64_t h = item % sizes.heads;
        const std::int64_t pair = b * sizes.kv_heads + h / shared;
        const Element* const own_keys = keys + pair * sizes.keys * sizes.head_size;
        for (std::int64_t t = 0; t < sizes.keys; ++t)
          for (std::int64_t d = 0; d < sizes.head_size; ++d)
            turned[static_cast<std::size_t>(d * sizes.keys + t)] = own_keys[t * sizes.head_size + d];
        const S* const values = v.data() + pair * sizes.keys * sizes.value_size;
        const S sink = rules.sink ? rules.sink(h) : S(0);
        for (std::int64_t s = 0; s < sizes.queries; ++s) {
          const auto [first, last] = rules.range ? rules.range(b, s) : std::pair(std::int64_t{0}, sizes.keys);
          scores.clear();
          S* const kept =
              rules.kept.empty() ? nullptr : rules.kept.data() + (item * sizes.queries + s) * sizes.keys;
          const bool keeps_all = kept != nullptr && (rules.kept_scores == KeptScores::products ||
                                                     rules.kept_scores == KeptScores::softcapped);
          const std::int64_t from = keeps_all ? 0 : first;
          const std::int64_t end_at = keeps_all ? sizes.keys : last;
          if constexpr (std::is_same_v<S, Bounded>)
            for (std::int64_t t = from; t < end_at; ++t) {
              scores.round_once_more(t);
              scores.round_once_more(t);
            }
          const Element* const row = queries + (item * sizes.queries + s) * sizes.head_size;
          for (std::int64_t d = 0; d < sizes.head_size; ++d)
            scores.add_products(from, end_at, row[d], turned.data() + d * sizes.keys + from, 1);
          if (kept != nullptr)
            for (std::int64_t t = 0; t < sizes.keys; ++t) {
              if (!keeps_all) {
                kept[t] = attention_parts::left_out_score<S>(rules.kept_scores);
                continue;
              }
              kept[t] = scores.result(t, sizes.head_size) * scale;
              if (rules.kept_scores == KeptScores::softcapped)
                kept[t] = attention_parts::softcapped<S>(kept[t], rules.softcap);
            }
          lane.clear();
          places.clear();
          for (std::int64_t t = first; t < last; ++t) {
            const ScorePlace place{b, h, s, t};
            if (rules.left_out && rules.left_out(place)) continue;
            S score =
                attention_parts::softcapped<S>(scores.result(t, sizes.head_size) * scale, rules.softcap);
            if (rules.bias) score = score + rules.bias(place);
            if (kept != nullptr && rules.kept_scores == KeptScores::biased) kept[t] = score;
            lane.push_back(score);
            places.push_back(t);
          }
          S* const to = out.data() + ((b * sizes.queries + s) * sizes.heads + h) * sizes.value_size;
          sums.clear();
          if (!lane.empty()) attention_parts::softmax<S>(lane, rules.sink ? &sink : nullptr);
          if (kept != nullptr && rules.kept_scores == KeptScores::weights)
            for (std::size_t i = 0; i < lane.size(); ++i) kept[places[i]] = lane[i];
          for (std::size_t i = 0; i < lane.size(); ++i)
            sums.add_products(0, sizes.value_size, lane[i], values + places[i] * sizes.value_size, 1);
          for (std::int64_t d = 0; d < sizes.value_size; ++d)
            to[d] = sums.result(d, static_cast<std::int64_t>(lane.size()));
        }
      }
    });
  });
}

/// The elements of [batch, sequence, heads × size], of which each position holds `width` elements and the
/// heads begin at `offset`, as [batch, heads, sequence, size].
template <class S>
[[nodiscard]] std::vector<S> split_heads(std::span<const S> x, std::int64_t batch, std::int64_t sequence,
                                         std::int64_t heads, std::int64_t size, std::int64_t width,
                                         std::int64_t offset) {
  std::vector<S> result(static_cast<std::size_t>(batch * heads * sequence * size));
  std::size_t to = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t s = 0; s < sequence; ++s)
        for (std::int64_t d = 0; d < size; ++d)
          result[to++] = x[static_cast<std::size_t>((b * sequence + s) * width + offset + h * size + d)];
  return result;
}

/// past [groups, before, size] and then more [groups, added, size], as [groups, before + added, size].
template <class S>
[[nodiscard]] std::vector<S> appended(std::span<const S> past, std::span<const S> more, std::int64_t groups,
                                      std::int64_t before, std::int64_t added, std::int64_t size) {
  std::vector<S> result;
  result.reserve(past.size() + more.size());
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto put = [&](std::span<const S> from, std::int64_t rows) {
      const auto part =
          from.subspan(static_cast<std::size_t>(g * rows * size), static_cast<std::size_t>(rows * size));
      result.insert(result.end(), part.begin(), part.end());
    };
    put(past, before);
    put(more, added);
  }
  return result;
}

}  // namespace driftscope
