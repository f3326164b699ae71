#include "core/draw/difference_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/function_ref.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope {
namespace {

/// A number on one side alone is further away than any number.
double distance(double difference) { return std::isnan(difference) ? INFINITY : std::abs(difference); }

std::string plane_text(const PlaneLayout& layout) {
  std::string text;
  for (std::size_t axis = layout.outer().size(); axis-- > 0;) {
    if (layout.outer()[axis] == 1) continue;
    text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", layout.axis_name(axis),
                        layout.chosen()[axis], layout.outer()[axis]);
  }
  if (!layout.wrapped()) return text;
  return fmt::format("{}, {} in a row", text.empty() ? "all elements" : text, layout.width());
}

using Numbers = FunctionRef<double(std::size_t)>;

/// Tensors may be large: only cells are kept.
DifferenceMap map_of(const Shape& shape, Numbers left, Numbers right) {
  const auto elements = static_cast<std::size_t>(element_count(shape));
  const auto apart = [&](std::size_t i) { return difference_of(left(i), right(i)); };
  std::size_t worst = 0;
  double furthest = distance(apart(0));
  for (std::size_t i = 1; i < elements && std::isfinite(furthest); ++i)
    if (const double here = distance(apart(i)); here > furthest) {
      worst = i;
      furthest = here;
    }
  PlaneLayout layout(shape);
  DifferenceMap map;
  map.worst = layout.index(static_cast<std::int64_t>(worst));
  map.worst_left = left(worst);
  map.worst_right = right(worst);
  layout.choose(map.worst);
  map.plane = plane_text(layout);
  map.left = cells_of(elements, left, layout, BlockValue::mean, max_difference_cells);
  map.right = cells_of(elements, right, layout, BlockValue::mean, max_difference_cells);
  map.difference = cells_of(elements, apart, layout, BlockValue::furthest, max_difference_cells);
  const ValueRange range = joined(range_of(map.left.values), range_of(map.right.values));
  map.low = range.low;
  map.high = range.high;
  for (const double value : map.difference.values)
    if (std::isfinite(value)) map.largest = std::max(map.largest, std::abs(value));
  for (std::int64_t y = 0; y < layout.height(); ++y)
    for (std::int64_t x = 0; x < layout.width(); ++x) {
      const std::int64_t element = layout.element(x, y);
      const auto at = static_cast<std::size_t>(element);
      if (element >= 0 && !(std::isfinite(left(at)) && std::isfinite(right(at)))) ++map.not_finite;
    }
  return map;
}

std::optional<DifferenceMap> map_beside(Numbers left, const Tensor& right) {
  std::optional<DifferenceMap> map;
  with_numbers(right, [&](const auto& at) { map = map_of(right.shape(), left, at); });
  return map;
}

}  // namespace

std::optional<DifferenceMap> difference_map(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape() || left.elements() == 0)
    return std::nullopt;
  std::optional<DifferenceMap> map;
  with_numbers(left, [&](const auto& at) { map = map_beside(at, right); });
  return map;
}

}  // namespace driftscope
