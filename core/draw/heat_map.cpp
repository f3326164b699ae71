#include "core/draw/heat_map.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw/colour_map.hpp"

namespace driftscope::gui {
namespace {

Colour value_colour(double value, double low, double high, ColourMap map) {
  if (std::isnan(value)) return nan_colour;
  if (std::isinf(value)) return value > 0.0 ? positive_infinity_colour : negative_infinity_colour;
  if (map == ColourMap::diverging) {
    const double largest = std::max(std::abs(low), std::abs(high));
    return diverging_colour(largest > 0.0 ? value / largest : 0.0);
  }
  return sequential_colour(high > low ? (value - low) / (high - low) : 0.5);
}

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

std::int64_t heat_map_step(const PlaneLayout& layout, std::int64_t max_pixels) {
  std::int64_t step = 1;
  const auto size = [&](std::int64_t s) {
    return ((layout.width() + s - 1) / s) * ((layout.height() + s - 1) / s);
  };
  while (size(step) > max_pixels) ++step;
  return step;
}

Image heat_map(std::span<const double> values, const PlaneLayout& layout, double low, double high,
               ColourMap map, std::int64_t max_pixels) {
  const std::int64_t step = heat_map_step(layout, max_pixels);
  Image image;
  image.width = (layout.width() + step - 1) / step;
  image.height = (layout.height() + step - 1) / step;
  image.pixels.reserve(static_cast<std::size_t>(image.width * image.height));
  // One division per value would dominate the time: colours come from a table.
  std::vector<Colour> table(1024);
  const double largest = std::max(std::abs(low), std::abs(high));
  const double from = map == ColourMap::diverging ? -largest : low;
  const double to = map == ColourMap::diverging ? largest : high;
  const double scale = to > from ? 1023.0 / (to - from) : 0.0;
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = scale > 0.0 ? value_colour(from + static_cast<double>(i) / scale, low, high, map)
                           : value_colour(low, low, high, map);
  for (std::int64_t y = 0; y < layout.height(); y += step)
    for (std::int64_t x = 0; x < layout.width(); x += step) {
      const std::int64_t element = layout.element(x, y);
      if (element < 0 || element >= static_cast<std::int64_t>(values.size())) {
        image.pixels.push_back({0, 0, 0, 0});
        continue;
      }
      const double value = values[static_cast<std::size_t>(element)];
      if (!std::isfinite(value)) {
        image.pixels.push_back(value_colour(value, low, high, map));
        continue;
      }
      const double place = std::clamp((value - from) * scale, 0.0, 1023.0);
      image.pixels.push_back(table[static_cast<std::size_t>(place + 0.5)]);
    }
  return image;
}

std::vector<double> differences(std::span<const double> left, std::span<const double> right) {
  std::vector<double> result(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double a = left[i];
    const double b = right[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    result[i] = same ? 0.0 : b - a;
  }
  return result;
}

}  // namespace driftscope::gui
