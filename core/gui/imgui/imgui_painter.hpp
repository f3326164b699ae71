// A Painter on an ImGui draw list. Clients: the views.
#pragma once

#include <imgui.h>

#include "core/draw/painter.hpp"

namespace driftscope::gui {

[[nodiscard]] inline ImU32 im(Colour colour) { return IM_COL32(colour.r, colour.g, colour.b, colour.a); }
[[nodiscard]] inline ImVec4 im4(Colour colour) { return ImGui::ColorConvertU32ToFloat4(im(colour)); }
[[nodiscard]] inline Point point(ImVec2 p) { return {p.x, p.y}; }

class ImGuiPainter final : public Painter {
 public:
  /// `small` is the font of small texts. All widths are multiplied by `scale`, lengths are not: the
  /// caller knows the size of a pixel.
  ImGuiPainter(ImDrawList* list, ImFont* regular, ImFont* small, float scale)
      : list_(list), regular_(regular), small_(small), scale_(scale) {}

  [[nodiscard]] float unit() const override { return scale_; }
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

 private:
  [[nodiscard]] ImFont* font(bool small) const { return small ? small_ : regular_; }

  ImDrawList* list_;
  ImFont* regular_;
  ImFont* small_;
  float scale_;
};

}  // namespace driftscope::gui
