#include "core/draw/svg_painter.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/base/text.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {
namespace {

constexpr float svg_font = 13.0f;
constexpr float svg_small_font = 11.0f;

std::string points_text(std::span<const Point> points) {
  std::string text;
  for (const Point& p : points) text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", p.x, p.y);
  return text;
}

// XML allows no control characters, and names from models may hold any byte.
std::string xml_text(std::string_view utf8) {
  return html_escape(printable(utf8) ? std::string(utf8) : in_quotes(utf8, 400));
}

}  // namespace

// The opacity is a separate attribute: not every reader knows #rrggbbaa.
std::string SvgPainter::paint(const char* what, Colour colour) const {
  std::string text = fmt::format(" {}=\"{}\"", what, part_ ? css_colour(colour) : hex_text(colour));
  if (colour.a != 255)
    text += fmt::format(" {}-opacity=\"{:.3g}\"", what, static_cast<double>(colour.a) / 255.0);
  return text;
}

SvgPainter::SvgPainter(const Part& part) : part_(true) {
  svg_ = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" {}>", part.width, part.height, part.attributes);
}

SvgPainter::SvgPainter(float width, float height, Colour ground) {
  svg_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Roboto, 'Noto Sans', sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\"{2}/>\n",
      width, height, paint("fill", ground));
}

void SvgPainter::line(Point a, Point b, Colour colour, float width) {
  svg_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"{} stroke-width=\"{:.3g}\"/>\n", a.x, a.y,
      b.x, b.y, paint("stroke", colour), width);
}

void SvgPainter::polyline(std::span<const Point> points, Colour colour, float width) {
  if (points.size() < 2) return;
  svg_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\"{} stroke-width=\"{:.3g}\" stroke-linejoin=\"round\"/>\n",
      points_text(points), paint("stroke", colour), width);
}

void SvgPainter::fill(Box box, Colour colour, float radius) {
  svg_ +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.3g}\"{}/>\n",
                  box.left, box.top, box.width(), box.height(), radius, paint("fill", colour));
}

void SvgPainter::frame(Box box, Colour colour, float width, float radius) {
  svg_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.3g}\" fill=\"none\"{} "
      "stroke-width=\"{:.3g}\"/>\n",
      box.left, box.top, box.width(), box.height(), radius, paint("stroke", colour), width);
}

void SvgPainter::polygon(std::span<const Point> convex, Colour colour) {
  svg_ += fmt::format("<polygon points=\"{}\"{}/>\n", points_text(convex), paint("fill", colour));
}

void SvgPainter::disc(Point centre, float radius, Colour colour) {
  svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"{}/>\n", centre.x, centre.y, radius,
                      paint("fill", colour));
}

void SvgPainter::ring(Point centre, float radius, Colour colour, float width) {
  svg_ += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"none\"{} stroke-width=\"{:.3g}\"/>\n",
      centre.x, centre.y, radius, paint("stroke", colour), width);
}

void SvgPainter::text(Point at, std::string_view utf8, Colour colour, Anchor anchor, bool small) {
  const char* place = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
  const float size = small ? svg_small_font : svg_font;
  svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"{}\"{}>{}</text>\n",
                      at.x, at.y + size * 0.36f, size, place, paint("fill", colour), xml_text(utf8));
}

float SvgPainter::text_width(std::string_view utf8, bool small) const {
  // Roboto's letters are about 0.53 em wide; an estimate is enough for a saved picture.
  return static_cast<float>(display_width(utf8)) * 0.53f * (small ? svg_small_font : svg_font);
}

float SvgPainter::line_height(bool small) const { return 1.3f * (small ? svg_small_font : svg_font); }

void SvgPainter::open_group(FunctionRef<std::string()> title) {
  svg_ += "<g><title>" + xml_text(title()) + "</title>";
}

void SvgPainter::close_group() { svg_ += "</g>\n"; }

void SvgPainter::clip(Box box) {
  svg_ += fmt::format(
      "<clipPath id=\"c{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" "
      "height=\"{4:.1f}\"/></clipPath>\n"
      "<g clip-path=\"url(#c{0})\">\n",
      clips_++, box.left, box.top, box.width(), box.height());
  ++open_clips_;
}

void SvgPainter::unclip() {
  if (open_clips_ == 0) return;
  --open_clips_;
  svg_ += "</g>\n";
}

std::string SvgPainter::finish() {
  while (open_clips_ > 0) unclip();
  return svg_ + "</svg>\n";
}

}  // namespace driftscope
