// Memory: samples over time, and the memory that values need by their lifetimes.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/chart_data.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

class MemoryView final : public View {
 public:
  int place() const override { return 60; }

  void draw(Screen& screen) override {
    update(screen);
    draw_peaks(screen);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float line = ImGui::GetTextLineHeightWithSpacing();
    const bool two = !alive_.bytes.empty() && room.y > 16.0f * line;
    if (curves_.empty() && alive_.bytes.empty())
      return empty_state(screen, "No memory was recorded.",
                         "Driftscope's own runs sample it; traces made elsewhere may lack it.");
    auto painter = screen.painter();
    if (!curves_.empty()) {
      small_text(screen, "Measured, from the start of the run", screen.theme.dim);
      const Canvas area = canvas("measured", {room.x, two ? room.y * 0.52f - line : room.y - line});
      paint_memory(painter, area.box, curves_, screen.theme);
    }
    if (alive_.bytes.empty() || (!two && !curves_.empty())) return;
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen,
               "Values alive while each layer runs, by their lifetimes: what a run needs in addition to its "
               "weights",
               screen.theme.dim);
    ImGui::PopTextWrapPos();
    const Canvas area = canvas("alive", {room.x, std::max(60.0f, ImGui::GetContentRegionAvail().y)});
    paint_alive(painter, area.box, alive_, screen.selected().layer, screen.theme);
    if (!area.hovered) return;
    const std::size_t over =
        alive_place_at(painter, area.box, alive_.bytes.size(), point(ImGui::GetIO().MousePos));
    if (over == no_place) return;
    const Layer& layer = screen.snapshot->layers[alive_.layers[over]];
    ImGui::SetTooltip("%s\nalive %s, its own output %s", layer.node.c_str(),
                      format_bytes(alive_.bytes[over]).c_str(), format_bytes(layer.bytes).c_str());
    if (area.clicked) screen.selection.select_layer(alive_.layers[over]);
  }

  Table table(const Screen& screen) const override {
    Table table = {{"target", "kind", "t_ms", "bytes"}};
    for (const MemoryCurve& one : curves_)
      for (const MemoryRecord& sample : one.samples)
        table.push_back({screen.snapshot->targets[one.target].target, one.kind,
                         fmt::format("{}", sample.t_ms), std::to_string(sample.bytes)});
    for (std::size_t i = 0; i < alive_.bytes.size(); ++i)
      table.push_back({screen.snapshot->layers[alive_.layers[i]].node, "alive values", "",
                       std::to_string(alive_.bytes[i])});
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    SvgPainter painter(1000.0f, 720.0f, screen.theme.panel);
    paint_memory(painter, {16.0f, 16.0f, 984.0f, 360.0f}, curves_, screen.theme);
    paint_alive(painter, {16.0f, 380.0f, 984.0f, 704.0f}, alive_, screen.selected().layer, screen.theme);
    return {painter.finish(), {}};
  }

 private:
  void update(const Screen& screen) {
    if (number_ == screen.snapshot_number) return;
    number_ = screen.snapshot_number;
    curves_ = memory_curves(*screen.snapshot);
    alive_ = alive_values(*screen.snapshot);
  }

  void draw_peaks(Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    bool first = true;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      if (targets[t].peak.bytes == 0) continue;
      const std::string text = fmt::format("peak {} ({})", format_bytes(targets[t].peak.bytes),
                                           memory_kind_text(targets[t].peak.kind));
      if (!first) {
        ImGui::SameLine(0.0f, 18.0f * screen.scale);
        if (ImGui::GetContentRegionAvail().x <
            ImGui::CalcTextSize((targets[t].name + text).c_str()).x + 3.0f * ImGui::GetFontSize())
          ImGui::NewLine();
      }
      first = false;
      target_label(screen, t);
      ImGui::SameLine(0.0f, 8.0f * screen.scale);
      ImGui::TextColored(im4(screen.theme.dim), "%s", text.c_str());
    }
  }

  std::uint64_t number_ = 0;
  std::vector<MemoryCurve> curves_;
  AliveValues alive_;
};

}  // namespace

std::unique_ptr<View> make_memory_view() { return std::make_unique<MemoryView>(); }

}  // namespace driftscope::gui
