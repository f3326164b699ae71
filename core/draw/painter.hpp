// The drawing interface of charts: on the screen (gui/imgui/imgui_painter) and as SVG (svg_painter), so
// that saved pictures and the report equal what is displayed. Coordinates are pixels, y downwards; line
// widths and radii are in units, which have several pixels on a dense display. Clients: the charts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/function_ref.hpp"
#include "core/draw/colour.hpp"

namespace driftscope {

struct Point {
  float x = 0.0f;
  float y = 0.0f;
};

struct Box {
  float left = 0.0f;
  float top = 0.0f;
  float right = 0.0f;
  float bottom = 0.0f;
  [[nodiscard]] float width() const { return right - left; }
  [[nodiscard]] float height() const { return bottom - top; }
  [[nodiscard]] Point centre() const { return {(left + right) / 2.0f, (top + bottom) / 2.0f}; }
  [[nodiscard]] bool contains(Point p) const {
    return p.x >= left && p.x < right && p.y >= top && p.y < bottom;
  }
  [[nodiscard]] Box inset(float by) const { return {left + by, top + by, right - by, bottom - by}; }
};

/// Where a text's anchor lies along its line; vertically the anchor is its middle.
enum class Anchor { start, middle, end };

class Painter {
 public:
  Painter() = default;
  virtual ~Painter() = default;
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;

  /// Pixels in a unit.
  [[nodiscard]] virtual float unit() const = 0;
  virtual void line(Point a, Point b, Colour colour, float width) = 0;
  virtual void polyline(std::span<const Point> points, Colour colour, float width) = 0;
  virtual void fill(Box box, Colour colour, float radius = 0.0f) = 0;
  virtual void frame(Box box, Colour colour, float width, float radius = 0.0f) = 0;
  virtual void polygon(std::span<const Point> convex, Colour colour) = 0;
  virtual void disc(Point centre, float radius, Colour colour) = 0;
  virtual void ring(Point centre, float radius, Colour colour, float width) = 0;
  virtual void text(Point at, std::string_view utf8, Colour colour, Anchor anchor, bool small = false) = 0;
  [[nodiscard]] virtual float text_width(std::string_view utf8, bool small = false) const = 0;
  /// Height of a line of text.
  [[nodiscard]] virtual float line_height(bool small = false) const = 0;
  /// What follows until close_group is one thing, for the pointer and for screen readers. A window answers
  /// the pointer itself and asks for no title.
  virtual void open_group(FunctionRef<std::string()> /*title*/) {}
  virtual void close_group() {}
  /// Clips everything that follows to the box, until unclip. Nests.
  virtual void clip(Box box) = 0;
  virtual void unclip() = 0;
};

}  // namespace driftscope
