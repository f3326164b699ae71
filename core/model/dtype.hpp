// Element types of ONNX tensors, with the numbers of TensorProto.DataType (ONNX IR specification).
// Clients: everything that has tensors. What an element's bits mean is in element.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace driftscope {

/// The only list of them: ROW(name, number in ONNX, kind, the name users read, how an element is stored).
/// The last is a type of element.hpp, which also has the visitors.
#define DRIFTSCOPE_ELEMENT_TYPES(ROW)                                                        \
  ROW(float32, 1, floating, "float32", element::Number<float>)                               \
  ROW(uint8, 2, integer, "uint8", element::Number<std::uint8_t>)                             \
  ROW(int8, 3, integer, "int8", element::Number<std::int8_t>)                                \
  ROW(uint16, 4, integer, "uint16", element::Number<std::uint16_t>)                          \
  ROW(int16, 5, integer, "int16", element::Number<std::int16_t>)                             \
  ROW(int32, 6, integer, "int32", element::Number<std::int32_t>)                             \
  ROW(int64, 7, integer, "int64", element::Number<std::int64_t>)                             \
  ROW(string, 8, text, "string", element::Unsized)                                           \
  ROW(boolean, 9, boolean, "bool", element::Number<std::uint8_t>)                            \
  ROW(float16, 10, floating, "float16", element::SmallNumber<10, 5>)                         \
  ROW(float64, 11, floating, "float64", element::Number<double>)                             \
  ROW(uint32, 12, integer, "uint32", element::Number<std::uint32_t>)                         \
  ROW(uint64, 13, integer, "uint64", element::Number<std::uint64_t>)                         \
  ROW(complex64, 14, complex, "complex64", element::ComplexNumber<float>)                    \
  ROW(complex128, 15, complex, "complex128", element::ComplexNumber<double>)                 \
  ROW(bfloat16, 16, floating, "bfloat16", element::SmallNumber<7, 8>)                        \
  ROW(float8e4m3fn, 17, minifloat, "float8e4m3fn", element::Tiny<float8e4m3fn_format>)       \
  ROW(float8e4m3fnuz, 18, minifloat, "float8e4m3fnuz", element::Tiny<float8e4m3fnuz_format>) \
  ROW(float8e5m2, 19, minifloat, "float8e5m2", element::Tiny<float8e5m2_format>)             \
  ROW(float8e5m2fnuz, 20, minifloat, "float8e5m2fnuz", element::Tiny<float8e5m2fnuz_format>) \
  ROW(uint4, 21, integer, "uint4", element::PackedInteger<std::uint8_t, 4>)                  \
  ROW(int4, 22, integer, "int4", element::PackedInteger<std::int8_t, 4>)                     \
  ROW(float4e2m1, 23, minifloat, "float4e2m1", element::Tiny<float4e2m1_format>)             \
  ROW(float8e8m0, 24, minifloat, "float8e8m0", element::Tiny<float8e8m0_format>)             \
  ROW(uint2, 25, integer, "uint2", element::PackedInteger<std::uint8_t, 2>)                  \
  ROW(int2, 26, integer, "int2", element::PackedInteger<std::int8_t, 2>)

/// Minifloats are stored, cast, quantized and moved; nothing computes in them.
enum class ElementKind : std::uint8_t { floating, minifloat, integer, boolean, complex, text };

#define DRIFTSCOPE_ROW(name, number, ...) name = number,
enum class DType : std::uint8_t { undefined = 0, DRIFTSCOPE_ELEMENT_TYPES(DRIFTSCOPE_ROW) };
#undef DRIFTSCOPE_ROW

/// Bits that one element takes in a packed buffer: fewer than 8 for the types that share bytes, 8 for
/// boolean, 0 for string and undefined.
[[nodiscard]] int bits_per_element(DType dtype);

/// "float32", "int64", …: the names users read; "undefined" for numbers unknown here.
[[nodiscard]] std::string_view dtype_name(DType dtype);

/// The type that users read as this name.
[[nodiscard]] std::optional<DType> dtype_named(std::string_view name);

/// The type of this ONNX number, when it is one of the above.
[[nodiscard]] std::optional<DType> dtype_from_onnx(std::int64_t number);

[[nodiscard]] constexpr bool is_of_kind(DType dtype, ElementKind kind) {
  switch (dtype) {
#define DRIFTSCOPE_ROW(name, number, its_kind, ...) \
  case DType::name: return ElementKind::its_kind == kind;
    DRIFTSCOPE_ELEMENT_TYPES(DRIFTSCOPE_ROW)
#undef DRIFTSCOPE_ROW
    case DType::undefined: break;
  }
  return false;
}

[[nodiscard]] constexpr bool is_floating(DType dtype) { return is_of_kind(dtype, ElementKind::floating); }

/// float8, float4: not among the floating types.
[[nodiscard]] constexpr bool is_minifloat(DType dtype) { return is_of_kind(dtype, ElementKind::minifloat); }

/// Of any width; bool is not an integer.
[[nodiscard]] constexpr bool is_integer(DType dtype) { return is_of_kind(dtype, ElementKind::integer); }

/// The DType of a C++ type: dtype_of<float>() == DType::float32.
template <class T>
[[nodiscard]] constexpr DType dtype_of() = delete;
template <>
constexpr DType dtype_of<float>() {
  return DType::float32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::float64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::uint8;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::int8;
}
template <>
constexpr DType dtype_of<std::uint16_t>() {
  return DType::uint16;
}
template <>
constexpr DType dtype_of<std::int16_t>() {
  return DType::int16;
}
template <>
constexpr DType dtype_of<std::uint32_t>() {
  return DType::uint32;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::int32;
}
template <>
constexpr DType dtype_of<std::uint64_t>() {
  return DType::uint64;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::int64;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

}  // namespace driftscope
