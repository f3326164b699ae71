// Two tensors and their difference in cells: the plane that holds the largest difference. Client: the report.
// The tensor view lets its user choose the plane.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/draw/heat_map.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Most cells in each direction.
inline constexpr std::int64_t max_difference_cells = 96;

struct DifferenceMap {
  Cells left;
  Cells right;
  Cells difference;   ///< right − left; not finite where one side is not
  std::string plane;  ///< "channel 5 of 16", "batch 2 of 8, 32 in a row", "all elements, 12 in a row"; "" for
                      ///< a plain matrix
  double low = 0.0;   ///< of left and right together
  double high = 0.0;
  double largest = 0.0;             ///< |difference| of the finite ones
  std::int64_t not_finite = 0;      ///< elements of the plane that are NaN or infinite on a side
  std::vector<std::int64_t> worst;  ///< index of the largest difference in the tensor
  double worst_left = 0.0;
  double worst_right = 0.0;
};

/// Nothing for tensors of different shape or dtype, without elements, or of types that are not numbers.
[[nodiscard]] std::optional<DifferenceMap> difference_map(const Tensor& left, const Tensor& right);

}  // namespace driftscope
