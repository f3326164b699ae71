// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/top1.hpp"

#include <cmath>
#include <span>

namespace driftscope {

std::int64_t class_count(const Shape& shape) {
  std::size_t rank = shape.size();
  while (rank > 2 && shape[rank - 1] == 1) --rank;
  return rank == 0 ? 1 : shape[rank - 1];
}

std::optional<std::vector<std::int64_t>> top1(const Tensor& answer) {
  if (answer.dtype() != DType::float32) return std::nullopt;
  std::vector<std::int64_t> best;
  if (answer.elements() == 0) return best;
  const auto classes = static_cast<std::size_t>(class_count(answer.shape()));
  const auto values = answer.values<float>();
  for (std::size_t begin = 0; begin < values.size(); begin += classes) {
    const std::span row = values.subspan(begin, classes);
    std::int64_t top = -1;
    for (std::size_t i = 0; i < classes; ++i)
      if (!std::isnan(row[i]) && (top < 0 || row[i] > row[static_cast<std::size_t>(top)]))
        top = static_cast<std::int64_t>(i);
    best.push_back(top);
  }
  return best;
}

}  // namespace driftscope
