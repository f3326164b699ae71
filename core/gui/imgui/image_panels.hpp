// Heat maps side by side with common zoom and position. Client: the tensor view.
#pragma once

#include <string>
#include <vector>

#include "core/draw/heat_map.hpp"
#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

class ImagePanels {
 public:
  ImagePanels() = default;
  ~ImagePanels();
  ImagePanels(const ImagePanels&) = delete;
  ImagePanels& operator=(const ImagePanels&) = delete;

  /// How tensors are laid out; after a change the panels must be added again.
  [[nodiscard]] PlaneLayout& layout() { return layout_; }
  [[nodiscard]] const PlaneLayout& layout() const { return layout_; }
  void show_all() { zoom_ = 1.0f, centre_ = {0.5f, 0.5f}; }
  /// Zooms to the element and marks it.
  void look_at(std::int64_t element);

  void clear();
  void add(Screen& screen, const std::string& name, const std::vector<double>& values, double low,
           double high, ColourMap map);
  /// The pictures side by side, one pixel per element.
  [[nodiscard]] Image image() const;

  /// The height that they can use at this width.
  [[nodiscard]] float height_for(float width) const;
  /// The element under the mouse; −1 when it is elsewhere.
  std::int64_t draw(Screen& screen, ImVec2 room);

 private:
  struct ImagePanel {
    std::string name;
    Image image;
    std::uintptr_t texture = 0;
    double low = 0.0;
    double high = 0.0;
    ColourMap map = ColourMap::sequential;
  };

  std::int64_t draw_panel(Screen& screen, Painter& painter, const ImagePanel& panel, Box room, float aspect);
  static void draw_scale(const Screen& screen, Painter& painter, const ImagePanel& panel, Box box);
  void handle_mouse(bool hovered);

  Host* host_ = nullptr;
  PlaneLayout layout_{Shape{0}};
  std::vector<ImagePanel> panels_;
  bool dragged_ = false;
  std::int64_t marked_ = -1;
  float zoom_ = 1.0f;
  Point centre_{0.5f, 0.5f};
  Box over_box_;
};

}  // namespace driftscope::gui
