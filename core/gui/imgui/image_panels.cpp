#include "core/gui/imgui/image_panels.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/colour_map.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {

ImagePanels::~ImagePanels() { clear(); }

void ImagePanels::clear() {
  for (ImagePanel& panel : panels_)
    if (panel.texture != 0 && host_ != nullptr) host_->release_texture(panel.texture);
  panels_.clear();
}

void ImagePanels::add(Screen& screen, const std::string& name, const std::vector<double>& values, double low,
                      double high, ColourMap map) {
  host_ = &screen.host;
  const BlockValue block = map == ColourMap::diverging ? BlockValue::furthest : BlockValue::mean;
  ImagePanel panel{name, heat_map(cells_of(values, layout_, block), low, high, map), 0, low, high, map};
  panel.texture = screen.host.make_texture(panel.image);
  panels_.push_back(std::move(panel));
}

Image ImagePanels::image() const {
  constexpr std::int64_t gap = 4;
  Image all;
  for (const ImagePanel& panel : panels_) {
    all.width += panel.image.width + (all.width > 0 ? gap : 0);
    all.height = std::max(all.height, panel.image.height);
  }
  all.pixels.assign(static_cast<std::size_t>(all.width * all.height), Colour{0, 0, 0, 0});
  std::int64_t left = 0;
  for (const ImagePanel& panel : panels_) {
    for (std::int64_t y = 0; y < panel.image.height; ++y)
      std::copy_n(panel.image.pixels.begin() + y * panel.image.width, panel.image.width,
                  all.pixels.begin() + y * all.width + left);
    left += panel.image.width + gap;
  }
  return all;
}

void ImagePanels::look_at(std::int64_t element) {
  marked_ = element;
  const auto place = layout_.place(element);
  zoom_ = std::max(1.0f, static_cast<float>(std::max(layout_.width(), layout_.height())) / 24.0f);
  centre_ = {(static_cast<float>(place.x) + 0.5f) / static_cast<float>(layout_.width()),
             (static_cast<float>(place.y) + 0.5f) / static_cast<float>(layout_.height())};
}

float ImagePanels::height_for(float width) const {
  if (layout_.width() == 0) return 0.0f;
  return width / static_cast<float>(std::max<std::size_t>(1, panels_.size())) *
         static_cast<float>(layout_.height()) / static_cast<float>(layout_.width());
}

std::int64_t ImagePanels::draw(Screen& screen, ImVec2 room) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Canvas area = canvas("panels", room);
  auto painter = screen.painter();
  const auto count = static_cast<float>(panels_.size());
  const float gap = 14.0f * screen.scale;
  // Wide tensors below each other, others side by side: whatever gives larger pictures.
  const float aspect = static_cast<float>(layout_.width()) / static_cast<float>(layout_.height());
  const float head = painter.line_height() * 1.2f;
  const float foot = painter.line_height(true) * 1.6f;
  const auto fit = [&](float width, float height) { return std::min(width / aspect, height); };
  const float beside = fit((room.x - gap * (count - 1.0f)) / count, room.y - head - foot);
  const float below = fit(room.x, (room.y - gap * (count - 1.0f)) / count - head - foot);
  const bool stacked = below > beside * 1.15f;
  std::int64_t over = -1;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const auto place = static_cast<float>(i);
    const float width = stacked ? room.x : (room.x - gap * (count - 1.0f)) / count;
    const float height = stacked ? (room.y - gap * (count - 1.0f)) / count : room.y;
    const Box cell{origin.x + (stacked ? 0.0f : place * (width + gap)),
                   origin.y + (stacked ? place * (height + gap) : 0.0f), 0.0f, 0.0f};
    const Box whole{cell.left, cell.top, cell.left + width, cell.top + height};
    const Box picture{whole.left, whole.top + head, whole.right, whole.bottom - foot};
    const auto letters = static_cast<std::size_t>(width / (painter.text_width("nnnnnnnnnn") / 10.0f));
    const std::string& name = panels_[i].name;
    painter.text({whole.left, whole.top + head * 0.45f},
                 painter.text_width(name) <= width ? name : elide(name, letters), screen.theme.ink,
                 Anchor::start, false);
    const std::int64_t found = draw_panel(screen, painter, panels_[i], picture, aspect);
    if (found >= 0) over = found;
    const float below_picture = picture.top + std::min(picture.height(), picture.width() / aspect);
    draw_scale(screen, painter, panels_[i], {whole.left, below_picture + 4.0f, whole.right, whole.bottom});
  }
  handle_mouse(area.hovered);
  if (over >= 0 && area.clicked && !dragged_) marked_ = over;
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) dragged_ = false;
  return area.hovered ? over : -1;
}

std::int64_t ImagePanels::draw_panel(Screen& screen, Painter& painter, const ImagePanel& panel, Box room,
                                     float aspect) {
  if (room.height() < 4.0f || room.width() < 4.0f) return -1;
  const float height = std::min(room.height(), room.width() / aspect);
  const Box box{room.left, room.top, room.left + height * aspect, room.top + height};
  const float span = 1.0f / zoom_;
  const float left = std::clamp(centre_.x - span / 2.0f, 0.0f, 1.0f - span);
  const float top = std::clamp(centre_.y - span / 2.0f, 0.0f, 1.0f - span);
  painter.fill(box, screen.theme.raised, 0.0f);
  if (panel.texture != 0)
    ImGui::GetWindowDrawList()->AddImage(reinterpret_cast<ImTextureID>(panel.texture), {box.left, box.top},
                                         {box.right, box.bottom}, {left, top}, {left + span, top + span});
  const auto columns = static_cast<float>(layout_.width());
  const auto rows = static_cast<float>(layout_.height());
  if (marked_ >= 0) {
    const auto place = layout_.place(marked_);
    if (place.x >= 0) {
      const auto to_screen = [&](float x, float y) {
        return Point{box.left + (x / columns - left) / span * box.width(),
                     box.top + (y / rows - top) / span * box.height()};
      };
      const Point a = to_screen(static_cast<float>(place.x), static_cast<float>(place.y));
      const Point b = to_screen(static_cast<float>(place.x) + 1.0f, static_cast<float>(place.y) + 1.0f);
      painter.clip(box);
      const float grow = std::max(0.0f, 4.0f - (b.x - a.x) / 2.0f);
      painter.frame({a.x - grow - 1.0f, a.y - grow - 1.0f, b.x + grow + 1.0f, b.y + grow + 1.0f},
                    rgb(0x000000), 3.0f, 0.0f);
      painter.frame({a.x - grow, a.y - grow, b.x + grow, b.y + grow}, rgb(0xffffff), 1.5f, 0.0f);
      painter.unclip();
    }
  }
  painter.frame(box, screen.theme.line, 1.0f, 0.0f);
  const Point mouse = point(ImGui::GetIO().MousePos);
  if (!box.contains(mouse)) return -1;
  over_box_ = box;
  const float u = left + (mouse.x - box.left) / box.width() * span;
  const float v = top + (mouse.y - box.top) / box.height() * span;
  return layout_.element(static_cast<std::int64_t>(u * columns), static_cast<std::int64_t>(v * rows));
}

void ImagePanels::draw_scale(const Screen& screen, Painter& painter, const ImagePanel& panel, Box box) {
  const float height = painter.line_height(true) * 0.45f;
  const double largest = std::max(std::abs(panel.low), std::abs(panel.high));
  const bool diverging = panel.map == ColourMap::diverging;
  const std::string low = format_number(diverging ? -largest : panel.low);
  const std::string high = format_number(diverging ? largest : panel.high);
  const float y = box.top + painter.line_height(true) * 0.55f;
  const float left = box.left + painter.text_width(low, true) + 6.0f;
  const float right =
      std::min(box.right - painter.text_width(high, true) - 6.0f, left + 220.0f * screen.scale);
  painter.text({box.left, y}, low, screen.theme.dim, Anchor::start, true);
  constexpr int steps = 48;
  for (int i = 0; i < steps && right > left; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(steps - 1);
    const Colour colour = diverging ? diverging_colour(static_cast<double>(t) * 2.0 - 1.0)
                                    : sequential_colour(static_cast<double>(t));
    const float step = (right - left) / static_cast<float>(steps);
    painter.fill({left + static_cast<float>(i) * step, y - height / 2.0f,
                  left + static_cast<float>(i + 1) * step + 0.5f, y + height / 2.0f},
                 colour, 0.0f);
  }
  painter.text({right + 6.0f, y}, high, screen.theme.dim, Anchor::start, true);
}

void ImagePanels::handle_mouse(bool hovered) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!hovered && !ImGui::IsItemActive()) return;
  if (io.MouseWheel != 0.0f && over_box_.contains(point(io.MousePos))) {
    const float factor = io.MouseWheel > 0.0f ? 1.25f : 0.8f;
    const float max_zoom =
        std::max(1.0f, static_cast<float>(std::max(layout_.width(), layout_.height())) / 4.0f);
    const float before = 1.0f / zoom_;
    zoom_ = std::clamp(zoom_ * factor, 1.0f, max_zoom);
    const float after = 1.0f / zoom_;
    // The point under the mouse stays fixed.
    const float u = (io.MousePos.x - over_box_.left) / over_box_.width() - 0.5f;
    const float v = (io.MousePos.y - over_box_.top) / over_box_.height() - 0.5f;
    centre_.x += u * (before - after);
    centre_.y += v * (before - after);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f) &&
      over_box_.width() > 0.0f) {
    dragged_ = true;
    centre_.x -= io.MouseDelta.x / over_box_.width() / zoom_;
    centre_.y -= io.MouseDelta.y / over_box_.height() / zoom_;
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) zoom_ = 1.0f, centre_ = {0.5f, 0.5f};
  const float half = 0.5f / zoom_;
  centre_ = {std::clamp(centre_.x, half, 1.0f - half), std::clamp(centre_.y, half, 1.0f - half)};
}

}  // namespace driftscope::gui
