#include "core/report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/function_ref.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/report/colour_map.hpp"
#include "core/report/picture.hpp"

namespace driftscope {
namespace {

/// Element i as a double.
using Numbers = FunctionRef<double(std::size_t)>;

/// Calls body with the elements, erased so that drawing is compiled once; false for types without numbers.
bool with_erased_numbers(const Tensor& tensor, FunctionRef<void(const Numbers&)> body) {
  return with_numbers(tensor, [&](const auto& at) { body(Numbers(at)); });
}

/// The distance of two values: infinite when only one of them is a number, or they are infinities of
/// different sign; 0 when both are NaN.
double apart(double left, double right) {
  if (left == right || (std::isnan(left) && std::isnan(right))) return 0.0;
  const double distance = std::fabs(right - left);
  return std::isnan(distance) ? INFINITY : distance;
}

/// The plane that is drawn: `rows` × `columns` elements from `first` on, row after row.
struct Plane {
  std::int64_t first = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t elements = 1;  ///< the last row may be shorter
  std::string text;
};

/// About twice as wide as high, and full rows where the number of elements allows it.
std::int64_t wrapped_columns(std::int64_t elements) {
  const auto good = static_cast<std::int64_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(elements))));
  for (std::int64_t columns = good; columns <= std::min(2 * good, max_heat_cells); ++columns)
    if (elements % columns == 0) return columns;
  for (std::int64_t columns = good; columns > good / 2; --columns)
    if (columns <= max_heat_cells && elements % columns == 0) return columns;
  return std::min(good, max_heat_cells);
}

Plane plane_around(const Shape& shape, std::int64_t elements, std::int64_t worst) {
  Plane plane;
  const std::size_t rank = shape.size();
  if (rank >= 2 && shape[rank - 1] > 1 && shape[rank - 2] > 1) {
    plane.rows = shape[rank - 2];
    plane.columns = shape[rank - 1];
    plane.elements = plane.rows * plane.columns;
    const std::int64_t number = worst / plane.elements;
    plane.first = number * plane.elements;
    const std::int64_t planes = elements / plane.elements;
    if (rank == 4) {
      plane.text = fmt::format("channel {} of {}", number % shape[1], shape[1]);
      if (shape[0] > 1) plane.text += fmt::format(", sample {} of {}", number / shape[1], shape[0]);
    } else if (planes > 1) {
      plane.text = fmt::format("plane {} of {}", number, planes);
    }
    return plane;
  }
  // A vector is wrapped, since a line one pixel high shows little; centred on the worst element.
  constexpr std::int64_t short_row = 32;
  constexpr std::int64_t max_elements = max_heat_cells * max_heat_cells;
  plane.elements = std::min(elements, max_elements);
  plane.first = worst / plane.elements * plane.elements;
  plane.elements = std::min(plane.elements, elements - plane.first);
  plane.columns = plane.elements <= short_row ? plane.elements : wrapped_columns(plane.elements);
  plane.rows = (plane.elements + plane.columns - 1) / plane.columns;
  if (plane.rows > 1)
    plane.text = elements > plane.elements ? fmt::format("elements {} to {}, {} in a row", plane.first,
                                                         plane.first + plane.elements - 1, plane.columns)
                                           : fmt::format("all elements, {} in a row", plane.columns);
  return plane;
}

/// One cell, accumulated over its block.
struct Cell {
  double left_sum = 0.0;
  double right_sum = 0.0;
  double difference = 0.0;
  std::int64_t left_finite = 0;
  std::int64_t right_finite = 0;
  bool torn = false;  ///< only one side is finite

  void add(double left, double right) {
    if (std::isfinite(left)) left_sum += left, ++left_finite;
    if (std::isfinite(right)) right_sum += right, ++right_finite;
    const double distance = apart(left, right);
    if (std::isinf(distance))
      torn = true;
    else if (distance > std::fabs(difference))
      difference = right - left;
  }
};

double mean(double sum, std::int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

void fill_cells(HeatMap& map, const Plane& plane, const Numbers& left_at, const Numbers& right_at) {
  map.block_width = (plane.columns + max_heat_cells - 1) / max_heat_cells;
  map.block_height = (plane.rows + max_heat_cells - 1) / max_heat_cells;
  map.width = (plane.columns + map.block_width - 1) / map.block_width;
  map.height = (plane.rows + map.block_height - 1) / map.block_height;
  // Only a wrapped vector has a short last row, and its cells are single elements.
  const bool wrapped = plane.elements < plane.rows * plane.columns;
  map.filled = wrapped ? plane.elements : map.width * map.height;
  std::vector<Cell> cells(static_cast<std::size_t>(map.width * map.height));
  map.low = INFINITY;
  map.high = -INFINITY;
  for (std::int64_t i = 0; i < plane.elements; ++i) {
    const auto at = static_cast<std::size_t>(plane.first + i);
    const double left = left_at(at);
    const double right = right_at(at);
    if (!std::isfinite(left) || !std::isfinite(right)) ++map.not_finite;
    const std::int64_t y = i / plane.columns / map.block_height;
    const std::int64_t x = i % plane.columns / map.block_width;
    cells[static_cast<std::size_t>(y * map.width + x)].add(left, right);
  }
  for (const Cell& cell : cells) {
    map.left.push_back(mean(cell.left_sum, cell.left_finite));
    map.right.push_back(mean(cell.right_sum, cell.right_finite));
    map.difference.push_back(cell.torn ? std::nan("") : cell.difference);
    map.largest = std::max(map.largest, std::fabs(cell.difference));
    for (const double value : {map.left.back(), map.right.back()}) {
      if (!std::isfinite(value)) continue;
      map.low = std::min(map.low, value);
      map.high = std::max(map.high, value);
    }
  }
  if (map.low > map.high) map.low = map.high = 0.0;
}

std::vector<std::int64_t> index_of(const Shape& shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

std::uint8_t palette_entry(double value, double low, double high) {
  if (!std::isfinite(value)) return not_finite_entry;
  // Halved, since high − low may overflow.
  const double range = high / 2 - low / 2;
  const double share = range > 0.0 ? (value / 2 - low / 2) / range : 0.5;
  return static_cast<std::uint8_t>(std::lround(last_map_entry * std::clamp(share, 0.0, 1.0)));
}

std::string picture_of(const HeatMap& map, const std::vector<double>& values, double low, double high,
                       const Palette& palette) {
  std::vector<std::uint8_t> entries;
  entries.reserve(values.size());
  for (const double value : values)
    entries.push_back(static_cast<std::int64_t>(entries.size()) < map.filled ? palette_entry(value, low, high)
                                                                             : empty_entry);
  return indexed_data_uri(map.width, map.height, entries, palette);
}

}  // namespace

std::optional<HeatMap> heat_map(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape() || left.elements() == 0)
    return std::nullopt;
  HeatMap map;
  const auto draw = [&](const Numbers& left_at, const Numbers& right_at) {
    std::size_t worst = 0;
    double furthest = -1.0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(left.elements()); ++i) {
      const double distance = apart(left_at(i), right_at(i));
      if (distance > furthest) furthest = distance, worst = i;
    }
    const auto element = static_cast<std::int64_t>(worst);
    const Plane plane = plane_around(left.shape(), left.elements(), element);
    map.plane = plane.text;
    map.worst = index_of(left.shape(), element);
    map.worst_left = left_at(worst);
    map.worst_right = right_at(worst);
    fill_cells(map, plane, left_at, right_at);
  };
  const bool numbers = with_erased_numbers(left, [&](const Numbers& left_at) {
    with_erased_numbers(right, [&](const Numbers& right_at) { draw(left_at, right_at); });
  });
  if (!numbers) return std::nullopt;
  return map;
}

std::string values_picture(const HeatMap& map, const std::vector<double>& values) {
  return picture_of(map, values, map.low, map.high, sequential_palette());
}

std::string difference_picture(const HeatMap& map) {
  return picture_of(map, map.difference, -map.largest, map.largest, diverging_palette());
}

}  // namespace driftscope
