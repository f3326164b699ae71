#include "core/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope {
namespace {

// Drawing area of the chart, in SVG units; the page scales it.
namespace area {
constexpr double width = 760.0;
constexpr double height = 260.0;
constexpr double left = 58.0;
constexpr double right = 14.0;
constexpr double top = 20.0;
constexpr double bottom = 34.0;
constexpr double zero_band = 18.0;  // height kept for values that are exactly zero
}  // namespace area

struct Scale {
  double low = 0.0;  // decimal exponents
  double high = 1.0;
  bool has_zero = false;

  [[nodiscard]] double y(double value) const {
    const double base = area::height - area::bottom - (has_zero ? area::zero_band : 0.0);
    if (value <= 0.0) return area::height - area::bottom;
    const double t = (std::log10(value) - low) / (high - low);
    return base - std::clamp(t, 0.0, 1.0) * (base - area::top);
  }
};

/// Nothing to see: several such lines would lie on each other.
bool is_zero(const Series& series) {
  return std::ranges::all_of(series.values, [](double value) { return value == 0.0 || std::isnan(value); });
}

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
  for (const Series& one : series) {
    if (is_zero(one)) continue;
    for (const double value : one.values)
      if (one.joined || value != 0.0) include(value);
  }
  if (limit > 0.0) include(limit);
  if (!std::isfinite(low)) low = -8.0, high = 0.0;
  if (high <= low) high = low + 1.0;
  scale.low = low;
  scale.high = high;
  return scale;
}

double x_of(std::size_t i, std::size_t count) {
  if (count < 2) return (area::left + area::width - area::right) / 2.0;
  return area::left +
         (area::width - area::left - area::right) * static_cast<double>(i) / static_cast<double>(count - 1);
}

constexpr std::size_t marker_shapes = 6;

/// The outline of a marker around (x, y); crosses are strokes, the others are filled.
std::string marker(std::size_t shape, double x, double y) {
  switch (shape % marker_shapes) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>", x, y);
    case 1: return fmt::format("<path d=\"M{:.1f} {:.1f}h6v6h-6z\"/>", x - 3.0, y - 3.0);
    case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}l3.8 6.6h-7.6z\"/>", x, y - 4.2);
    case 3: return fmt::format("<path d=\"M{:.1f} {:.1f}l4 4l-4 4l-4 -4z\"/>", x, y - 4.0);
    case 4: return fmt::format("<path d=\"M{:.1f} {:.1f}l3.8 -6.6h-7.6z\"/>", x, y + 4.2);
    default: return fmt::format("<path d=\"M{:.1f} {:.1f}l6 6m0 -6l-6 6\"/>", x - 3.0, y - 3.0);
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
  return svg + fmt::format(
                   "<text class=\"unit\" transform=\"translate(11 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\">{}</text>",
                   (area::top + area::height - area::bottom) / 2.0, html_escape(text.unit));
}

std::string layer_ticks(const std::vector<std::string>& layers) {
  constexpr std::size_t letters = 20;
  std::size_t longest = 1;
  for (const std::string& layer : layers) longest = std::max(longest, display_width(layer));
  const double half = 4.0 + 2.9 * static_cast<double>(std::min(longest, letters));  // of a name's width
  std::string svg;
  double free_from = -1e9;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double x = x_of(i, layers.size());
    const bool at_start = x - half < area::left;
    const bool at_end = x + half > area::width;
    const double begin = at_start ? x : at_end ? x - 2.0 * half : x - half;
    if (begin < free_from) continue;
    free_from = begin + 2.0 * half + 6.0;
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x,
                       area::height - area::bottom + 18.0,
                       at_start ? "start"
                       : at_end ? "end"
                                : "middle",
                       html_escape(elide_start(plain_text(layers[i], 400), letters)));
  }
  return svg;
}

/// Layers put together so that no more than `max_points` are drawn.
constexpr std::size_t max_points = 240;
constexpr std::size_t max_markers = 80;  // beyond these a line is clearer

std::size_t layers_per_point(std::size_t layers) { return (layers + max_points - 1) / max_points; }

std::vector<double> worst_of_groups(const std::vector<double>& values, std::size_t group) {
  std::vector<double> worst;
  for (std::size_t begin = 0; begin < values.size(); begin += group) {
    double value = NAN;
    for (std::size_t i = begin; i < std::min(values.size(), begin + group); ++i)
      if (std::isnan(value) || values[i] > value) value = std::isnan(values[i]) ? value : values[i];
    worst.push_back(value);
  }
  return worst;
}

/// More targets than colours: the second round is dashed.
std::string css_of(const Series& series) {
  return std::string(series.hollow ? " hollow" : "") + (series.joined ? "" : " dots") +
         (series.style >= marker_shapes ? " again" : "");
}

std::string line(const Series& series, const std::vector<double>& values, const Scale& scale,
                 const std::vector<std::string>& layers, std::size_t group) {
  std::string path;
  std::string markers;
  bool drawing = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value) || (!series.joined && value == 0.0)) {
      drawing = false;
      continue;
    }
    const double x = x_of(i, values.size());
    const double y = std::isinf(value) ? area::top : scale.y(value);
    // A single point between gaps is shown, as a line of zero length.
    path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", x, y);
    if (!drawing) path += "h0";
    drawing = series.joined;
    if (values.size() > max_markers) continue;
    const std::string layer = i * group < layers.size() ? layers[i * group] : std::to_string(i);
    markers += fmt::format("<g><title>{}</title>{}</g>",
                           html_escape(fmt::format("{} · {}: {}", plain_text(series.name, 60),
                                                   plain_text(layer, 60), format_number(value))),
                           marker(series.style, x, y));
  }
  return fmt::format("<g class=\"series s{}{}\"><path class=\"line\" d=\"{}\"/>{}</g>",
                     series.style % marker_shapes, css_of(series), path, markers);
}

std::string legend(const std::vector<Series>& series) {
  std::string html = "<div class=\"legend\">";
  for (const Series& one : series) {
    // The caption explains hollow markers; a target needs no second legend entry for them.
    const bool in_legend = one.hollow && std::ranges::any_of(series, [&](const Series& other) {
                             return !other.hollow && other.style == one.style;
                           });
    if (in_legend) continue;
    html += fmt::format(
        "<span><svg viewBox=\"0 0 26 12\" width=\"26\" height=\"12\" aria-hidden=\"true\">"
        "<g class=\"series s{}{}\"><path class=\"line\" d=\"{}\"/>{}</g></svg>{}</span>",
        one.style % marker_shapes, css_of(one), one.joined ? "M0 6h26" : "", marker(one.style, 13.0, 6.0),
        html_text(one.name, 80) + (one.joined && is_zero(one) ? ": no difference" : ""));
  }
  return html + "</div>";
}

/// What the chart shows, in words: the largest value of each series and where.
std::string spoken(const std::vector<std::string>& layers, const std::vector<Series>& series) {
  std::string text;
  for (const Series& one : series) {
    std::size_t at = one.values.size();
    for (std::size_t i = 0; i < one.values.size(); ++i)
      if (!std::isnan(one.values[i]) && (at == one.values.size() || one.values[i] > one.values[at])) at = i;
    if (at == one.values.size()) continue;
    text += fmt::format(" {}: at most {} at {}.", plain_text(one.name, 80), format_number(one.values[at]),
                        at < layers.size() ? plain_text(layers[at], 60) : "?");
  }
  return text;
}

std::string mark_line(const ChartMark& mark, std::size_t group, std::size_t points) {
  const double x = x_of(mark.layer / group, points);
  const bool left_half = x < area::width / 2.0;
  return fmt::format(
      "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
      "<text class=\"tick mark-text\" x=\"{3:.1f}\" y=\"{4}\" text-anchor=\"{5}\">{6}</text>",
      x, area::top - 6.0, area::height - area::bottom, left_half ? x + 5.0 : x - 5.0, area::top - 1.0,
      left_half ? "start" : "end", html_text(mark.text, 60));
}

}  // namespace

std::string log_chart(const ChartText& text, const std::vector<std::string>& layers,
                      const std::vector<Series>& series, double limit, const std::vector<ChartMark>& marks) {
  const Scale scale = scale_of(series, limit);
  const std::size_t group = std::max<std::size_t>(layers_per_point(layers.size()), 1);
  const std::size_t points = (layers.size() + group - 1) / group;
  std::string caption = text.caption;
  if (group > 1) caption += fmt::format(" Each point is the worst of {} neighbouring layers.", group);
  std::string svg =
      fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", area::width,
                  area::height, html_escape(text.title + "." + spoken(layers, series)));
  svg += axis(scale, text) + layer_ticks(layers);
  if (limit > 0.0) {
    const double y = scale.y(limit);
    svg += fmt::format(
        "<line class=\"limit\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick limit-text\" x=\"{3}\" y=\"{4:.1f}\">budget</text>",
        area::left, area::width - area::right, y, area::left + 4.0, y - 4.0);
  }
  for (const ChartMark& mark : marks) svg += mark_line(mark, group, points);
  for (const Series& one : series)
    if (!is_zero(one)) svg += line(one, worst_of_groups(one.values, group), scale, layers, group);
  svg += "</svg>";
  return fmt::format(
      "<figure><figcaption><b>{}</b> {}</figcaption><div class=\"scroll plain\" tabindex=\"0\" "
      "role=\"group\" aria-label=\"{}\">{}</div>{}</figure>",
      html_escape(text.title), html_escape(caption), html_escape(text.title), svg, legend(series));
}

std::string bar(double share, const std::string& css_class) {
  const double clamped = std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
  // A class and no style attribute, which the report's own policy forbids.
  return fmt::format("<span class=\"bar {}\" aria-hidden=\"true\"><i class=\"w{}\"></i></span>", css_class,
                     std::lround(100.0 * clamped));
}

}  // namespace driftscope
