// What the bits of one element mean: how it is stored, its value as a double, and for floating types the
// nearest element to a double. Visitors choose by DType, so that nobody else lists element types.
// Clients: kernels, metrics, readers and writers of tensors. Tensors as a whole: tensor_elements.hpp.
// Lists of what one operator or file format supports are not here.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "core/base/half.hpp"
#include "core/base/minifloat.hpp"
#include "core/model/dtype.hpp"

namespace driftscope {
namespace element {

/// An unsigned word of so many bits.
template <int bits>
using Word =
    std::conditional_t<bits == 8, std::uint8_t,
                       std::conditional_t<bits == 16, std::uint16_t,
                                          std::conditional_t<bits == 32, std::uint32_t, std::uint64_t>>>;

/// A number that C++ has.
template <class T>
struct Number {
  using Stored = T;  ///< what Tensor::values has
  using Value = T;   ///< what it stands for
  static constexpr int bits = 8 * sizeof(T);
  static constexpr double to_double(T x) { return static_cast<double>(x); }
  static constexpr T nearest(double x)
    requires std::is_floating_point_v<T>
  {
    return static_cast<T>(x);
  }
  static constexpr T lowest = std::numeric_limits<T>::lowest();
  static constexpr T largest = std::numeric_limits<T>::max();
  static constexpr double smallest_normal = static_cast<double>(std::numeric_limits<T>::min());  // of floats
  static constexpr int digits = std::numeric_limits<T>::digits;  ///< whole numbers up to 2^digits are exact
  /// Of +∞ in a floating type; larger magnitudes are NaNs.
  static constexpr Word<bits> infinity_bits() {
    return std::bit_cast<Word<bits>>(std::numeric_limits<T>::infinity());
  }
};

/// A floating type of 16 bits, stored as its bits.
template <int fraction, int exponent>
struct SmallNumber {
  static constexpr SmallFloat format{fraction, exponent};
  using Stored = std::uint16_t;
  using Value = double;
  static constexpr int bits = 16;
  static double to_double(std::uint16_t x) { return widen(format, x); }
  static std::uint16_t nearest(double x) { return narrow(format, x); }
  static constexpr int digits = fraction + 1;
  static constexpr double power_of_two(int e) { return std::bit_cast<double>(std::uint64_t(1023 + e) << 52); }
  static constexpr double largest = (2.0 - power_of_two(-fraction)) * power_of_two(format.bias());
  static constexpr double lowest = -largest;
  static constexpr double smallest_normal = power_of_two(1 - format.bias());
  static constexpr std::uint16_t infinity_bits() {
    return static_cast<std::uint16_t>(((1 << exponent) - 1) << fraction);
  }
};

/// A floating type of 8 bits, or fewer that share bytes, by its bits.
template <Minifloat of>
struct Tiny {
  static constexpr Minifloat format = of;
  using Stored = std::uint8_t;  ///< if of whole bytes
  using Value = std::uint8_t;
  static constexpr int bits = (of.has_sign ? 1 : 0) + of.exponent + of.fraction;
  static double to_double(std::uint8_t x) { return widen(of, x); }
  static constexpr std::uint8_t from_bits(unsigned low) { return static_cast<std::uint8_t>(low); }
};

/// An integer of fewer than 8 bits. Several are in a byte, the first in the lowest bits (ONNX,
/// TensorProto.raw_data).
template <class T, int width>
struct PackedInteger {
  using Value = T;
  static constexpr int bits = width;
  static constexpr int digits = std::is_signed_v<T> ? width - 1 : width;
  static constexpr T largest = (1 << digits) - 1;
  static constexpr T lowest = std::is_signed_v<T> ? -largest - 1 : 0;
  static constexpr double to_double(T x) { return static_cast<double>(x); }
  static constexpr T from_bits(unsigned low) {
    return static_cast<T>(static_cast<int>(low) - (static_cast<int>(low) > largest ? 1 << width : 0));
  }
};

template <class Part>
struct ComplexNumber {
  using Stored = std::array<Part, 2>;
  static constexpr int bits = 8 * sizeof(Stored);
};

/// Of no fixed size: there are no such tensors.
struct Unsized {
  static constexpr int bits = 0;
};

}  // namespace element

/// The element of a row, with its dtype and kind: Element<DType::float16>.
template <DType>
struct Element;
#define DRIFTSCOPE_ROW(name, number, its_kind, text, ...)      \
  template <>                                                  \
  struct Element<DType::name> : __VA_ARGS__ {                  \
    static constexpr DType dtype = DType::name;                \
    static constexpr ElementKind kind = ElementKind::its_kind; \
    static constexpr bool packed = __VA_ARGS__::bits % 8 != 0; \
  };
DRIFTSCOPE_ELEMENT_TYPES(DRIFTSCOPE_ROW)
#undef DRIFTSCOPE_ROW

/// Real numbers that are computed with, of whole bytes.
template <class E>
inline constexpr bool is_plain_number =
    E::bits >= 8 && E::kind != ElementKind::complex && E::kind != ElementKind::minifloat;
template <class E>
inline constexpr bool is_number = E::bits > 0 && E::kind != ElementKind::complex;

/// Calls body.template operator()<Element<…>>() for any type; false for `undefined`. The only switch of all.
template <class Body>
constexpr bool visit_element(DType dtype, const Body& body) {
  switch (dtype) {
#define DRIFTSCOPE_ROW(name, ...) \
  case DType::name: body.template operator()<Element<DType::name>>(); return true;
    DRIFTSCOPE_ELEMENT_TYPES(DRIFTSCOPE_ROW)
#undef DRIFTSCOPE_ROW
    case DType::undefined: break;
  }
  return false;
}

/// The same for some types only; false for others, for which the body need not compile.
#define DRIFTSCOPE_VISITOR(name, condition)            \
  template <class Body>                                \
  constexpr bool name(DType dtype, const Body& body) { \
    bool visited = false;                              \
    visit_element(dtype, [&]<class E>() {              \
      if constexpr (condition) {                       \
        body.template operator()<E>();                 \
        visited = true;                                \
      }                                                \
    });                                                \
    return visited;                                    \
  }
/// Floating types, minifloats, integers of any width, and bool.
DRIFTSCOPE_VISITOR(visit_number, is_number<E>)
/// Those of Number and SmallNumber.
DRIFTSCOPE_VISITOR(visit_plain_number, is_plain_number<E>)
DRIFTSCOPE_VISITOR(visit_floating, E::kind == ElementKind::floating)
DRIFTSCOPE_VISITOR(visit_minifloat, E::kind == ElementKind::minifloat)
/// Integers of 8 bits and more.
DRIFTSCOPE_VISITOR(visit_plain_integer, E::kind == ElementKind::integer && !E::packed)
#undef DRIFTSCOPE_VISITOR

/// Whether a tensor of this type holds elements of the C++ type T: itself, or its bits.
template <class T>
[[nodiscard]] constexpr bool is_stored_as(DType dtype) {
  bool same = false;
  visit_plain_number(dtype, [&]<class E>() { same = std::is_same_v<T, typename E::Stored>; });
  return same || (std::is_same_v<T, std::uint8_t> && is_minifloat(dtype));
}

/// binary16 and bfloat16.
[[nodiscard]] constexpr bool is_narrow_floating(DType dtype) {
  bool narrow = false;
  visit_floating(dtype, [&]<class E>() { narrow = E::bits < 32; });
  return narrow;
}

}  // namespace driftscope
