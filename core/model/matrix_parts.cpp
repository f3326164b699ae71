#include "core/model/matrix_parts.hpp"

#include <algorithm>

namespace driftscope {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{8} << 20;

}  // namespace

std::vector<Columns> column_parts(const WeightMatrix& matrix, std::int64_t multiple) {
  const std::int64_t columns = matrix.columns();
  if (matrix.tensor.in_memory() || matrix.tensor.elements() == 0) return {{0, columns}};
  const std::int64_t column_bytes = matrix.depth() * std::int64_t{sizeof(float)};
  const std::int64_t count = std::max<std::int64_t>(1, part_bytes / column_bytes / multiple) * multiple;
  std::vector<Columns> parts;
  for (std::int64_t begin = 0; begin < columns; begin += count)
    parts.push_back({begin, std::min(columns, begin + count)});
  return parts;
}

void copy_columns(const WeightMatrix& matrix, Columns part, std::span<float> to) {
  const auto depth = static_cast<std::size_t>(matrix.depth());
  const auto columns = static_cast<std::size_t>(matrix.columns());
  const auto begin = static_cast<std::size_t>(part.begin);
  const auto count = static_cast<std::size_t>(part.count());
  constexpr std::size_t size = sizeof(float);
  if (matrix.transposed) {
    matrix.tensor.copy_bytes(begin * depth * size, std::as_writable_bytes(to.first(count * depth)));
    return;
  }
  for (std::size_t i = 0; i < depth; ++i)
    matrix.tensor.copy_bytes((i * columns + begin) * size,
                             std::as_writable_bytes(to.subspan(i * count, count)));
}

}  // namespace driftscope
