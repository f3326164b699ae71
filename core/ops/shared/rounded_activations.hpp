// What runtimes multiply packed weights with may be rounded first: the errors of two ways to do so. Clients:
// QMoE, where verify asks for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/numerics/bounded.hpp"

namespace driftscope {

/// Each block of a row becomes int8 steps times its scale, max|a| / 127. Errors of the numbers, and of the
/// quotient in float32, may lead to another step.
inline void round_to_int8(std::span<Bounded> row, std::size_t block) {
  constexpr double quotient = 0x1p-22;
  for (std::size_t first = 0; first < row.size(); first += block) {
    const std::span<Bounded> numbers = row.subspan(first, std::min(block, row.size() - first));
    Bounded largest;
    for (const Bounded& x : numbers)
      largest = {std::fmax(largest.value, std::fabs(x.value)), std::fmax(largest.worst, x.worst),
                 std::fmax(largest.likely, x.likely)};
    if (!(largest.value > 0.0) || !std::isfinite(largest.value)) continue;
    const double scale = largest.value / 127.0;
    for (Bounded& x : numbers) {
      const double exact = x.value / scale;
      const double step = std::nearbyint(exact);
      const auto error = [&](double own, double of_largest) {
        const double relative = of_largest / largest.value + quotient;
        const double reach = own / scale + std::fabs(exact) * relative;
        const double moved =
            std::fmax(std::nearbyint(exact + reach) - step, step - std::nearbyint(exact - reach));
        return scale * (moved + std::fabs(step) * relative);
      };
      x = {step * scale, error(x.worst, largest.worst), error(x.likely, largest.likely)};
    }
  }
}

/// A block of a row of numbers that are multiplied four at a time, by bits of the weights: all sums
/// ±a ± b ± c ± d are in a table of int8 steps. Half a step for each of two bits, that count ½ and 1.
struct TableError {
  double worst = 0.0;
  double variance = 0.0;

  explicit TableError(std::span<const Bounded> block) {
    double largest = 0.0;
    for (std::size_t first = 0; first < block.size(); first += 4) {
      double sum = 0.0;
      for (const Bounded& x : block.subspan(first, std::min<std::size_t>(4, block.size() - first)))
        sum += std::fabs(x.value) + x.likely;
      largest = std::fmax(largest, sum);
    }
    const double step = largest / 127.0;
    const double tables = std::ceil(static_cast<double>(block.size()) / 4.0);
    worst = 0.75 * step * tables;
    variance = (0.25 + 1.0) / 12.0 * step * step * tables;
  }
};

}  // namespace driftscope
