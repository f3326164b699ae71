// Scales of charts: the position of values, and the ticks. Clients: the charts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

struct Tick {
  double place = 0.0;  ///< in [0, 1]
  std::string text;
};

/// Logarithmic, with room below for values that are exactly zero. Infinite values lie at the top.
class LogAxis {
 public:
  void include(double value);
  /// To be called once, when all values are known.
  void fix();
  /// In [0, 1]; NaN for NaN.
  [[nodiscard]] double place(double value) const;
  [[nodiscard]] std::vector<Tick> ticks(std::size_t highest = 7) const;
  [[nodiscard]] bool has_zero() const { return has_zero_; }

 private:
  double low_ = 0.0;  // decimal exponents
  double high_ = 0.0;
  bool any_ = false;
  bool has_zero_ = false;
};

/// From zero to a round number at or above `highest`, in at most `steps` steps: 1, 2 or 5 times a power
/// of ten each.
struct LinearAxis {
  double high = 1.0;
  double step = 1.0;
  [[nodiscard]] double place(double value) const { return value / high; }
  [[nodiscard]] std::vector<Tick> ticks(std::string (*text)(std::int64_t)) const;
};
[[nodiscard]] LinearAxis linear_axis(double highest, int steps = 5);

/// Lines across the area, with their values to the left; the bottom of the area is darker.
void paint_ticks(Painter& painter, Box area, const std::vector<Tick>& ticks, const Theme& theme);

}  // namespace driftscope
