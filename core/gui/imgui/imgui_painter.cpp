#include "core/gui/imgui/imgui_painter.hpp"

#include <cmath>
#include <vector>

namespace driftscope::gui {
namespace {

ImVec2 v(Point p) { return {p.x, p.y}; }

bool turns_sharply(std::span<const Point> points) {
  for (std::size_t i = 2; i < points.size(); ++i) {
    const float ax = points[i - 1].x - points[i - 2].x, ay = points[i - 1].y - points[i - 2].y;
    const float bx = points[i].x - points[i - 1].x, by = points[i].y - points[i - 1].y;
    if (ax * bx + ay * by < 0.3f * std::sqrt((ax * ax + ay * ay) * (bx * bx + by * by))) return true;
  }
  return false;
}

}  // namespace

void ImGuiPainter::line(Point a, Point b, Colour colour, float width) {
  list_->AddLine(v(a), v(b), im(colour), width * scale_);
}

void ImGuiPainter::polyline(std::span<const Point> points, Colour colour, float width) {
  // AddPolyline's joints stick out at sharp turns: such a line is drawn segment by segment.
  if (!turns_sharply(points)) {
    std::vector<ImVec2> line;
    for (const Point& p : points) line.push_back(v(p));
    list_->AddPolyline(line.data(), static_cast<int>(line.size()), im(colour), 0, width * scale_);
    return;
  }
  for (std::size_t i = 1; i < points.size(); ++i)
    list_->AddLine(v(points[i - 1]), v(points[i]), im(colour), width * scale_);
}

void ImGuiPainter::fill(Box box, Colour colour, float radius) {
  list_->AddRectFilled({box.left, box.top}, {box.right, box.bottom}, im(colour), radius * scale_);
}

void ImGuiPainter::frame(Box box, Colour colour, float width, float radius) {
  list_->AddRect({box.left, box.top}, {box.right, box.bottom}, im(colour), radius * scale_, 0,
                 width * scale_);
}

void ImGuiPainter::polygon(std::span<const Point> convex, Colour colour) {
  std::vector<ImVec2> corners;
  for (const Point& p : convex) corners.push_back(v(p));
  // Smoothed edges of translucent pieces overlap where they meet: a band would have seams.
  const ImDrawListFlags flags = list_->Flags;
  if (colour.a != 255) list_->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  list_->AddConvexPolyFilled(corners.data(), static_cast<int>(corners.size()), im(colour));
  list_->Flags = flags;
}

void ImGuiPainter::disc(Point centre, float radius, Colour colour) {
  list_->AddCircleFilled(v(centre), radius * scale_, im(colour));
}

void ImGuiPainter::ring(Point centre, float radius, Colour colour, float width) {
  list_->AddCircle(v(centre), radius * scale_, im(colour), 0, width * scale_);
}

void ImGuiPainter::text(Point at, std::string_view utf8, Colour colour, Anchor anchor, bool small) {
  if (anchor != Anchor::start) {
    const float width = text_width(utf8, small);
    at.x -= anchor == Anchor::end ? width : width / 2.0f;
  }
  // Whole pixels, for sharp glyphs.
  at.x = std::round(at.x);
  at.y = std::round(at.y - font(small)->FontSize / 2.0f);
  list_->AddText(font(small), font(small)->FontSize, v(at), im(colour), utf8.data(),
                 utf8.data() + utf8.size());
}

float ImGuiPainter::text_width(std::string_view utf8, bool small) const {
  return font(small)
      ->CalcTextSizeA(font(small)->FontSize, FLT_MAX, 0.0f, utf8.data(), utf8.data() + utf8.size())
      .x;
}

float ImGuiPainter::line_height(bool small) const { return font(small)->FontSize * 1.25f; }

void ImGuiPainter::clip(Box box) { list_->PushClipRect({box.left, box.top}, {box.right, box.bottom}, true); }

void ImGuiPainter::unclip() { list_->PopClipRect(); }

}  // namespace driftscope::gui
