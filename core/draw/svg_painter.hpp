// A Painter that writes SVG 1.1: a picture to be saved. Clients: the chart exports, tests.
#pragma once

#include <string>

#include "core/draw/painter.hpp"

namespace driftscope::gui {

class SvgPainter final : public Painter {
 public:
  SvgPainter(float width, float height, Colour ground);

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
  void clip(Box box) override;
  void unclip() override;

  /// The whole file. Nothing may be drawn afterwards.
  [[nodiscard]] std::string finish();

 private:
  std::string svg_;
  int clips_ = 0;       // ids assigned
  int open_clips_ = 0;  // groups not yet closed
};

}  // namespace driftscope::gui
