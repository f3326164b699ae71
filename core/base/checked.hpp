// Arithmetic on sizes that reports overflow. Every size that comes from a file passes through here
// before it is multiplied or allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace driftscope {

/// a × b, or nothing when it does not fit. Negative operands are rejected: sizes are never negative.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return std::nullopt;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a + b, or nothing when it does not fit.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// The product of all dimensions (1 for a scalar), or nothing when one is negative or it does not fit.
[[nodiscard]] constexpr std::optional<std::int64_t> checked_product(
    std::span<const std::int64_t> dimensions) {
  // A zero anywhere makes the product zero, yet the others must still be valid sizes.
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t dimension : dimensions) {
    if (dimension < 0) return std::nullopt;
    if (dimension == 0) {
      empty = true;
      continue;
    }
    const auto next = checked_mul(product, dimension);
    if (!next) return std::nullopt;
    product = *next;
  }
  return empty ? 0 : product;
}

}  // namespace driftscope
