// Shared by the quantized operators: where scales and zero points lie, integers of every width,
// rounding to a step. Clients: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, QLinear….
//
// Rounding is to nearest, ties to even. A Bounded quotient that may lie on either side of the
// middle between two steps has a bound that covers the possible steps; everywhere else the result must be
// exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/rounding.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

/// Integers of 4 to 32 bits that tensors are quantized to.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] std::optional<IntegerRange> quantized_range(DType dtype);

/// Every element of such a tensor.
[[nodiscard]] std::vector<std::int32_t> quantized_values(const Tensor& tensor);
/// The reverse; each value lies in the range of the tensor's type.
void store_quantized(std::span<const std::int32_t> values, Tensor& tensor);

/// One scale for the tensor, for each slice of an axis, or for each block of `block` along it:
/// element (o, a, i) of [outer, size, inner] has scale number (o·blocks + a / block)·… as index()
/// says.
struct ScaleLayout {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
  std::int64_t block = 0;  ///< 0: not blocked
  bool per_tensor = true;

  /// Elements that share a row of scales, and the stride between the scales along it.
  [[nodiscard]] std::int64_t scale_row(std::int64_t o, std::int64_t a) const {
    if (per_tensor) return 0;
    if (block == 0) return a;
    return (o * ((size + block - 1) / block) + a / block) * inner;
  }
  [[nodiscard]] std::int64_t scale_step() const { return block == 0 ? 0 : 1; }
};

/// From the attributes axis and block_size and the shape of the scale, checked against x. Names of
/// the inputs are for messages.
[[nodiscard]] Result<ScaleLayout> scale_layout(const Node& node, const Shape& x, const Shape& scale);

/// The shape rule's checks: scale (input 1) and zero point (input 2) fit x (input 0), as far as
/// known.
[[nodiscard]] Status check_scales(const InferContext& context, std::string_view x_name);

/// x / scale in the error model of the element type `dtype`; a runtime may multiply by the rounded
/// reciprocal, unless that is exact.
template <class S>
[[nodiscard]] S quotient(const S& x, const S& scale) {
  S q = x / scale;
  if constexpr (std::is_same_v<S, Bounded>) {
    int exponent = 0;
    if (scale.worst == 0.0 && std::frexp(std::fabs(scale.value), &exponent) == 0.5) {
      const double size = std::fabs(scale.value);  // exact except for the error of x
      return {q.value, x.worst / size, x.likely / size, x.systematic / size};
    }
    // Two roundings, (1 + u)² − 1, in place of one, of the exact numbers; three behind numbers with errors.
    const double u = current_error_model().unit_roundoff;
    const double reciprocal = (2.0 + u) * u * std::fabs(q.value) + reference_slack * std::fabs(q.value);
    const auto allow = [&](double& bound) {
      if (std::isfinite(reciprocal))
        bound = x.worst + scale.worst > 0.0 ? bound + reciprocal : std::fmax(bound, reciprocal);
    };
    allow(q.worst);
    allow(q.likely);
    allow(q.systematic);
  }
  return q;
}

/// saturate(round(x) + zero_point); a NaN gives the zero point.
template <class T>
[[nodiscard]] std::int32_t to_step(T x, std::int32_t zero_point, const IntegerRange& range) {
  if (x != x) return zero_point;
  const double step = static_cast<double>(std::nearbyint(x)) + static_cast<double>(zero_point);
  return static_cast<std::int32_t>(
      std::fmin(std::fmax(step, static_cast<double>(range.low)), static_cast<double>(range.high)));
}

/// The step, and for Bounded in `bound` the other possible steps. `shift`: the error of the
/// zero point itself.
template <class S>
[[nodiscard]] std::int32_t quantized(const S& x, std::int32_t zero_point, const IntegerRange& range,
                                     Bounded* bound, const Bounded& shift = Bounded()) {
  // The specification divides in float32: a quotient that float32 rounds to a tie is a tie, even
  // if its exact value is known.
  const std::int32_t step = to_step(static_cast<float>(math::value(x)), zero_point, range);
  if constexpr (std::is_same_v<S, Bounded>) {
    if (bound != nullptr) {
      const auto reach = [&](double error, double moved) {
        if (std::isnan(x.value) || !(error + moved < std::numeric_limits<double>::infinity()))
          return static_cast<double>(range.high - range.low);
        // In double the ends are rounded once more: they must not move inwards across a tie.
        const double slack = reference_slack * (std::fabs(x.value) + error);
        const double ends = error == 0.0 ? 0.0 : error + slack;
        const auto zero = static_cast<double>(zero_point);
        const auto clamped = [&](double y) {
          return std::fmin(std::fmax(y, static_cast<double>(range.low)), static_cast<double>(range.high));
        };
        const double high = clamped(std::nearbyint(x.value + ends) + zero + moved);
        const double low = clamped(std::nearbyint(x.value - ends) + zero - moved);
        return std::fmax(high - step, step - low);
      };
      *bound = Bounded(static_cast<double>(step), reach(x.worst, shift.worst), reach(x.likely, shift.likely));
    }
  }
  return step;
}

}  // namespace driftscope
