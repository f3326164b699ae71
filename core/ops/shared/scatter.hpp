// How ScatterElements and ScatterND apply an update: replace the element, or combine
// both. Updates of one element are combined in the order of the indices; a bound covers every
// order. Clients: scatter_elements.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/eval/integers.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/move.hpp"

namespace driftscope {

enum class Reduction { none, add, mul, max, min };

[[nodiscard]] Result<Reduction> read_reduction(const Node& node);

template <class T>
[[nodiscard]] T combine(Reduction reduction, T old, T update) {
  switch (reduction) {
    case Reduction::add:
      if constexpr (std::is_integral_v<T>)
        return cut_integer<T>(widen_integer(old) + widen_integer(update));
      else
        return old + update;
    case Reduction::mul:
      if constexpr (std::is_integral_v<T>)
        return cut_integer<T>(widen_integer(old) * widen_integer(update));
      else
        return old * update;
    case Reduction::max: return math::max(old, update);
    case Reduction::min: return math::min(old, update);
    default: return update;
  }
}

/// y = data; then y[place(i)] = combine(y[place(i)], updates[i]) for every i. `context` has data as
/// input 0, updates as input 2; place gives the target of an element of updates.
template <class S, class Place>
Status scatter(KernelContext<S>& context, Reduction reduction, const Place& place) {
  constexpr std::array<std::size_t, 2> inputs = {0, 2};
  if (reduction == Reduction::none) {
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      std::copy(sources[0].begin(), sources[0].end(), target.begin());
      for (std::size_t i = 0; i < sources[1].size(); ++i)
        target[static_cast<std::size_t>(place(i))] = sources[1][i];
    });
    return {};
  }
  const auto each = [&](auto updates, auto target) {
    for (std::size_t i = 0; i < updates.size(); ++i) {
      auto& y = target[static_cast<std::size_t>(place(i))];
      y = combine(reduction, y, updates[i]);
    }
  };
  if (is_floating(context.output_dtype(0))) {
    const auto y = context.real_output(0);
    const auto updates = context.real(2);
    std::ranges::copy(context.real(0), y.begin());
    if constexpr (std::is_same_v<S, Bounded>) {
      if (reduction == Reduction::add) {
        std::unordered_map<std::int64_t, Sum<Bounded>> sums;
        for (std::size_t i = 0; i < updates.size(); ++i) {
          const std::int64_t at = place(i);
          sums.try_emplace(at, y[static_cast<std::size_t>(at)]).first->second.add(updates[i]);
        }
        for (const auto& [at, sum] : sums) y[static_cast<std::size_t>(at)] = sum.result();
        return {};
      }
    }
    each(updates, y);
    return {};
  }
  Tensor& y = context.tensor_output(0);
  std::ranges::copy(context.tensor(0).bytes(), y.mutable_bytes().begin());
  if (y.dtype() == DType::boolean) {
    // 1 + 1 stays 1: a sum is an "or", a product an "and".
    const bool either = reduction == Reduction::add || reduction == Reduction::max;
    const auto target = y.template mutable_values<std::uint8_t>();
    const auto updates = context.tensor(2).template values<std::uint8_t>();
    for (std::size_t i = 0; i < updates.size(); ++i) {
      std::uint8_t& to = target[static_cast<std::size_t>(place(i))];
      to = either ? (to | updates[i]) : (to & updates[i]);
    }
    return {};
  }
  const bool known = context.with_integer(y.dtype(), [&]<class T>() {
    each(context.tensor(2).template values<T>(), y.template mutable_values<T>());
  });
  return known ? Status() : unsupported("a reduction of elements of this type is not defined");
}

}  // namespace driftscope
