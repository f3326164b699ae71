// Element types of ONNX tensors, with the numbers of TensorProto.DataType (ONNX IR specification).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace driftscope {

enum class DType : std::uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  uint4 = 21,
  int4 = 22,
};

/// Bits that one element takes in a packed buffer: 4 for the 4-bit types, 8 for boolean, 0 for
/// string and undefined.
[[nodiscard]] int bits_per_element(DType dtype);

/// "float32", "int64", …: the names users read; "undefined" for numbers unknown here.
[[nodiscard]] std::string_view dtype_name(DType dtype);

/// The type of this ONNX number, when it is one of the above.
[[nodiscard]] std::optional<DType> dtype_from_onnx(std::int64_t number);

[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

/// Of any width; bool is not an integer.
[[nodiscard]] constexpr bool is_integer(DType dtype) {
  return !is_floating(dtype) && dtype != DType::boolean && dtype != DType::string &&
         dtype != DType::undefined && dtype != DType::complex64 && dtype != DType::complex128;
}

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
