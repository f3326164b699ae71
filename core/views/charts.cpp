#include "core/views/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/views/format.hpp"

namespace driftscope {
namespace {

// Drawing area of the chart, in SVG units; the page scales it.
namespace area {
constexpr double width = 760.0;
constexpr double height = 250.0;
constexpr double left = 58.0;
constexpr double right = 14.0;
constexpr double top = 14.0;
constexpr double bottom = 34.0;
constexpr double zero_band = 18.0;  // height kept for values that are exactly zero
}  // namespace area

struct Scale {
  double low = 0.0;   // decimal exponents
  double high = 1.0;
  bool has_zero = false;

  [[nodiscard]] double y(double value) const {
    const double base = area::height - area::bottom - (has_zero ? area::zero_band : 0.0);
    if (value <= 0.0) return area::height - area::bottom;
    const double t = (std::log10(value) - low) / (high - low);
    return base - std::clamp(t, 0.0, 1.0) * (base - area::top);
  }
};

Scale scale_of(const std::vector<Series>& series, double limit) {
  Scale scale;
  double low = INFINITY;
  double high = -INFINITY;
  const auto include = [&](double value) {
    if (!std::isfinite(value)) return;
    if (value <= 0.0) {
      scale.has_zero = true;
      return;
    }
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  };
  for (const Series& one : series)
    for (const double value : one.values) include(value);
  if (limit > 0.0) include(limit);
  if (!std::isfinite(low)) low = -8.0, high = 0.0;
  if (high <= low) high = low + 1.0;
  scale.low = low;
  scale.high = high;
  return scale;
}

double x_of(std::size_t i, std::size_t count) {
  if (count < 2) return (area::left + area::width - area::right) / 2.0;
  return area::left + (area::width - area::left - area::right) * static_cast<double>(i) /
                          static_cast<double>(count - 1);
}

std::string marker(std::size_t shape, double x, double y, const std::string& title) {
  const std::string tip = "<title>" + html_escape(title) + "</title>";
  switch (shape % 4) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\">{}</circle>", x, y, tip);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\">{}</rect>", x - 3.0,
                         y - 3.0, tip);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l3.8 6.6h-7.6z\">{}</path>", x, y - 4.2, tip);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 4l-4 4l-4 -4z\">{}</path>", x, y - 4.0, tip);
  }
}

std::string axis(const Scale& scale, const ChartText& text) {
  std::string svg;
  const double step = std::max(1.0, std::ceil((scale.high - scale.low) / 6.0));
  for (double e = scale.low; e <= scale.high + 0.5; e += step) {
    const double y = scale.y(std::pow(10.0, e));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">1e{5:.0f}</text>",
        area::left, area::width - area::right, y, area::left - 6.0, y + 3.5, e);
  }
  if (scale.has_zero) {
    const double y = scale.y(0.0);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">0</text>",
        area::left, area::width - area::right, y, area::left - 6.0, y + 3.5);
  }
  return svg + fmt::format("<text class=\"unit\" transform=\"translate(11 {:.1f}) rotate(-90)\" "
                           "text-anchor=\"middle\">{}</text>",
                           (area::top + area::height - area::bottom) / 2.0, html_escape(text.unit));
}

std::string layer_ticks(const std::vector<std::string>& layers) {
  std::string svg;
  const std::size_t most = 10;
  const std::size_t step = std::max<std::size_t>(1, (layers.size() + most - 1) / most);
  for (std::size_t i = 0; i < layers.size(); i += step) {
    const char* anchor = i == 0 ? "start" : i + step >= layers.size() ? "end" : "middle";
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>",
                       x_of(i, layers.size()), area::height - area::bottom + 18.0, anchor,
                       html_escape(elide(layers[i], 11)));
  }
  return svg;
}

std::string line(const Series& series, const Scale& scale, const std::vector<std::string>& layers) {
  std::string path;
  std::string markers;
  bool drawing = false;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double value = series.values[i];
    if (std::isnan(value)) {
      drawing = false;
      continue;
    }
    const double x = x_of(i, series.values.size());
    const double y = std::isinf(value) ? area::top : scale.y(value);
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", x, y);
    drawing = true;
    const std::string layer = i < layers.size() ? layers[i] : std::to_string(i);
    markers += marker(series.style, x, y, fmt::format("{} · {}: {}", series.name, layer,
                                               format_number(value)));
  }
  return fmt::format("<g class=\"series s{}\"><path class=\"line\" d=\"{}\"/>{}</g>", series.style % 4,
                     path, markers);
}

std::string legend(const std::vector<Series>& series) {
  std::string html = "<div class=\"legend\">";
  for (const Series& one : series)
    html += fmt::format(
        "<span><svg viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\">"
        "<g class=\"series s{}\">{}</g></svg>{}</span>",
        one.style % 4, marker(one.style, 6.0, 6.0, one.name), html_escape(one.name));
  return html + "</div>";
}

}  // namespace

std::string log_chart(const ChartText& text, const std::vector<std::string>& layers,
                      const std::vector<Series>& series, double limit) {
  const Scale scale = scale_of(series, limit);
  std::string svg = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", area::width,
      area::height, html_escape(text.title + ". " + text.caption));
  svg += axis(scale, text) + layer_ticks(layers);
  if (limit > 0.0) {
    const double y = scale.y(limit);
    svg += fmt::format(
        "<line class=\"limit\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick limit-text\" x=\"{1}\" y=\"{3:.1f}\" text-anchor=\"end\">budget</text>",
        area::left, area::width - area::right, y, y - 4.0);
  }
  for (const Series& one : series) svg += line(one, scale, layers);
  svg += "</svg>";
  return fmt::format("<figure><figcaption><b>{}</b> {}</figcaption>{}{}</figure>",
                     html_escape(text.title), html_escape(text.caption), svg, legend(series));
}

std::string bar(double share, const std::string& css_class) {
  const double clamped = std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
  return fmt::format("<span class=\"bar {}\" aria-hidden=\"true\"><i style=\"width:{:.1f}%\"></i></span>",
                     css_class, 100.0 * clamped);
}

}  // namespace driftscope
