// Two tensors and their difference as pictures: the plane that holds the largest difference. Client: the
// report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Most cells of a picture in each direction; larger planes are drawn in blocks.
inline constexpr std::int64_t max_heat_cells = 96;

/// A plane of two tensors, in cells. A cell that stands for a block holds the mean of its finite values,
/// and as difference the one furthest from zero: a single wrong element must not vanish.
struct HeatMap {
  std::int64_t width = 0;  ///< cells
  std::int64_t height = 0;
  std::int64_t block_width = 1;  ///< elements that a cell stands for
  std::int64_t block_height = 1;
  std::string plane;         ///< "channel 5 of 16", "all elements, 12 in a row"; "" for a plain matrix
  std::int64_t filled = 0;   ///< number of cells, row by row, that have elements; the last row may be shorter
  std::vector<double> left;  ///< row by row; NaN for cells without finite values
  std::vector<double> right;
  std::vector<double>
      difference;    ///< right − left; NaN where one side is not finite or they are different infinities
  double low = 0.0;  ///< of left and right together
  double high = 0.0;
  double largest = 0.0;             ///< |difference|
  std::int64_t not_finite = 0;      ///< elements of the plane that are NaN or infinite on a side
  std::vector<std::int64_t> worst;  ///< index of the largest difference in the tensor
  double worst_left = 0.0;
  double worst_right = 0.0;
};

/// Nothing for tensors of different shape or dtype, without elements, or of types that are not numbers.
[[nodiscard]] std::optional<HeatMap> heat_map(const Tensor& left, const Tensor& right);

/// "data:image/bmp;base64,…" of one of the three.
[[nodiscard]] std::string values_picture(const HeatMap& map, const std::vector<double>& values);
[[nodiscard]] std::string difference_picture(const HeatMap& map);

}  // namespace driftscope
