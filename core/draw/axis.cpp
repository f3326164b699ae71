#include "core/draw/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

constexpr double zero_room = 0.08;  // of the axis, below its lowest decade

}  // namespace

void LogAxis::include(double value) {
  if (!std::isfinite(value)) return;
  if (value <= 0.0) {
    has_zero_ = true;
    return;
  }
  const double exponent = std::log10(value);
  low_ = any_ ? std::min(low_, std::floor(exponent)) : std::floor(exponent);
  high_ = any_ ? std::max(high_, std::ceil(exponent)) : std::ceil(exponent);
  any_ = true;
}

void LogAxis::fix() {
  if (!any_) low_ = -8.0, high_ = 0.0;
  if (high_ <= low_) high_ = low_ + 1.0;
}

double LogAxis::place(double value) const {
  if (std::isnan(value)) return value;
  if (std::isinf(value)) return value > 0.0 ? 1.0 : 0.0;
  if (value <= 0.0) return 0.0;
  const double room = has_zero_ ? zero_room : 0.0;
  const double t = (std::log10(value) - low_) / (high_ - low_);
  return room + std::clamp(t, 0.0, 1.0) * (1.0 - room);
}

std::vector<Tick> LogAxis::ticks(std::size_t highest) const {
  std::vector<Tick> ticks;
  if (has_zero_) ticks.push_back({0.0, "0"});
  const double step =
      std::max(1.0, std::ceil((high_ - low_) / static_cast<double>(std::max<std::size_t>(highest, 2) - 1)));
  for (double exponent = low_; exponent <= high_ + 1e-9; exponent += step)
    ticks.push_back({place(std::pow(10.0, exponent)), fmt::format("1e{:.0f}", exponent)});
  // With few decades there is room for labels in between.
  if (high_ - low_ <= 3.0)
    for (double exponent = low_; exponent < high_ - 0.5; exponent += 1.0)
      for (const int factor : {2, 5})
        ticks.push_back(
            {place(factor * std::pow(10.0, exponent)), fmt::format("{}e{:.0f}", factor, exponent)});
  return ticks;
}

LinearAxis linear_axis(double highest, int steps) {
  LinearAxis axis;
  if (!(highest > 0.0) || !std::isfinite(highest)) return axis;
  const double rough = highest / std::max(1, steps);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  axis.step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    axis.step = factor * power;
    if (axis.step >= rough * (1.0 - 1e-9)) break;
  }
  axis.high = axis.step * std::ceil(highest / axis.step - 1e-9);
  return axis;
}

std::vector<Tick> LinearAxis::ticks(std::string (*text)(std::int64_t)) const {
  std::vector<Tick> ticks = {{0.0, "0"}};
  for (double value = step; value <= high * 1.0001; value += step)
    ticks.push_back({place(value), text(std::llround(value))});
  return ticks;
}

void paint_ticks(Painter& painter, Box area, const std::vector<Tick>& ticks, const Theme& theme) {
  for (const Tick& tick : ticks) {
    const float y = area.bottom - static_cast<float>(tick.place) * area.height();
    painter.line({area.left, y}, {area.right, y}, theme.grid, 1.0f);
    painter.text({area.left - 6.0f, y}, tick.text, theme.dim, Anchor::end, true);
  }
  painter.line({area.left, area.bottom}, {area.right, area.bottom}, theme.line, 1.0f);
}

}  // namespace driftscope
