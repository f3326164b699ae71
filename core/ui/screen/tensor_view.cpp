// Tensor: one layer's values on two targets and their difference, as pictures, and how they differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/ui/colour_map.hpp"
#include "core/ui/distributions.hpp"
#include "core/ui/heat_map.hpp"
#include "core/ui/screen/widgets.hpp"
#include "core/ui/svg_painter.hpp"
#include "core/ui/tensor_slice.hpp"
#include "core/views/format.hpp"

namespace driftscope::ui {
namespace {

/// A tensor with its values as doubles.
struct Loaded {
  Tensor tensor;
  std::vector<double> values;
  ValueRange range;
};

/// One of the heat maps: its pixels, and the texture of them.
struct Plate {
  std::string name;
  Image image;
  std::uintptr_t texture = 0;
  double low = 0.0;
  double high = 0.0;
  ColourMap map = ColourMap::sequential;
};

class TensorView final : public View {
 public:
  std::string_view title() const override { return "Tensor"; }

  void draw(Screen& screen) override {
    host_ = &screen.host;
    if (!screen.layer_selected()) return empty_state(screen, "No layer is selected.", "Select one in Layers, Drift or Graph; Up and Down go from one to the next.");
    load(screen);
    if (!left_ && !right_) return empty_state(screen, "This layer's values are not at hand.", why_.c_str());
    draw_toolbar(screen);
    refresh(screen);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float em = ImGui::GetFontSize();
    const bool show_charts = both() && room.y > 20.0f * em;
    // The pictures take what their shape can use, the charts the rest of it.
    const float needed = pictures_height(room.x) + 4.0f * em;
    const float pictures = show_charts ? std::clamp(needed, room.y * 0.4f, room.y - 11.0f * em) : room.y;
    const float charts = room.y - pictures - ImGui::GetStyle().ItemSpacing.y;
    draw_plates(screen, {room.x, pictures});
    if (show_charts) draw_charts(screen, {room.x, charts});
  }

  Table table(const Screen& screen) const override {
    Table table = {{"index", "left", "right", "difference", "left bits", "right bits"}};
    if (!screen.layer_selected() || (!left_ && !right_)) return {};
    const Loaded& any = left_ ? *left_ : *right_;
    constexpr std::int64_t most = 100'000;
    for (std::int64_t i = 0; i < std::min(any.tensor.elements(), most); ++i) {
      const auto place = static_cast<std::size_t>(i);
      table.push_back({layout_.index_text(i), left_ ? fmt::format("{}", left_->values[place]) : "", right_ ? fmt::format("{}", right_->values[place]) : "",
                       both() ? fmt::format("{}", difference_[place]) : "", left_ ? element_bits(left_->tensor, i) : "", right_ ? element_bits(right_->tensor, i) : ""});
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    SavedPicture saved;
    if (plates_.empty()) return saved;
    // The plates side by side, one pixel per element.
    constexpr std::int64_t gap = 4;
    for (const Plate& plate : plates_) {
      saved.pixels.width += plate.image.width + (saved.pixels.width > 0 ? gap : 0);
      saved.pixels.height = std::max(saved.pixels.height, plate.image.height);
    }
    saved.pixels.pixels.assign(static_cast<std::size_t>(saved.pixels.width * saved.pixels.height), Colour{0, 0, 0, 0});
    std::int64_t left = 0;
    for (const Plate& plate : plates_) {
      for (std::int64_t y = 0; y < plate.image.height; ++y)
        std::copy_n(plate.image.pixels.begin() + y * plate.image.width, plate.image.width, saved.pixels.pixels.begin() + y * saved.pixels.width + left);
      left += plate.image.width + gap;
    }
    if (both()) {
      SvgPainter painter(900.0f, 420.0f, screen.theme.panel);
      paint_ulp_histogram(painter, {16.0f, 16.0f, 450.0f, 404.0f}, histogram_, screen.theme);
      paint_scatter(painter, {470.0f, 16.0f, 884.0f, 404.0f}, scatter_, screen.snapshot->targets[0].name, screen.snapshot->targets[screen.target()].name, screen.theme);
      saved.svg = painter.finish();
    }
    return saved;
  }

  ~TensorView() override { release(); }

 private:
  [[nodiscard]] bool both() const { return left_ && right_ && !difference_.empty(); }

  std::optional<Loaded> load_one(const Screen& screen, std::size_t target) {
    const TargetColumn& column = screen.snapshot->targets[target];
    const Cell& cell = screen.snapshot->cell(screen.selected().layer, target);
    if (!column.tensors || cell.tensor == no_place) {
      why_ = column.tensors ? column.target + " did not record it." : "What was opened holds verdicts and no tensors. Open the trace files as well.";
      return std::nullopt;
    }
    auto tensor = column.tensors->load(cell.tensor);
    if (!tensor.ok()) {
      why_ = tensor.error().message;
      return std::nullopt;
    }
    Loaded loaded{*std::move(tensor), {}, {}};
    loaded.values = element_values(loaded.tensor);
    loaded.range = range_of(loaded.values);
    return loaded;
  }

  void load(const Screen& screen) {
    const std::array<std::uint64_t, 3> key = {screen.snapshot_number, screen.selected().layer, screen.target()};
    if (key == key_) return;
    key_ = key;
    const Shape before = left_ ? left_->tensor.shape() : right_ ? right_->tensor.shape() : Shape{};
    left_ = load_one(screen, 0);
    right_ = screen.target() > 0 ? load_one(screen, screen.target()) : std::nullopt;
    difference_.clear();
    histogram_ = {};
    scatter_ = {};
    if (left_ && right_ && left_->tensor.shape() == right_->tensor.shape()) {
      difference_ = differences(left_->values, right_->values);
      histogram_ = ulp_histogram(left_->tensor, right_->tensor);
      scatter_ = scatter_of(left_->values, right_->values);
    }
    const Shape now = left_ ? left_->tensor.shape() : right_ ? right_->tensor.shape() : Shape{};
    const auto chosen = layout_.chosen();
    layout_ = PlaneLayout(now);
    layout_.choose(chosen);
    layout_.show_tiles(tiles_);
    if (now != before) zoom_ = 1.0f, centre_ = {0.5f, 0.5f};
    changed_ = true;
  }

  void draw_toolbar(Screen& screen) {
    const Layer& layer = screen.snapshot->layers[screen.selected().layer];
    ImGui::AlignTextToFramePadding();
    const Loaded& any = left_ ? *left_ : *right_;
    ImGui::TextUnformatted(fmt::format("{}  {}  {}", layer.node, dtype_name(any.tensor.dtype()), shape_text(any.tensor.shape())).c_str());
    const Shape& outer = layout_.outer();
    auto chosen = layout_.chosen();
    for (std::size_t axis = 0; axis < outer.size(); ++axis) {
      if (outer[axis] < 2 || (tiles_ && axis + 1 == outer.size())) continue;
      ImGui::SameLine();
      if (ImGui::GetContentRegionAvail().x < 11.0f * ImGui::GetFontSize()) ImGui::NewLine();
      ImGui::PushID(static_cast<int>(axis));
      int index = static_cast<int>(chosen[axis]);
      ImGui::SetNextItemWidth(8.0f * ImGui::GetFontSize());
      const std::string format = layout_.axis_name(axis) + " %d";
      if (ImGui::SliderInt("##axis", &index, 0, static_cast<int>(std::min<std::int64_t>(outer[axis] - 1, INT_MAX)), format.c_str(), ImGuiSliderFlags_AlwaysClamp)) {
        chosen[axis] = index;
        layout_.choose(chosen);
        changed_ = true;
      }
      hint("Ctrl+click to type a number");
      ImGui::PopID();
    }
    if (!outer.empty() && outer.back() > 1) {
      ImGui::SameLine();
      if (ImGui::Checkbox("All side by side", &tiles_)) {
        layout_.show_tiles(tiles_);
        changed_ = true;
        zoom_ = 1.0f;
        centre_ = {0.5f, 0.5f};
      }
    }
    if (left_ && right_) {
      ImGui::SameLine();
      if (ImGui::GetContentRegionAvail().x < 12.0f * ImGui::GetFontSize()) ImGui::NewLine();
      if (ImGui::Checkbox("Shared scale", &shared_)) changed_ = true;
      hint("Both targets in the same colours for the same values, or each over its own range");
    }
    if (both()) {
      std::size_t worst = 0;
      for (std::size_t i = 1; i < difference_.size(); ++i)
        if (!(std::abs(difference_[i]) <= std::abs(difference_[worst]))) worst = i;
      ImGui::SameLine();
      if (ImGui::GetContentRegionAvail().x < 7.5f * ImGui::GetFontSize()) ImGui::NewLine();
      ImGui::BeginDisabled(difference_[worst] == 0.0);
      if (ImGui::Button("Worst element")) go_to(static_cast<std::int64_t>(worst));
      ImGui::EndDisabled();
    }
  }

  void go_to(std::int64_t element) {
    marked_ = element;
    auto chosen = layout_.chosen();
    std::int64_t rest = element / std::max<std::int64_t>(1, (left_ ? left_->tensor.elements() : 1) / std::max<std::int64_t>(1, element_count(layout_.outer())));
    for (std::size_t axis = layout_.outer().size(); axis-- > 0;) {
      chosen[axis] = rest % layout_.outer()[axis];
      rest /= layout_.outer()[axis];
    }
    layout_.choose(chosen);
    changed_ = true;
    const auto place = layout_.place(element);
    zoom_ = std::max(1.0f, static_cast<float>(std::max(layout_.width(), layout_.height())) / 24.0f);
    centre_ = {(static_cast<float>(place.x) + 0.5f) / static_cast<float>(layout_.width()), (static_cast<float>(place.y) + 0.5f) / static_cast<float>(layout_.height())};
  }

  void release() {
    for (Plate& plate : plates_)
      if (plate.texture != 0 && host_ != nullptr) host_->release_texture(plate.texture);
    plates_.clear();
  }

  void add_plate(Screen& screen, const std::string& name, const std::vector<double>& values, double low, double high, ColourMap map) {
    Plate plate{name, heat_map(values, layout_, low, high, map), 0, low, high, map};
    plate.texture = screen.host.make_texture(plate.image);
    plates_.push_back(std::move(plate));
  }

  void refresh(Screen& screen) {
    if (!changed_) return;
    changed_ = false;
    release();
    const auto& targets = screen.snapshot->targets;
    const ValueRange shared = left_ && right_ ? joined(left_->range, right_->range) : left_ ? left_->range : right_->range;
    if (left_) add_plate(screen, targets[0].name, left_->values, shared_ ? shared.low : left_->range.low, shared_ ? shared.high : left_->range.high, ColourMap::sequential);
    if (right_) add_plate(screen, targets[screen.target()].name, right_->values, shared_ ? shared.low : right_->range.low, shared_ ? shared.high : right_->range.high, ColourMap::sequential);
    if (!both()) return;
    const ValueRange range = range_of(difference_);
    add_plate(screen, targets[screen.target()].name + " − " + targets[0].name, difference_, range.low, range.high, ColourMap::diverging);
  }

  /// Side by side over this width.
  [[nodiscard]] float pictures_height(float width) const {
    if (layout_.width() == 0) return 0.0f;
    return width / static_cast<float>(std::max<std::size_t>(1, plates_.size())) * static_cast<float>(layout_.height()) / static_cast<float>(layout_.width());
  }

  void draw_plates(Screen& screen, ImVec2 room) {
    if (layout_.width() == 0) return empty_state(screen, "The tensor has no elements.", "One of its dimensions is zero: there is nothing to show and nothing to compare.");
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const Canvas area = canvas("plates", room);
    auto painter = screen.painter();
    const auto count = static_cast<float>(plates_.size());
    const float gap = 14.0f * screen.scale;
    // Wide tensors under each other, others side by side: whatever gives larger pictures.
    const float aspect = static_cast<float>(layout_.width()) / static_cast<float>(layout_.height());
    const float head = painter.line_height() * 1.2f;
    const float foot = painter.line_height(true) * 1.6f;
    const auto fit = [&](float width, float height) { return std::min(width / aspect, height); };
    const float beside = fit((room.x - gap * (count - 1.0f)) / count, room.y - head - foot);
    const float below = fit(room.x, (room.y - gap * (count - 1.0f)) / count - head - foot);
    const bool stacked = below > beside * 1.15f;
    std::int64_t over = -1;
    for (std::size_t i = 0; i < plates_.size(); ++i) {
      const auto place = static_cast<float>(i);
      const float width = stacked ? room.x : (room.x - gap * (count - 1.0f)) / count;
      const float height = stacked ? (room.y - gap * (count - 1.0f)) / count : room.y;
      const Box cell{origin.x + (stacked ? 0.0f : place * (width + gap)), origin.y + (stacked ? place * (height + gap) : 0.0f), 0.0f, 0.0f};
      const Box whole{cell.left, cell.top, cell.left + width, cell.top + height};
      const Box picture{whole.left, whole.top + head, whole.right, whole.bottom - foot};
      painter.text({whole.left, whole.top + head * 0.45f}, plates_[i].name, screen.theme.ink, Anchor::start, false);
      const std::int64_t found = draw_plate(screen, painter, plates_[i], picture, aspect);
      if (found >= 0) over = found;
      const float below_picture = picture.top + std::min(picture.height(), picture.width() / aspect);
      draw_scale(screen, painter, plates_[i], {whole.left, below_picture + 4.0f, whole.right, whole.bottom});
    }
    handle_mouse(area);
    if (over >= 0 && area.hovered) draw_tooltip(screen, over);
    if (over >= 0 && area.clicked && !dragged_) marked_ = over;
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) dragged_ = false;
  }

  /// The element under the mouse; −1 when it is elsewhere.
  std::int64_t draw_plate(Screen& screen, Painter& painter, const Plate& plate, Box room, float aspect) {
    if (room.height() < 4.0f || room.width() < 4.0f) return -1;
    const float height = std::min(room.height(), room.width() / aspect);
    const Box box{room.left, room.top, room.left + height * aspect, room.top + height};
    const float span = 1.0f / zoom_;
    const float left = std::clamp(centre_.x - span / 2.0f, 0.0f, 1.0f - span);
    const float top = std::clamp(centre_.y - span / 2.0f, 0.0f, 1.0f - span);
    painter.fill(box, screen.theme.raised, 0.0f);
    if (plate.texture != 0)
      ImGui::GetWindowDrawList()->AddImage(reinterpret_cast<ImTextureID>(plate.texture), {box.left, box.top}, {box.right, box.bottom}, {left, top}, {left + span, top + span});
    const auto columns = static_cast<float>(layout_.width());
    const auto rows = static_cast<float>(layout_.height());
    if (marked_ >= 0) {
      const auto place = layout_.place(marked_);
      if (place.x >= 0) {
        const auto to_screen = [&](float x, float y) { return Point{box.left + (x / columns - left) / span * box.width(), box.top + (y / rows - top) / span * box.height()}; };
        const Point a = to_screen(static_cast<float>(place.x), static_cast<float>(place.y));
        const Point b = to_screen(static_cast<float>(place.x) + 1.0f, static_cast<float>(place.y) + 1.0f);
        painter.clip(box);
        const float grow = std::max(0.0f, 4.0f - (b.x - a.x) / 2.0f);
        painter.frame({a.x - grow - 1.0f, a.y - grow - 1.0f, b.x + grow + 1.0f, b.y + grow + 1.0f}, rgb(0x000000), 3.0f, 0.0f);
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

  void draw_scale(const Screen& screen, Painter& painter, const Plate& plate, Box box) {
    const float height = painter.line_height(true) * 0.45f;
    const double most = std::max(std::abs(plate.low), std::abs(plate.high));
    const bool diverging = plate.map == ColourMap::diverging;
    const std::string low = format_number(diverging ? -most : plate.low);
    const std::string high = format_number(diverging ? most : plate.high);
    const float y = box.top + painter.line_height(true) * 0.55f;
    const float left = box.left + painter.text_width(low, true) + 6.0f;
    const float right = std::min(box.right - painter.text_width(high, true) - 6.0f, left + 220.0f * screen.scale);
    painter.text({box.left, y}, low, screen.theme.dim, Anchor::start, true);
    constexpr int steps = 48;
    for (int i = 0; i < steps && right > left; ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(steps - 1);
      const Colour colour = diverging ? diverging_colour(static_cast<double>(t) * 2.0 - 1.0) : sequential_colour(static_cast<double>(t));
      const float step = (right - left) / static_cast<float>(steps);
      painter.fill({left + static_cast<float>(i) * step, y - height / 2.0f, left + static_cast<float>(i + 1) * step + 0.5f, y + height / 2.0f}, colour, 0.0f);
    }
    painter.text({right + 6.0f, y}, high, screen.theme.dim, Anchor::start, true);
  }

  void handle_mouse(const Canvas& area) {
    const ImGuiIO& io = ImGui::GetIO();
    if (!area.hovered && !ImGui::IsItemActive()) return;
    if (io.MouseWheel != 0.0f && over_box_.contains(point(io.MousePos))) {
      const float factor = io.MouseWheel > 0.0f ? 1.25f : 0.8f;
      const float most = std::max(1.0f, static_cast<float>(std::max(layout_.width(), layout_.height())) / 4.0f);
      const float before = 1.0f / zoom_;
      zoom_ = std::clamp(zoom_ * factor, 1.0f, most);
      const float after = 1.0f / zoom_;
      // What is under the mouse stays there.
      const float u = (io.MousePos.x - over_box_.left) / over_box_.width() - 0.5f;
      const float v = (io.MousePos.y - over_box_.top) / over_box_.height() - 0.5f;
      centre_.x += u * (before - after);
      centre_.y += v * (before - after);
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f) && over_box_.width() > 0.0f) {
      dragged_ = true;
      centre_.x -= io.MouseDelta.x / over_box_.width() / zoom_;
      centre_.y -= io.MouseDelta.y / over_box_.height() / zoom_;
    }
    if (area.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) zoom_ = 1.0f, centre_ = {0.5f, 0.5f};
    const float half = 0.5f / zoom_;
    centre_ = {std::clamp(centre_.x, half, 1.0f - half), std::clamp(centre_.y, half, 1.0f - half)};
  }

  void draw_tooltip(const Screen& screen, std::int64_t element) {
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(layout_.index_text(element).c_str());
    if (ImGui::BeginTable("element", 3, ImGuiTableFlags_SizingFixedFit)) {
      const auto row = [&](const std::string& name, double value, const std::string& bits) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(name.c_str());
        ImGui::TableNextColumn();
        right_text(fmt::format("{:.9g}", value), screen.theme.ink);
        ImGui::TableNextColumn();
        right_text(bits, screen.theme.dim);
      };
      const auto place = static_cast<std::size_t>(element);
      if (left_) row(screen.snapshot->targets[0].name, left_->values[place], element_bits(left_->tensor, element));
      if (right_ && place < right_->values.size()) row(screen.snapshot->targets[screen.target()].name, right_->values[place], element_bits(right_->tensor, element));
      if (both()) row("difference", difference_[place], "");
      ImGui::EndTable();
    }
    ImGui::EndTooltip();
  }

  void draw_charts(Screen& screen, ImVec2 room) {
    const Canvas area = canvas("charts", room);
    auto painter = screen.painter();
    painter.clip(area.box);
    const float line = painter.line_height();
    const float middle = area.box.left + room.x * 0.5f;
    painter.text({area.box.left, area.box.top + line * 0.5f}, "ULP between them, by number of elements", screen.theme.ink, Anchor::start, false);
    paint_ulp_histogram(painter, {area.box.left, area.box.top + line * 1.2f, middle - 20.0f * screen.scale, area.box.bottom}, histogram_, screen.theme);
    painter.text({middle, area.box.top + line * 0.5f}, "One against the other", screen.theme.ink, Anchor::start, false);
    paint_scatter(painter, {middle, area.box.top + line * 1.2f, area.box.right, area.box.bottom}, scatter_, screen.snapshot->targets[0].name, screen.snapshot->targets[screen.target()].name, screen.theme);
    painter.unclip();
  }

  Host* host_ = nullptr;
  std::array<std::uint64_t, 3> key_{};
  std::optional<Loaded> left_, right_;
  std::vector<double> difference_;
  UlpHistogram histogram_;
  Scatter scatter_;
  PlaneLayout layout_{Shape{0}};
  std::vector<Plate> plates_;
  std::string why_;
  bool shared_ = true;
  bool tiles_ = false;
  bool changed_ = false;
  bool dragged_ = false;
  std::int64_t marked_ = -1;
  float zoom_ = 1.0f;
  Point centre_{0.5f, 0.5f};
  Box over_box_;
};

}  // namespace

std::unique_ptr<View> make_tensor_view() { return std::make_unique<TensorView>(); }

}  // namespace driftscope::ui
