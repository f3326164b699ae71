#include "core/model/dtype.hpp"

#include <array>

#include "core/model/element.hpp"

namespace driftscope {
namespace {

struct Row {
  DType dtype;
  int bits;
  std::string_view name;
};

#define DRIFTSCOPE_ROW(name, number, kind, text, ...) Row{DType::name, __VA_ARGS__::bits, text},
constexpr std::array rows = {DRIFTSCOPE_ELEMENT_TYPES(DRIFTSCOPE_ROW)};
#undef DRIFTSCOPE_ROW

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

std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(std::int64_t number) {
  for (const Row& row : rows)
    if (static_cast<std::int64_t>(row.dtype) == number) return row.dtype;
  return std::nullopt;
}

}  // namespace driftscope
