// A Painter for tests: a dense display that records widths and radii in pixels, boxes and texts.
#pragma once

#include <string>
#include <vector>

#include "core/draw/painter.hpp"

namespace driftscope::test {

class DensePainter final : public Painter {
 public:
  std::vector<float> radii;
  std::vector<float> widths;
  std::vector<Box> boxes;
  std::vector<std::string> texts;
  float unit() const override { return 3.0f; }
  void line(Point, Point, Colour, float width) override { widths.push_back(width * unit()); }
  void polyline(std::span<const Point>, Colour, float width) override { widths.push_back(width * unit()); }
  void fill(Box box, Colour, float) override { boxes.push_back(box); }
  void frame(Box, Colour, float, float) override {}
  void polygon(std::span<const Point>, Colour) override {}
  void disc(Point, float radius, Colour) override { radii.push_back(radius * unit()); }
  void ring(Point, float, Colour, float) override {}
  void text(Point, std::string_view text, Colour, Anchor, bool) override { texts.emplace_back(text); }
  float text_width(std::string_view, bool) const override { return 0.0f; }
  float line_height(bool) const override { return 0.0f; }
  void clip(Box) override {}
  void unclip() override {}
};

}  // namespace driftscope::test
