// A Painter that writes SVG 1.1: a picture to be saved, or a part of a page. Clients: the chart exports, the
// report, tests.
#pragma once

#include <string>

#include "core/draw/painter.hpp"

namespace driftscope {

class SvgPainter final : public Painter {
 public:
  /// A file of its own.
  SvgPainter(float width, float height, Colour ground);
  /// A part of a page, in its font. What is painted in the light theme follows the page's variables
  /// (css_variables), dark or light. `attributes`: of the element, as they shall stand there.
  struct Part {
    float width = 0.0f;
    float height = 0.0f;
    std::string attributes;
  };
  explicit SvgPainter(const Part& part);

  [[nodiscard]] float unit() const override { return 1.0f; }
  void line(Point a, Point b, Colour colour, float width) override;
  void polyline(std::span<const Point> points, Colour colour, float width) override;
  void fill(Box box, Colour colour, float radius = 0.0f) override;
  void frame(Box box, Colour colour, float width, float radius = 0.0f) override;
  void polygon(std::span<const Point> convex, Colour colour) override;
  void disc(Point centre, float radius, Colour colour) override;
  void ring(Point centre, float radius, Colour colour, float width) override;
  void text(Point at, std::string_view utf8, Colour colour, Anchor anchor, bool small = false) override;
  [[nodiscard]] float text_width(std::string_view utf8, bool small = false) const override;
  [[nodiscard]] float line_height(bool small = false) const override;
  void open_group(FunctionRef<std::string()> title) override;
  void close_group() override;
  void clip(Box box) override;
  void unclip() override;

  /// The whole file. Nothing may be drawn afterwards.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string paint(const char* what, Colour colour) const;

  std::string svg_;
  bool part_ = false;
  int clips_ = 0;       // ids assigned
  int open_clips_ = 0;  // groups not yet closed
};

}  // namespace driftscope
