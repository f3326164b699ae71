// Runs: times over builds, from the history that the host keeps.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

class RunsView final : public View {
 public:
  int place() const override { return 90; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    const auto& history = screen.feed.history;
    if (!history || history->empty())
      return empty_state(screen, "The history of runs is empty.", screen.feed.history_advice.c_str());
    chosen_ = std::min(chosen_, history->size() - 1);
    const float list = std::min(ImGui::GetContentRegionAvail().x * 0.36f, 24.0f * ImGui::GetFontSize());
    if (ImGui::BeginChild("list", {list, 0.0f})) {
      for (std::size_t i = 0; i < history->size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable((*history)[i].title.c_str(), i == chosen_)) chosen_ = i;
        small_text(screen, (*history)[i].where, screen.theme.dim);
        ImGui::PopID();
      }
    }
    ImGui::EndChild();
    ImGui::SameLine();
    if (ImGui::BeginChild("series")) draw_series(screen, (*history)[chosen_]);
    ImGui::EndChild();
  }

  Table table(const Screen& screen) const override {
    return screen.feed.history ? trend_table(*screen.feed.history) : Table{};
  }

  SavedPicture picture(const Screen& screen) const override {
    if (!screen.feed.history || chosen_ >= screen.feed.history->size()) return {};
    SvgPainter painter(900.0f, 360.0f, screen.theme.panel);
    paint_trend(painter, {16.0f, 16.0f, 884.0f, 344.0f}, (*screen.feed.history)[chosen_], screen.theme);
    return {painter.finish(), {}};
  }

 private:
  static void draw_series(Screen& screen, const RunTrend& trend) {
    ImGui::TextUnformatted(trend.title.c_str());
    small_text(screen, trend.where, screen.theme.dim);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const Canvas area = canvas("trend", {room.x, room.y * 0.5f});
    auto painter = screen.painter();
    paint_trend(painter, area.box, trend, screen.theme);
    if (!ImGui::BeginTable(
            "builds", 4,
            ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp))
      return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* name : {"build", "first measured", "median", "against the one before"})
      ImGui::TableSetupColumn(name);
    headers_row({2});
    for (auto point = trend.points.rbegin(); point != trend.points.rend(); ++point) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(point->build.c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(point->first_seen.c_str());
      ImGui::TableNextColumn();
      right_text(format_ns(static_cast<std::int64_t>(point->median_ns)), screen.theme.ink);
      ImGui::TableNextColumn();
      ImGui::TextColored(
          im4(point->change == Change::slower ? screen.theme.verdict(Verdict::fault) : screen.theme.ink),
          "%s", change_words(*point).c_str());
    }
    ImGui::EndTable();
  }

  std::size_t chosen_ = 0;
};

}  // namespace

std::unique_ptr<View> make_runs_view() { return std::make_unique<RunsView>(); }

}  // namespace driftscope::gui
