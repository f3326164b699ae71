#include "core/ops/shared/minifloats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/move.hpp"

namespace driftscope {

Result<MinifloatRounder> MinifloatRounder::make(DType dtype, const Node& node) {
  MinifloatRounder rounder;
  visit_minifloat(dtype, [&]<class E>() { rounder.format_ = E::format; });
  DRIFTSCOPE_TRY(rounder.saturate_, flag_attribute(node, "saturate", true));
  if (dtype != DType::float8e8m0) return rounder;
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(node, "round_mode", "up"));
  if (mode == "up")
    rounder.rounding_ = MinifloatRounding::up;
  else if (mode == "down")
    rounder.rounding_ = MinifloatRounding::down;
  else if (mode != "nearest")
    return bad_input(fmt::format("attribute round_mode: expected up, down or nearest, got '{}'", mode));
  return rounder;
}

Bounded MinifloatRounder::bounded(const Bounded& x) const {
  const auto made = [&](double number) { return widen(format_, bits(number)); };
  const double value = made(x.value);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto reach = [&](double error) {
    // ONNX says nothing of negative numbers without a sign.
    if (!format_.has_sign && x.value - error < 0.0) return infinity;
    if (error == 0.0) return 0.0;
    // Beyond the largest it may be infinity or NaN.
    const double below = std::fabs(value - made(x.value - error));
    const double above = std::fabs(made(x.value + error) - value);
    return std::isnan(below) || std::isnan(above) ? infinity : std::max(below, above);
  };
  return {value, reach(x.worst), reach(x.likely)};
}

void store_minifloats(std::span<const std::uint8_t> bits, Tensor& tensor) {
  if (bits_per_element(tensor.dtype()) < 8) return pack_elements(bits, tensor);
  std::ranges::copy(bits, tensor.mutable_values<std::uint8_t>().begin());
}

}  // namespace driftscope
