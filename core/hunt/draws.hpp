// What the hunt draws by chance, the same on every host. Clients: the operators and fills of the hunt.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/base/rng.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::hunt {

/// Once in `of` times.
[[nodiscard]] inline bool happens(Rng& rng, std::uint64_t of) { return rng.below(of) == 0; }

/// In [low, high].
[[nodiscard]] inline std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

template <class T>
[[nodiscard]] T one_of(Rng& rng, std::initializer_list<T> values) {
  return values.begin()[rng.below(values.size())];
}
template <class T>
[[nodiscard]] const T& one_of(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

/// One of these, which have a `weight`: as often as that, beside the others'.
template <class T>
[[nodiscard]] const T& by_weight(Rng& rng, const std::vector<const T*>& list) {
  int sum = 0;
  for (const T* const one : list) sum += one->weight;
  auto left = static_cast<int>(rng.below(static_cast<std::uint64_t>(sum)));
  for (const T* const one : list) {
    left -= one->weight;
    if (left < 0) return *one;
  }
  return *list.back();
}

/// Of channels: 1 to 9 mostly, else beside a power of two. Kernels treat blocks of 4, 8 or 16 channels apart.
[[nodiscard]] std::int64_t draw_channels(Rng& rng);

/// Of an extent: small ones mostly, else beside a power of two up to 128.
[[nodiscard]] std::int64_t draw_extent(Rng& rng);

/// Of a long axis: beside 2,048, where whole numbers of float16 end, or beside 65,535, where dispatches of
/// GPUs end.
[[nodiscard]] std::int64_t draw_long_extent(Rng& rng);

/// Most elements of a tensor.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 16;

/// Batch, channels and extents; small where the whole would be too large. Once in 24 times one extent is
/// long.
[[nodiscard]] Shape draw_shape(Rng& rng, int rank);

/// A shape that broadcasts to `shape`: sizes become 1, leading ones are left out.
[[nodiscard]] Shape draw_broadcast(Rng& rng, const Shape& shape);

/// One of the axes, half of the time counted from the end.
[[nodiscard]] std::int64_t draw_axis(Rng& rng, std::size_t rank);

/// Some of the axes, at least one, in any order, some counted from the end.
[[nodiscard]] std::vector<std::int64_t> draw_axes(Rng& rng, std::size_t rank);

/// A divisor of `whole`.
[[nodiscard]] std::int64_t draw_divisor(Rng& rng, std::int64_t whole);

/// The numbers 0 to count − 1 in any order.
[[nodiscard]] std::vector<std::int64_t> draw_order(Rng& rng, std::size_t count);

}  // namespace driftscope::hunt
