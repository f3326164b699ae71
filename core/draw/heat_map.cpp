#include "core/draw/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/draw/colour_map.hpp"

namespace driftscope {
namespace {

/// The colours of values, from a table: three interpolations per value would take too long.
class Colours {
 public:
  Colours(double low, double high, ColourMap map) {
    const double largest = std::max(std::abs(low), std::abs(high));
    low_ = map == ColourMap::diverging ? -largest : low;
    const double end = map == ColourMap::diverging ? largest : high;
    // Halved, since the range of doubles may exceed the largest double.
    half_range_ = end / 2.0 - low_ / 2.0;
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(table_.size() - 1);
      table_[i] = map == ColourMap::diverging ? diverging_colour(2.0 * t - 1.0) : sequential_colour(t);
    }
  }

  [[nodiscard]] Colour operator()(double value) const {
    if (std::isnan(value)) return nan_colour;
    if (std::isinf(value)) return value > 0.0 ? positive_infinity_colour : negative_infinity_colour;
    // Divided, since the reciprocal of a range of subnormal numbers is infinite.
    const double t = half_range_ > 0.0 ? (value / 2.0 - low_ / 2.0) / half_range_ : 0.5;
    return table_[static_cast<std::size_t>(std::clamp(t, 0.0, 1.0) * static_cast<double>(table_.size() - 1) +
                                           0.5)];
  }

 private:
  double low_ = 0.0;
  double half_range_ = 0.0;
  std::array<Colour, 251> table_;  // with a middle
};

/// The elements of one cell, put together.
struct Block {
  /// Keeps the sum of as many of the largest double as there can be elements finite.
  static constexpr double reduction = 0x1p-64;

  BlockValue rule;
  double sum = 0.0;
  double reduced_sum = 0.0;  // where the sum overflows
  std::int64_t finite = 0;
  std::int64_t elements = 0;
  double furthest = 0.0;
  double not_finite = 0.0;

  void add(double value) {
    ++elements;
    if (!std::isfinite(value)) {
      not_finite = value;
      return;
    }
    ++finite;
    sum += value;
    reduced_sum += value * reduction;
    if (std::abs(value) > std::abs(furthest)) furthest = value;
  }
  [[nodiscard]] double value() const {
    if (finite == 0 || (rule == BlockValue::furthest && finite < elements)) return not_finite;
    return rule == BlockValue::mean ? mean() : furthest;
  }
  [[nodiscard]] double mean() const {
    const auto count = static_cast<double>(finite);
    if (std::isfinite(sum)) return sum / count;
    const double most = std::abs(furthest) * reduction;  // rounding may lead beyond it
    return std::clamp(reduced_sum / count, -most, most) / reduction;
  }
};

}  // namespace

ValueRange range_of(std::span<const double> values) {
  ValueRange range{INFINITY, -INFINITY, 0, 0, 0};
  for (const double value : values) {
    if (std::isnan(value)) {
      ++range.nan;
    } else if (std::isinf(value)) {
      ++range.inf;
    } else {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
      ++range.finite;
    }
  }
  if (range.finite == 0) range.low = range.high = 0.0;
  return range;
}

ValueRange joined(const ValueRange& a, const ValueRange& b) {
  if (a.finite == 0 || b.finite == 0) {
    ValueRange range = a.finite == 0 ? b : a;
    range.nan = a.nan + b.nan;
    range.inf = a.inf + b.inf;
    return range;
  }
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.finite + b.finite, a.nan + b.nan,
          a.inf + b.inf};
}

Cells cells_of(std::span<const double> values, const PlaneLayout& layout, BlockValue block,
               std::int64_t max_side) {
  return cells_of(values.size(), [&](std::size_t i) { return values[i]; }, layout, block, max_side);
}

Cells cells_of(std::size_t elements, FunctionRef<double(std::size_t)> value_at, const PlaneLayout& layout,
               BlockValue block, std::int64_t max_side) {
  Cells cells;
  const std::int64_t width = layout.width();
  const std::int64_t height = layout.height();
  cells.block_width = std::max<std::int64_t>(1, (width + max_side - 1) / max_side);
  cells.block_height = std::max<std::int64_t>(1, (height + max_side - 1) / max_side);
  cells.width = (width + cells.block_width - 1) / cells.block_width;
  cells.height = (height + cells.block_height - 1) / cells.block_height;
  for (std::int64_t top = 0; top < height; top += cells.block_height)
    for (std::int64_t left = 0; left < width; left += cells.block_width) {
      Block cell{block};
      for (std::int64_t y = top; y < std::min(height, top + cells.block_height); ++y)
        for (std::int64_t x = left; x < std::min(width, left + cells.block_width); ++x) {
          const std::int64_t element = layout.element(x, y);
          if (element >= 0 && std::cmp_less(element, elements))
            cell.add(value_at(static_cast<std::size_t>(element)));
        }
      cells.values.push_back(cell.value());
      cells.gaps.push_back(cell.elements == 0);
    }
  return cells;
}

Image heat_map(const Cells& cells, double low, double high, ColourMap map) {
  const Colours colours(low, high, map);
  Image image{cells.width, cells.height, {}};
  image.pixels.reserve(cells.values.size());
  for (std::size_t i = 0; i < cells.values.size(); ++i)
    image.pixels.push_back(cells.gaps[i] ? Colour{0, 0, 0, 0} : colours(cells.values[i]));
  return image;
}

double difference_of(double left, double right) {
  if (left == right || (std::isnan(left) && std::isnan(right))) return 0.0;
  const double difference = right - left;
  if (!std::isfinite(left) || !std::isfinite(right)) return difference;
  constexpr double largest = std::numeric_limits<double>::max();
  return std::clamp(difference, -largest, largest);
}

std::vector<double> differences(std::span<const double> left, std::span<const double> right) {
  std::vector<double> result(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = difference_of(left[i], right[i]);
  return result;
}

}  // namespace driftscope
