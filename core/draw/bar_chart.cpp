#include "core/draw/bar_chart.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

constexpr float row_units = 22.0f;
constexpr float gap_units = 10.0f;

/// Places from 0 to 1 along the axis.
class BarScale {
 public:
  BarScale(const std::vector<Bar>& bars, bool logarithmic, double whole)
      : logarithmic_(logarithmic), largest_(whole) {
    double smallest = INFINITY;
    for (const Bar& bar : bars) {
      for (const double value : {bar.value, bar.interval ? bar.interval->high : bar.value})
        if (std::isfinite(value)) largest_ = std::max(largest_, value);
      if (bar.value > 0.0) smallest = std::min(smallest, bar.value);
    }
    if (!(largest_ > 0.0)) largest_ = 1.0;
    if (!std::isfinite(smallest)) logarithmic_ = false;
    if (logarithmic_) from_ = std::floor(std::log10(smallest) - 1e-9);
  }
  [[nodiscard]] float place(double value) const {
    double share = value / largest_;
    if (logarithmic_) {
      const double span = std::max(1e-9, std::log10(largest_) - from_);
      share = value > 0.0 ? (std::log10(value) - from_) / span : 0.0;
    }
    return static_cast<float>(std::clamp(share, 0.0, 1.0));
  }

 private:
  bool logarithmic_;
  double largest_ = 0.0;
  double from_ = 0.0;
};

}  // namespace

float bar_chart_height(std::size_t bars, float unit) {
  return unit * (row_units * static_cast<float>(bars) + gap_units);
}

void paint_bars(Painter& painter, Box box, const std::vector<Bar>& bars, bool logarithmic, const Theme& theme,
                double whole) {
  const float bar_row = painter.unit() * row_units;
  const float bar_gap = painter.unit() * gap_units;
  const float edge = painter.unit();
  float labels = 0.0f;
  float texts = 0.0f;
  for (const Bar& bar : bars) {
    labels = std::max(labels, painter.text_width(bar.label, true));
    texts = std::max(texts, painter.text_width(bar.text, true));
  }
  const float left = box.left + labels + bar_gap;
  const float right = std::max(left + 1.0f, box.right - texts - 2.0f * bar_gap);
  const BarScale scale(bars, logarithmic, whole);
  const auto x = [&](double value) { return left + scale.place(value) * (right - left); };
  float top = box.top + bar_gap / 2.0f;
  for (const Bar& bar : bars) {
    const float middle = top + bar_row / 2.0f;
    painter.text({left - bar_gap / 2.0f, middle}, bar.label, theme.ink, Anchor::end, true);
    float end = left;
    if (std::isfinite(bar.value) && bar.value >= 0.0) {
      end = x(bar.value);
      painter.fill({left, top + 3.0f * edge, std::max(end, left + 1.0f), top + bar_row - 3.0f * edge},
                   mix(theme.panel, theme.series(bar.series), 0.65f), 2.0f);
      if (bar.interval && std::isfinite(bar.interval->low) && std::isfinite(bar.interval->high)) {
        const float low = x(bar.interval->low);
        const float high = x(bar.interval->high);
        painter.line({low, middle}, {high, middle}, theme.ink, 1.2f);
        for (const float at : {low, high})
          painter.line({at, middle - 4.0f * edge}, {at, middle + 4.0f * edge}, theme.ink, 1.2f);
        end = std::max(end, high);
      }
    }
    painter.text({end + bar_gap / 2.0f, middle}, bar.text, theme.dim, Anchor::start, true);
    top += bar_row;
  }
}

}  // namespace driftscope
