// A Painter for tests: how far everything that is painted reaches, and its polylines. Texts are six pixels
// wide a character.
#pragma once

#include <algorithm>
#include <vector>

#include "core/draw/painter.hpp"

namespace driftscope::test {

class ExtentPainter final : public Painter {
 public:
  Box reached{1e9f, 1e9f, -1e9f, -1e9f};
  std::vector<std::vector<Point>> lines;
  float unit() const override { return 1.0f; }
  void line(Point a, Point b, Colour, float) override {
    reach(a);
    reach(b);
  }
  void polyline(std::span<const Point> points, Colour, float) override {
    lines.emplace_back(points.begin(), points.end());
    for (const Point point : points) reach(point);
  }
  void fill(Box box, Colour, float) override {
    reach({box.left, box.top});
    reach({box.right, box.bottom});
  }
  void frame(Box box, Colour colour, float, float radius) override { fill(box, colour, radius); }
  void polygon(std::span<const Point> points, Colour) override {
    for (const Point point : points) reach(point);
  }
  void disc(Point centre, float radius, Colour) override {
    reach({centre.x - radius, centre.y - radius});
    reach({centre.x + radius, centre.y + radius});
  }
  void ring(Point centre, float radius, Colour colour, float) override { disc(centre, radius, colour); }
  void text(Point at, std::string_view text, Colour, Anchor anchor, bool small) override {
    const float width = text_width(text, small);
    const float left = anchor == Anchor::start    ? at.x
                       : anchor == Anchor::middle ? at.x - width / 2.0f
                                                  : at.x - width;
    const float half = line_height(small) / 2.0f;
    reach({left, at.y - half});
    reach({left + width, at.y + half});
  }
  float text_width(std::string_view text, bool) const override {
    return 6.0f * static_cast<float>(text.size());
  }
  float line_height(bool) const override { return 12.0f; }
  void clip(Box) override {}
  void unclip() override {}

  /// Whether everything lies within the box.
  bool inside(Box box) const {
    return reached.left >= box.left && reached.top >= box.top && reached.right <= box.right &&
           reached.bottom <= box.bottom;
  }

 private:
  void reach(Point point) {
    reached.left = std::min(reached.left, point.x);
    reached.top = std::min(reached.top, point.y);
    reached.right = std::max(reached.right, point.x);
    reached.bottom = std::max(reached.bottom, point.y);
  }
};

}  // namespace driftscope::test
