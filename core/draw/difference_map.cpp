#include "core/draw/difference_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

/// A number on one side alone is further away than any number.
double distance(double difference) { return std::isnan(difference) ? INFINITY : std::abs(difference); }

std::string plane_text(const PlaneLayout& layout) {
  if (layout.wrapped()) return fmt::format("all elements, {} in a row", layout.width());
  std::string text;
  for (std::size_t axis = layout.outer().size(); axis-- > 0;) {
    if (layout.outer()[axis] == 1) continue;
    text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", layout.axis_name(axis),
                        layout.chosen()[axis], layout.outer()[axis]);
  }
  return text;
}

}  // namespace

std::optional<DifferenceMap> difference_map(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape() || left.elements() == 0)
    return std::nullopt;
  const std::vector<double> lefts = element_values(left);
  const std::vector<double> rights = element_values(right);
  if (lefts.empty()) return std::nullopt;
  const std::vector<double> apart = differences(lefts, rights);
  const auto worst = static_cast<std::size_t>(std::ranges::max_element(apart, {}, distance) - apart.begin());
  PlaneLayout layout(left.shape());
  DifferenceMap map;
  map.worst = layout.index(static_cast<std::int64_t>(worst));
  map.worst_left = lefts[worst];
  map.worst_right = rights[worst];
  layout.choose(map.worst);
  map.plane = plane_text(layout);
  map.left = cells_of(lefts, layout, BlockValue::mean, max_difference_cells);
  map.right = cells_of(rights, layout, BlockValue::mean, max_difference_cells);
  map.difference = cells_of(apart, layout, BlockValue::furthest, max_difference_cells);
  const ValueRange range = joined(range_of(map.left.values), range_of(map.right.values));
  map.low = range.low;
  map.high = range.high;
  for (const double value : map.difference.values)
    if (std::isfinite(value)) map.largest = std::max(map.largest, std::abs(value));
  for (std::int64_t y = 0; y < layout.height(); ++y)
    for (std::int64_t x = 0; x < layout.width(); ++x) {
      const std::int64_t element = layout.element(x, y);
      const auto at = static_cast<std::size_t>(element);
      if (element >= 0 && !(std::isfinite(lefts[at]) && std::isfinite(rights[at]))) ++map.not_finite;
    }
  return map;
}

}  // namespace driftscope
