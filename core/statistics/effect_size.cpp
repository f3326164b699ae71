#include "core/statistics/effect_size.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace driftscope {

double vargha_delaney(std::span<const double> a, std::span<const double> b) {
  assert(!a.empty() && !b.empty());
  std::vector<double> ascending(b.begin(), b.end());
  std::ranges::sort(ascending);
  double twice = 0.0;  // whole numbers, exact below 2⁵³
  for (const double value : a) {
    const auto equal = std::ranges::equal_range(ascending, value);
    twice += 2.0 * static_cast<double>(equal.begin() - ascending.begin()) + static_cast<double>(equal.size());
  }
  return twice / (2.0 * static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

double paired_vargha_delaney(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  double twice = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) twice += a[i] > b[i] ? 2.0 : a[i] == b[i] ? 1.0 : 0.0;
  return twice / (2.0 * static_cast<double>(a.size()));
}

std::string_view vargha_delaney_size(double a) {
  const double away = std::max(a, 1 - a) + 1e-12;  // 0.56 itself is small, also as 1 − 0.44
  if (away < 0.56) return "negligible";
  if (away < 0.64) return "small";
  return away < 0.71 ? "medium" : "large";
}

}  // namespace driftscope
