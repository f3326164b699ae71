// A plane of values as pixels, one per element. Clients: the tensor view, exports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/draw/colour.hpp"
#include "core/draw/tensor_slice.hpp"

namespace driftscope::gui {

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

enum class ColourMap { sequential, diverging };

/// `low` to `high` over the map (the diverging one is symmetric about zero, with the larger magnitude);
/// NaN and infinities have colours of their own; gaps between tiles are transparent. An empty range
/// shows as one colour. Images larger than `max_pixels` are thinned to every n-th row and column.
[[nodiscard]] Image heat_map(std::span<const double> values, const PlaneLayout& layout, double low,
                             double high, ColourMap map, std::int64_t max_pixels = 1 << 24);

/// How many elements one pixel of that image is wide (and high).
[[nodiscard]] std::int64_t heat_map_step(const PlaneLayout& layout, std::int64_t max_pixels = 1 << 24);

/// right − left by element; 0 where both are NaN or the same infinity.
[[nodiscard]] std::vector<double> differences(std::span<const double> left, std::span<const double> right);

}  // namespace driftscope::gui
