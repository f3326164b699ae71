#include "core/hunt/draws.hpp"

#include <algorithm>
#include <numeric>

namespace driftscope::hunt {
namespace {

std::int64_t beside_power_of_two(Rng& rng, std::int64_t low, std::int64_t high) {
  const std::int64_t power = std::int64_t{1} << between(rng, low, high);  // one draw after the other
  return power + between(rng, -1, 1);
}

/// Halves the largest size until the whole is small enough.
void shrink(Shape& shape) {
  while (element_count(shape) > most_elements) {
    std::int64_t& largest = *std::ranges::max_element(shape);
    largest = (largest + 1) / 2;
  }
}

}  // namespace

std::int64_t draw_channels(Rng& rng) {
  if (!happens(rng, 4)) return between(rng, 1, 9);
  return beside_power_of_two(rng, 4, 7);
}

std::int64_t draw_extent(Rng& rng) {
  if (!happens(rng, 4)) return between(rng, 1, 13);
  return beside_power_of_two(rng, 4, 7);
}

std::int64_t draw_long_extent(Rng& rng) {
  const std::int64_t limit = one_of(rng, {2048, 4096, 65535});
  return limit + between(rng, -1, 3);
}

Shape draw_shape(Rng& rng, int rank) {
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (i == 0 && rank > 2)
      shape.push_back(happens(rng, 3) ? between(rng, 2, 3) : 1);
    else
      shape.push_back(i <= 1 ? draw_channels(rng) : draw_extent(rng));
  }
  if (rank > 0 && happens(rng, 24)) {
    const std::int64_t extent = draw_long_extent(rng);
    std::ranges::for_each(shape, [](std::int64_t& size) { size = std::min<std::int64_t>(size, 3); });
    shape[rng.below(shape.size())] = extent;
    for (std::int64_t& size : shape)
      if (element_count(shape) > 4 * most_elements && size != extent) size = 1;
    return shape;
  }
  shrink(shape);
  return shape;
}

Shape draw_broadcast(Rng& rng, const Shape& shape) {
  Shape other = shape;
  for (std::int64_t& size : other)
    if (happens(rng, 3)) size = 1;
  const auto left_out = static_cast<std::ptrdiff_t>(rng.below(other.size() + 1));
  if (happens(rng, 3)) other.erase(other.begin(), other.begin() + left_out);
  return other;
}

std::int64_t draw_axis(Rng& rng, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  const std::int64_t axis = between(rng, 0, size - 1);
  return happens(rng, 2) ? axis : axis - size;
}

std::vector<std::int64_t> draw_axes(Rng& rng, std::size_t rank) {
  std::vector<std::int64_t> axes = draw_order(rng, rank);
  axes.resize(1 + rng.below(rank));
  for (std::int64_t& axis : axes)
    if (happens(rng, 3)) axis -= static_cast<std::int64_t>(rank);
  return axes;
}

std::int64_t draw_divisor(Rng& rng, std::int64_t whole) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= whole; ++i)
    if (whole % i == 0) divisors.push_back(i);
  return one_of(rng, divisors);
}

std::vector<std::int64_t> draw_order(Rng& rng, std::size_t count) {
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace driftscope::hunt
