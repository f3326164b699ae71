// Time: bars per layer for each target, and a run as a flame chart.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/chart_data.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/gui/layer_order.hpp"
#include "core/report/run_time_text.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::gui {
namespace {

class TimeView final : public View {
 public:
  int place() const override { return 50; }

  void draw(Screen& screen) override {
    const bool none = std::ranges::all_of(screen.snapshot->targets, [](const TargetColumn& target) {
      return target.time.kind == TimeKind::unknown;
    });
    if (none)
      return empty_state(
          screen, "No times were recorded.",
          "The opened files contain only tensors; Driftscope's own runs record the time of every node.");
    draw_toolbar(screen);
    update(screen);
    draw_totals(screen);
    if (flames_)
      draw_flames(screen);
    else
      draw_bars(screen);
  }

  Table table(const Screen& screen) const override {
    Table table = {{"layer", "op"}};
    for (const TargetColumn& target : screen.snapshot->targets)
      table[0].insert(table[0].end(), {target.target + " ns", target.target + " first ns"});
    for (std::size_t i = 0; i < screen.snapshot->layers.size(); ++i) {
      std::vector<std::string> row = {screen.snapshot->layers[i].node, screen.snapshot->layers[i].op};
      for (std::size_t t = 0; t < screen.snapshot->targets.size(); ++t) {
        const Cell& cell = screen.snapshot->cell(i, t);
        row.insert(row.end(), {std::to_string(cell.time_ns()), std::to_string(cell.first_ns())});
      }
      table.push_back(std::move(row));
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    constexpr std::size_t max_rows = 120;
    const std::size_t count = std::min(rows_.size(), max_rows);
    std::vector<TimeRow> rows;
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back(
          {screen.snapshot->layers[rows_[i]].label, layer_times(*screen.snapshot, rows_[i], first_ == 1)});
    const SvgPainter measuring(1.0f, 1.0f, screen.theme.panel);
    const float height = time_rows_height(measuring, rows);
    SvgPainter painter(1000.0f, height + 24.0f, screen.theme.panel);
    paint_time_rows(painter, {10.0f, 12.0f, 990.0f, 12.0f + height}, rows,
                    longest_layer_ns(*screen.snapshot, first_ == 1), screen.theme);
    return {painter.finish(), {}};
  }

 private:
  void draw_toolbar(Screen& screen) {
    segments(screen, "kind", kind_, {"Bars", "Flame chart"});
    flames_ = kind_ == 1;
    flow(segments_width({"Steady runs", "First run"}));
    if (segments(screen, "first", first_, {"Steady runs", "First run"})) number_ = 0;
    hint(
        "The first run compiles and warms up. The whole model: the median of runs that nothing watches. "
        "Layers: the "
        "median of the later half of the watched runs");
    if (!flames_) {
      flow(checkbox_width("Longest first"));
      if (ImGui::Checkbox("Longest first", &sorted_)) number_ = 0;
    } else if (view_.to_ns - view_.from_ns < all_ns_) {
      flow(button_width("Whole run"));
      if (ImGui::Button("Whole run")) view_.from_ns = 0, view_.to_ns = all_ns_;
    }
  }

  void update(const Screen& screen) {
    if (number_ == screen.snapshot_number && sorted_target_ == screen.target()) return;
    number_ = screen.snapshot_number;
    sorted_target_ = screen.target();
    LayerSort sort;
    if (sorted_)
      sort = {SortBy::metric, timed_target(screen),
              first_ == 1 ? timed_metric("first_time") : timed_metric("time"), true};
    rows_ = ordered_layers(*screen.snapshot, {}, sort);
    flame_.clear();
    all_ns_ = 1;
    for (std::size_t t = 0; t < screen.snapshot->targets.size(); ++t) {
      flame_.push_back(flame_of(*screen.snapshot, t, first_ == 1));
      all_ns_ = std::max(all_ns_, flame_.back().total_ns);
    }
    view_.from_ns = 0;
    view_.to_ns = all_ns_;
  }

  /// The selected target, or the first one whose layers have times.
  static std::size_t timed_target(const Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    if (targets[screen.target()].time.layers != "unknown") return screen.target();
    for (std::size_t t = 0; t < targets.size(); ++t)
      if (targets[t].time.layers != "unknown") return t;
    return screen.target();
  }

  void draw_totals(Screen& screen) {
    const auto& targets = screen.snapshot->targets;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const RunTime& time = targets[t].time;
      const RunTime& base = targets[0].time;
      const double ns = first_ == 1 ? time.first_ns : time.ns;
      const double base_ns = first_ == 1 ? base.first_ns : base.ns;
      std::string text =
          first_ == 1 ? format_ns(static_cast<std::int64_t>(time.first_ns)) : short_run_time_text(time);
      if (t > 0 && ns > 0 && base_ns > 0 && time.kind == base.kind) text += "  " + ratio_text(ns / base_ns);
      const float width =
          ImGui::CalcTextSize((targets[t].name + text).c_str()).x + 3.0f * ImGui::GetFontSize();
      if (t > 0) {
        ImGui::SameLine(0.0f, 18.0f * screen.scale);
        if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
      }
      target_label(screen, t);
      ImGui::SameLine(0.0f, 8.0f * screen.scale);
      ImGui::TextColored(im4(screen.theme.dim), "%s", text.c_str());
      hint((run_time_text(time) + "\n" + layer_times_text(time)).c_str());
    }
  }

  /// What the bars of layers are, for targets whose layers have none as well.
  void draw_sources(Screen& screen) {
    std::string text;
    for (const TargetColumn& target : screen.snapshot->targets) {
      if (!text.empty()) text += " · ";
      text += target.name + " " + (target.time.layers == "unknown" ? "not reported" : target.time.layers);
    }
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen, "Times of layers: " + text, screen.theme.dim);
    ImGui::PopTextWrapPos();
  }

  void draw_bars(Screen& screen) {
    draw_sources(screen);
    if (!ImGui::BeginChild("bars", {0.0f, 0.0f}, 0, ImGuiWindowFlags_NoNav)) return ImGui::EndChild();
    auto painter = screen.painter();
    const float row = time_row_height(painter, screen.snapshot->targets.size());
    const float names = std::min(ImGui::GetContentRegionAvail().x * 0.3f, 18.0f * ImGui::GetFontSize());
    draw_model_row(screen, painter, row, names);
    const std::int64_t longest = longest_layer_ns(*screen.snapshot, first_ == 1);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0f, 0.0f});
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()), row);
    const auto letters = static_cast<std::size_t>(names / (painter.text_width("nnnnnnnnnn", false) / 10.0f));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const std::uint32_t layer = rows_[static_cast<std::size_t>(i)];
        const bool chosen = screen.selected().layer == layer;
        ImGui::PushID(i);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        if (ImGui::Selectable("##row", chosen, 0, {0.0f, row})) screen.selection.select_layer(layer);
        const float right = at.x + ImGui::GetContentRegionAvail().x;
        painter.text({at.x + names - 10.0f, at.y + row / 2.0f},
                     elide_start(screen.snapshot->layers[layer].label, std::max<std::size_t>(3, letters)),
                     screen.theme.ink, Anchor::end, false);
        paint_times(painter, {at.x + names, at.y, right, at.y + row},
                    layer_times(*screen.snapshot, layer, first_ == 1), longest, screen.theme);
        ImGui::PopID();
      }
    ImGui::PopStyleVar();
    ImGui::EndChild();
  }

  void draw_model_row(Screen& screen, Painter& painter, float row, float names) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    painter.text({at.x + names - 10.0f, at.y + row / 2.0f}, "whole model", screen.theme.ink, Anchor::end,
                 false);
    const std::vector<std::int64_t> times = model_times(*screen.snapshot, first_ == 1);
    paint_times(painter, {at.x + names, at.y, right, at.y + row}, times, *std::ranges::max_element(times),
                screen.theme);
    ImGui::Dummy({0.0f, row});
    ImGui::Separator();
  }

  void draw_flames(Screen& screen) {
    if (!ImGui::BeginChild("flames")) return ImGui::EndChild();
    for (std::size_t t = 0; t < flame_.size(); ++t) {
      if (flame_[t].spans.empty()) continue;
      target_label(screen, t);
      auto painter = screen.painter();
      const float height = flame_level_height(painter) * static_cast<float>(flame_[t].depth) + 4.0f;
      ImGui::PushID(static_cast<int>(t));
      const Canvas area = canvas("flame", {ImGui::GetContentRegionAvail().x, height});
      ImGui::PopID();
      FlameView view = view_;
      view.box = area.box;
      view.selected = screen.selected().layer;
      paint_flame(painter, view, flame_[t], screen.theme);
      handle_flame_mouse(screen, painter, area, view, t);
    }
    ImGui::EndChild();
  }

  void handle_flame_mouse(Screen& screen, const Painter& painter, const Canvas& area, const FlameView& view,
                          std::size_t target) {
    const ImGuiIO& io = ImGui::GetIO();
    const double length = static_cast<double>(view_.to_ns - view_.from_ns);
    if (area.hovered && io.KeyCtrl && io.MouseWheel != 0.0f) {
      const double share = static_cast<double>((io.MousePos.x - area.box.left) / area.box.width());
      const double about = static_cast<double>(view_.from_ns) + share * length;
      const double wanted =
          std::clamp(length * (io.MouseWheel > 0.0f ? 0.75 : 1.33), 100.0, static_cast<double>(all_ns_));
      move_to(about - share * wanted, wanted);
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left))
      move_to(static_cast<double>(view_.from_ns) -
                  static_cast<double>(io.MouseDelta.x / area.box.width()) * length,
              length);
    if (!area.hovered) return;
    const FlameSpan* span = flame_at(painter, view, flame_[target], point(io.MousePos));
    if (span == nullptr) return;
    if (area.clicked && span->layer != no_place) screen.selection.select({span->layer, target});
    const std::string name = span->layer == no_place ? span->name : screen.snapshot->layers[span->layer].node;
    ImGui::SetTooltip("%s\n%s, %.1f %% of the run\nCtrl+wheel zooms, drag moves", name.c_str(),
                      format_ns(span->end_ns - span->begin_ns).c_str(),
                      100.0 * static_cast<double>(span->end_ns - span->begin_ns) /
                          static_cast<double>(std::max<std::int64_t>(1, flame_[target].total_ns)));
  }

  void move_to(double from, double length) {
    from = std::clamp(from, 0.0, std::max(0.0, static_cast<double>(all_ns_) - length));
    view_.from_ns = static_cast<std::int64_t>(from);
    view_.to_ns = static_cast<std::int64_t>(from + length);
  }

  int kind_ = 0;
  int first_ = 0;
  bool flames_ = false;
  bool sorted_ = true;
  std::uint64_t number_ = 0;
  std::size_t sorted_target_ = no_place;
  std::vector<std::uint32_t> rows_;
  std::vector<Flame> flame_;
  FlameView view_;
  std::int64_t all_ns_ = 1;
};

}  // namespace

std::unique_ptr<View> make_time_view() { return std::make_unique<TimeView>(); }

}  // namespace driftscope::gui
