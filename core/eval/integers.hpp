// Integer element types: dispatch on a DType, arithmetic that wraps around.
// Clients: kernels that also take integers. Floating types are the scalar's business.
#pragma once

#include <cstdint>
#include <limits>

#include "core/model/element.hpp"

namespace driftscope {

/// Calls body.template operator()<T>() with the C++ type of an integer dtype of 8 bits and more;
/// false for any other dtype.
template <class Body>
bool with_integer(DType dtype, const Body& body) {
  return visit_plain_integer(dtype, [&]<class E>() { body.template operator()<typename E::Stored>(); });
}

/// The same, with bool as std::uint8_t.
template <class Body>
bool with_integer_or_bool(DType dtype, const Body& body) {
  if (dtype != DType::boolean) return with_integer(dtype, body);
  body.template operator()<std::uint8_t>();
  return true;
}

/// x truncated towards zero, as a T: saturated beyond its range, 0 for NaN. (ONNX leaves both open.)
template <class T>
[[nodiscard]] constexpr T truncate_to_integer(double x) {
  // 2ⁿ is representable as a double where the largest T may not be.
  constexpr T half = std::numeric_limits<T>::max() / 2 + 1;
  constexpr double end = 2.0 * static_cast<double>(half);
  constexpr double begin = static_cast<double>(std::numeric_limits<T>::min());
  if (x != x) return T(0);
  if (x >= end) return std::numeric_limits<T>::max();
  if (x <= begin) return std::numeric_limits<T>::min();
  return static_cast<T>(x);
}
/// Whether the result is the truncated value, not saturated.
template <class T>
[[nodiscard]] constexpr bool fits_integer(double x) {
  constexpr T half = std::numeric_limits<T>::max() / 2 + 1;
  constexpr double end = 2.0 * static_cast<double>(half);
  return x > static_cast<double>(std::numeric_limits<T>::min()) - 1.0 && x < end;
}

/// + − × modulo 2ⁿ are those of uint64 cut to n bits, for signed types as well.
template <class T>
[[nodiscard]] constexpr std::uint64_t widen_integer(T x) {
  return static_cast<std::uint64_t>(x);
}
template <class T>
[[nodiscard]] constexpr T cut_integer(std::uint64_t x) {
  return static_cast<T>(x);
}

}  // namespace driftscope
