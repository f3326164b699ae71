// Doubles as JSON numbers: JSON knows neither infinity nor NaN. Clients: the JSON writers.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace driftscope {

/// Infinities become the largest double of that sign, NaN null.
[[nodiscard]] inline nlohmann::ordered_json json_number(double x) {
  if (std::isnan(x)) return nullptr;
  if (std::isinf(x)) return std::copysign(std::numeric_limits<double>::max(), x);
  return x;
}

}  // namespace driftscope
