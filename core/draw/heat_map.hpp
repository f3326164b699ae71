// A plane of values as pixels: one for each element, or for each block of a large plane. Clients: the tensor
// view, exports, the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/function_ref.hpp"
#include "core/draw/colour.hpp"
#include "core/draw/tensor_slice.hpp"

namespace driftscope {

/// Rows from the top.
struct Image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<Colour> pixels;
};

struct ValueRange {
  double low = 0.0;
  double high = 0.0;
  std::int64_t finite = 0;
  std::int64_t nan = 0;
  std::int64_t inf = 0;
};
/// Of the finite values; {0, 0} when there are none.
[[nodiscard]] ValueRange range_of(std::span<const double> values);
[[nodiscard]] ValueRange joined(const ValueRange& a, const ValueRange& b);

/// What is left of a block of elements: a single wrong difference must not vanish in it.
enum class BlockValue {
  mean,     ///< of the finite values; one that is not finite where there are no others
  furthest  ///< from zero; what is not finite is further than all
};

/// A plane in cells, row by row.
struct Cells {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t block_width = 1;  ///< elements that a cell stands for
  std::int64_t block_height = 1;
  std::vector<double> values;
  std::vector<bool> gaps;  ///< cells without elements: between tiles, behind the end of a wrapped vector
};
/// At most `max_side` cells in each direction. `values`: of the whole tensor.
[[nodiscard]] Cells cells_of(std::span<const double> values, const PlaneLayout& layout, BlockValue block,
                             std::int64_t max_side = 4096);
/// The same of a tensor that is read in place: element i is `value_at(i)`.
[[nodiscard]] Cells cells_of(std::size_t elements, FunctionRef<double(std::size_t)> value_at,
                             const PlaneLayout& layout, BlockValue block, std::int64_t max_side = 4096);

enum class ColourMap { sequential, diverging };

/// `low` to `high` over the map (the diverging one is symmetric about zero, with the larger magnitude);
/// NaN and infinities have colours of their own; gaps are transparent. An empty range shows as one colour. No
/// more than 256 colours in all, as many as an indexed picture has.
[[nodiscard]] Image heat_map(const Cells& cells, double low, double high, ColourMap map);

/// right − left; 0 where both are NaN or the same infinity. Between finite numbers it is finite: at most the
/// largest double.
[[nodiscard]] double difference_of(double left, double right);
/// By element.
[[nodiscard]] std::vector<double> differences(std::span<const double> left, std::span<const double> right);

}  // namespace driftscope
