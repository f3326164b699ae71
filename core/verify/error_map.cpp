// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/error_map.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

/// Calls each(element, index) in C order.
void for_each_index(std::size_t elements, const Shape& shape,
                    FunctionRef<void(std::size_t, const Shape&)> each) {
  Shape index(shape.size());
  for (std::size_t i = 0; i < elements; ++i) {
    each(i, index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// For each axis the most less the least wrong elements of its indices, as a share of an index's elements.
std::vector<double> variation(std::span<const std::uint8_t> wrong, const Shape& shape) {
  std::vector<std::vector<std::int64_t>> counts;
  for (const std::int64_t size : shape) counts.emplace_back(static_cast<std::size_t>(size));
  for_each_index(wrong.size(), shape, [&](std::size_t i, const Shape& index) {
    if (wrong[i] != 0)
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        ++counts[axis][static_cast<std::size_t>(index[axis])];
  });
  std::vector<double> varies;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto [least, most] = std::ranges::minmax(counts[axis]);
    varies.push_back(static_cast<double>(most - least) * static_cast<double>(shape[axis]) /
                     static_cast<double>(wrong.size()));
  }
  return varies;
}

/// At most two, ascending; of equal ones the later.
std::vector<std::size_t> chosen_axes(std::span<const std::uint8_t> wrong, const Shape& shape) {
  std::vector<std::size_t> axes;
  for (std::size_t axis = shape.size(); axis-- > 0;)
    if (shape[axis] > 1) axes.push_back(axis);
  if (axes.size() > 2) {
    const std::vector<double> varies = variation(wrong, shape);
    std::ranges::sort(axes, [&](std::size_t a, std::size_t b) {
      return varies[a] != varies[b] ? varies[a] > varies[b] : a > b;
    });
    axes.resize(2);
  }
  std::ranges::sort(axes);
  return axes;
}

char digit_of(double error) {
  constexpr double most = 1e8;
  if (!(error < most)) return '9';
  return static_cast<char>('1' + static_cast<int>(std::log10(std::fmax(error, 1.0))));
}

}  // namespace

std::optional<ErrorMap> error_map(std::span<const std::uint8_t> wrong, const Shape& shape,
                                  FunctionRef<double(std::size_t)> error_of) {
  if (static_cast<std::int64_t>(wrong.size()) != element_count(shape) ||
      std::ranges::find(wrong, std::uint8_t{1}) == wrong.end())
    return std::nullopt;
  const std::vector<std::size_t> axes = chosen_axes(wrong, shape);
  ErrorMap map;
  for (const std::size_t axis : axes) {
    map.axes.push_back(static_cast<std::int64_t>(axis));
    map.sizes.push_back(shape[axis]);
  }
  const auto cells_along = [&](std::size_t i) {
    return i < axes.size() ? std::min(shape[axes[i]], max_error_cells) : std::int64_t{1};
  };
  // A vector lies across.
  const std::size_t across = axes.size() == 2 ? 1 : 0;
  const std::int64_t down = across == 1 ? cells_along(0) : 1;
  const std::int64_t columns = cells_along(across);
  map.cells.assign(static_cast<std::size_t>(down), std::string(static_cast<std::size_t>(columns), '0'));
  for_each_index(wrong.size(), shape, [&](std::size_t i, const Shape& index) {
    if (wrong[i] == 0) return;
    const auto cell = [&](std::size_t axis, std::int64_t cells) {
      return static_cast<std::size_t>(index[axis] * cells / shape[axis]);
    };
    char& digit =
        map.cells[across == 1 ? cell(axes[0], down) : 0][axes.empty() ? 0 : cell(axes[across], columns)];
    if (digit < '9') digit = std::max(digit, digit_of(error_of(i)));
  });
  return map;
}

}  // namespace driftscope
