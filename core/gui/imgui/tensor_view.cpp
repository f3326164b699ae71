// Tensor: one layer's values on two targets and their difference, as pictures, and how they differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/format.hpp"
#include "core/draw/distributions.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/tensor_slice.hpp"
#include "core/gui/imgui/image_panels.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

/// A tensor with its values as doubles.
struct Loaded {
  Tensor tensor;
  std::vector<double> values;
  ValueRange range;
};

/// A layer on one or two targets, and how they differ.
struct Content {
  std::size_t layer = no_place;
  std::optional<Loaded> left, right;
  std::vector<double> difference;
  UlpHistogram histogram;
  Scatter scatter;
  std::int64_t worst = -1;                                       ///< element; −1 if nothing differs
  std::string why = "There is not enough memory to read them.";  ///< there is nothing
};

/// Where a tensor is to be read.
struct Source {
  std::shared_ptr<const RecordedTensors> tensors;
  std::size_t place = no_place;
  std::string target;
};

/// Content that is being read; `done` says that it may be looked at.
struct Reading {
  std::atomic<bool> done = false;
  Content content;
};

/// Also when the work is abandoned for lack of memory.
struct DoneAtEnd {
  Reading& reading;
  ~DoneAtEnd() { reading.done = true; }
};

std::optional<Loaded> read_one(const Source& source, std::string& why) {
  if (!source.tensors || source.place == no_place) {
    why = source.tensors ? source.target + " did not record it."
                         : "The opened files contain verdicts but no tensors. Open the trace files as well.";
    return std::nullopt;
  }
  auto tensor = source.tensors->load(source.place);
  if (!tensor.ok()) {
    why = tensor.error().message;
    return std::nullopt;
  }
  Loaded loaded{*std::move(tensor), {}, {}};
  loaded.values = element_values(loaded.tensor);
  loaded.range = range_of(loaded.values);
  return loaded;
}

void read_content(Content& content, const Source& left, const std::optional<Source>& right) {
  std::string why;
  content.left = read_one(left, why);
  if (right) content.right = read_one(*right, why);
  if (content.left && content.right && content.left->tensor.shape() == content.right->tensor.shape()) {
    content.difference = differences(content.left->values, content.right->values);
    content.histogram = ulp_histogram(content.left->tensor, content.right->tensor);
    content.scatter = scatter_of(content.left->values, content.right->values);
  }
  // The largest difference; NaN counts as the largest.
  const auto& difference = content.difference;
  std::size_t worst = 0;
  for (std::size_t i = 1; i < difference.size(); ++i)
    if (!(std::abs(difference[i]) <= std::abs(difference[worst]))) worst = i;
  content.why = std::move(why);
  content.worst = difference.empty() || difference[worst] == 0.0 ? -1 : static_cast<std::int64_t>(worst);
}

class TensorView final : public View {
 public:
  int place() const override { return 40; }

  void draw(Screen& screen) override {
    if (!screen.layer_selected())
      return empty_state(screen, "No layer is selected.",
                         "Select one in Layers, Drift or Graph; Up and Down go from one to the next.");
    load(screen);
    if (layer_ == no_place) return empty_state(screen, "Reading the tensors …", "");
    if (!left_ && !right_) return empty_state(screen, "This layer's values are not available.", why_.c_str());
    draw_toolbar(screen);
    if (layout().width() == 0) {
      panels_.clear();
      return empty_state(screen, "The tensor has no elements.",
                         "One of its dimensions is zero: there is nothing to show and nothing to compare.");
    }
    refresh(screen);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float em = ImGui::GetFontSize();
    const bool show_charts = both() && room.y > 20.0f * em;
    // The pictures get the width that their shape can use, the charts the rest.
    const float needed = panels_.height_for(room.x) + 4.0f * em;
    const float pictures = show_charts ? std::clamp(needed, room.y * 0.4f, room.y - 11.0f * em) : room.y;
    const float charts = room.y - pictures - ImGui::GetStyle().ItemSpacing.y;
    const std::int64_t over = panels_.draw(screen, {room.x, pictures});
    if (over >= 0) draw_tooltip(screen, over);
    if (show_charts) draw_charts(screen, {room.x, charts});
  }

  Table table(const Screen& screen) const override {
    Table table = {{"index", "left", "right", "difference", "left bits", "right bits"}};
    if (!screen.layer_selected() || (!left_ && !right_)) return {};
    const Loaded& any = left_ ? *left_ : *right_;
    constexpr std::int64_t max_elements = 100'000;
    for (std::int64_t i = 0; i < std::min(any.tensor.elements(), max_elements); ++i) {
      const auto place = static_cast<std::size_t>(i);
      table.push_back(
          {layout().index_text(i), left_ ? fmt::format("{}", left_->values[place]) : "",
           right_ && place < right_->values.size() ? fmt::format("{}", right_->values[place]) : "",
           both() ? fmt::format("{}", difference_[place]) : "", left_ ? element_bits(left_->tensor, i) : "",
           right_ ? element_bits(right_->tensor, i) : ""});
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    SavedPicture saved;
    saved.pixels = panels_.image();
    if (both()) {
      SvgPainter painter(900.0f, 420.0f, screen.theme.panel);
      paint_ulp_histogram(painter, {16.0f, 16.0f, 450.0f, 404.0f}, histogram_, screen.theme);
      paint_scatter(painter, {470.0f, 16.0f, 884.0f, 404.0f}, scatter_, screen.snapshot->targets[0].name,
                    screen.snapshot->targets[screen.target()].name, screen.theme);
      saved.svg = painter.finish();
    }
    return saved;
  }

 private:
  [[nodiscard]] PlaneLayout& layout() { return panels_.layout(); }
  [[nodiscard]] const PlaneLayout& layout() const { return panels_.layout(); }
  [[nodiscard]] bool both() const { return left_ && right_ && !difference_.empty(); }

  static Source source_of(const Screen& screen, std::size_t target) {
    const TargetColumn& column = screen.snapshot->targets[target];
    return {column.tensors, screen.snapshot->tensor_place(screen.selected().layer, target), column.target};
  }

  /// Has the selected layer read in the background, and takes over what was read.
  void load(Screen& screen) {
    const std::array<std::uint64_t, 3> key = {screen.snapshot_number, screen.selected().layer,
                                              screen.target()};
    if (key != key_) {
      if (key[0] != key_[0]) forget();
      key_ = key;
      reading_ = std::make_shared<Reading>();
      reading_->content.layer = screen.selected().layer;
      std::optional<Source> right;
      if (screen.target() > 0) right = source_of(screen, screen.target());
      screen.host.in_background([reading = reading_, left = source_of(screen, 0), right] {
        const DoneAtEnd end{*reading};
        read_content(reading->content, left, right);
      });
    }
    if (reading_ && reading_->done) show(std::exchange(reading_, nullptr)->content);
  }

  /// Of another comparison: its layers have other numbers.
  void forget() {
    left_.reset();
    right_.reset();
    layer_ = no_place;
  }

  void show(Content& content) {
    const Shape before = left_ ? left_->tensor.shape() : right_ ? right_->tensor.shape() : Shape{};
    layer_ = content.layer;
    left_ = std::move(content.left);
    right_ = std::move(content.right);
    difference_ = std::move(content.difference);
    histogram_ = std::move(content.histogram);
    scatter_ = std::move(content.scatter);
    worst_ = content.worst;
    why_ = std::move(content.why);
    const Shape now = left_ ? left_->tensor.shape() : right_ ? right_->tensor.shape() : Shape{};
    const auto chosen = layout().chosen();
    layout() = PlaneLayout(now);
    layout().choose(chosen);
    layout().show_tiles(tiles_);
    if (now != before) panels_.show_all();
    changed_ = true;
  }

  void draw_toolbar(Screen& screen) {
    const Layer& layer = screen.snapshot->layers[layer_];
    ImGui::AlignTextToFramePadding();
    const Loaded& any = left_ ? *left_ : *right_;
    ImGui::TextUnformatted(
        fmt::format("{}  {}  {}", layer.node, dtype_name(any.tensor.dtype()), shape_text(any.tensor.shape()))
            .c_str());
    const Shape& outer = layout().outer();
    auto chosen = layout().chosen();
    for (std::size_t axis = 0; axis < outer.size(); ++axis) {
      if (outer[axis] < 2 || (tiles_ && axis + 1 == outer.size())) continue;
      const float width = 8.0f * ImGui::GetFontSize();
      flow(width);
      ImGui::PushID(static_cast<int>(axis));
      int index = static_cast<int>(chosen[axis]);
      ImGui::SetNextItemWidth(width);
      const std::string format = layout().axis_name(axis) + " %d";
      if (ImGui::SliderInt("##axis", &index, 0,
                           static_cast<int>(std::min<std::int64_t>(outer[axis] - 1, INT_MAX)), format.c_str(),
                           ImGuiSliderFlags_AlwaysClamp)) {
        chosen[axis] = index;
        layout().choose(chosen);
        changed_ = true;
      }
      hint("Ctrl+click to type a number");
      ImGui::PopID();
    }
    if (!outer.empty() && outer.back() > 1) {
      flow(checkbox_width("All side by side"));
      if (ImGui::Checkbox("All side by side", &tiles_)) {
        layout().show_tiles(tiles_);
        changed_ = true;
        panels_.show_all();
      }
    }
    if (left_ && right_) {
      flow(checkbox_width("Shared scale"));
      if (ImGui::Checkbox("Shared scale", &shared_)) changed_ = true;
      hint("The same colours for the same values on both targets, or each over its own range");
    }
    if (both()) {
      flow(button_width("Worst element"));
      ImGui::BeginDisabled(worst_ < 0);
      if (ImGui::Button("Worst element")) go_to(worst_);
      ImGui::EndDisabled();
    }
  }

  void go_to(std::int64_t element) {
    auto chosen = layout().chosen();
    std::int64_t rest =
        element / std::max<std::int64_t>(1, (left_ ? left_->tensor.elements() : 1) /
                                                std::max<std::int64_t>(1, element_count(layout().outer())));
    for (std::size_t axis = layout().outer().size(); axis-- > 0;) {
      chosen[axis] = rest % layout().outer()[axis];
      rest /= layout().outer()[axis];
    }
    layout().choose(chosen);
    changed_ = true;
    panels_.look_at(element);
  }

  void refresh(Screen& screen) {
    if (!changed_) return;
    changed_ = false;
    panels_.clear();
    const auto& targets = screen.snapshot->targets;
    const ValueRange shared = left_ && right_ ? joined(left_->range, right_->range)
                              : left_         ? left_->range
                                              : right_->range;
    if (left_)
      panels_.add(screen, targets[0].name, left_->values, shared_ ? shared.low : left_->range.low,
                  shared_ ? shared.high : left_->range.high, ColourMap::sequential);
    if (right_)
      panels_.add(screen, targets[screen.target()].name, right_->values,
                  shared_ ? shared.low : right_->range.low, shared_ ? shared.high : right_->range.high,
                  ColourMap::sequential);
    if (!both()) return;
    const ValueRange range = range_of(difference_);
    panels_.add(screen, targets[screen.target()].name + " − " + targets[0].name, difference_, range.low,
                range.high, ColourMap::diverging);
  }

  void draw_tooltip(const Screen& screen, std::int64_t element) {
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(layout().index_text(element).c_str());
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
      if (left_)
        row(screen.snapshot->targets[0].name, left_->values[place], element_bits(left_->tensor, element));
      if (right_ && place < right_->values.size())
        row(screen.snapshot->targets[screen.target()].name, right_->values[place],
            element_bits(right_->tensor, element));
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
    const char* title = "ULP between them, by number of elements";
    const bool room_for_title = painter.text_width(title) < middle - area.box.left - line;
    painter.text({area.box.left, area.box.top + line * 0.5f}, room_for_title ? title : "ULP between them",
                 screen.theme.ink, Anchor::start, false);
    paint_ulp_histogram(
        painter, {area.box.left, area.box.top + line * 1.2f, middle - 20.0f * screen.scale, area.box.bottom},
        histogram_, screen.theme);
    painter.text({middle, area.box.top + line * 0.5f}, "One against the other", screen.theme.ink,
                 Anchor::start, false);
    paint_scatter(painter, {middle, area.box.top + line * 1.2f, area.box.right, area.box.bottom}, scatter_,
                  screen.snapshot->targets[0].name, screen.snapshot->targets[screen.target()].name,
                  screen.theme);
    painter.unclip();
  }

  std::array<std::uint64_t, 3> key_{};
  std::shared_ptr<Reading> reading_;  // null: nothing is being read
  std::size_t layer_ = no_place;      // shown
  std::optional<Loaded> left_, right_;
  std::vector<double> difference_;
  UlpHistogram histogram_;
  Scatter scatter_;
  ImagePanels panels_;
  std::int64_t worst_ = -1;  // element; −1 if nothing differs
  std::string why_;
  bool shared_ = true;
  bool tiles_ = false;
  bool changed_ = false;
};

}  // namespace

std::unique_ptr<View> make_tensor_view() { return std::make_unique<TensorView>(); }

}  // namespace driftscope::gui
