#include "core/model/dtype.hpp"

#include <array>

namespace driftscope {
namespace {

struct Row {
  DType dtype;
  int bits;
  std::string_view name;
};

constexpr std::array<Row, 18> rows = {{
    {DType::float32, 32, "float32"},
    {DType::uint8, 8, "uint8"},
    {DType::int8, 8, "int8"},
    {DType::uint16, 16, "uint16"},
    {DType::int16, 16, "int16"},
    {DType::int32, 32, "int32"},
    {DType::int64, 64, "int64"},
    {DType::string, 0, "string"},
    {DType::boolean, 8, "bool"},
    {DType::float16, 16, "float16"},
    {DType::float64, 64, "float64"},
    {DType::uint32, 32, "uint32"},
    {DType::uint64, 64, "uint64"},
    {DType::complex64, 64, "complex64"},
    {DType::complex128, 128, "complex128"},
    {DType::bfloat16, 16, "bfloat16"},
    {DType::uint4, 4, "uint4"},
    {DType::int4, 4, "int4"},
}};

const Row* find(DType dtype) {
  for (const Row& row : rows)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

}  // namespace

int bits_per_element(DType dtype) {
  const Row* row = find(dtype);
  return row == nullptr ? 0 : row->bits;
}

std::string_view dtype_name(DType dtype) {
  const Row* row = find(dtype);
  return row == nullptr ? "undefined" : row->name;
}

std::optional<DType> dtype_from_onnx(std::int64_t number) {
  for (const Row& row : rows)
    if (static_cast<std::int64_t>(row.dtype) == number) return row.dtype;
  return std::nullopt;
}

}  // namespace driftscope
