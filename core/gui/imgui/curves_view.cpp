// Curves: training curves by metric, with bands over repetitions and the values under the pointer; where runs
// end, how they differ, and of a training of our own the distance of the layers and which parts first.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/curves/curve_tables.hpp"
#include "core/curves/curves_text.hpp"
#include "core/curves/layer_drift.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/imgui/widgets.hpp"

namespace driftscope::gui {
namespace {

constexpr std::string_view notes_part = "Notes";
constexpr std::string_view drift_part = "Distance of the layers";

class CurvesScreen final : public View {
 public:
  int place() const override { return 98; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    update(screen);
    if (!set_)
      return empty_state(
          screen, "No training curves are open.",
          "Open TensorBoard's event files or a folder of them, Keras's history as JSON, CSV, or "
          "the folder of python -m driftscope.training: drop them here, or\n"
          "driftscope gui FILE… opens them. Several are compared.");
    const float em = ImGui::GetFontSize();
    ImGui::TextUnformatted(heading_.c_str());
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen, about_, screen.theme.dim);
    ImGui::PopTextWrapPos();
    ImGui::Dummy({0.0f, em * 0.3f});
    parts_list(screen, names_, first_told_, chosen_);
    if (ImGui::BeginChild("part") && chosen_ < parts_.size()) {
      const Part& part = parts_[chosen_];
      if (part.table != nullptr)
        draw_table(screen, *part.table);
      else if (part.name == notes_part)
        draw_notes(screen);
      else if (part.name == drift_part)
        draw_drifts(screen);
      else
        draw_charts(screen, part.name);
    }
    ImGui::EndChild();
  }

  Table table(const Screen&) const override {
    if (!set_ || chosen_ >= parts_.size()) return {};
    const Part& part = parts_[chosen_];
    Table made;
    if (part.table != nullptr) {
      made.push_back(part.table->columns);
      made.insert(made.end(), part.table->rows.begin(), part.table->rows.end());
    } else if (part.name == notes_part) {
      made.push_back({"note"});
      for (const std::string& note : set_->document.notes) made.push_back({note});
    } else if (part.name == drift_part) {
      made.push_back({"networks", "layer", "epoch", "distance"});
      for (const LayerDrift& drift : drifts_)
        for (std::size_t r = 0; r < drift.map.rows.size(); ++r)
          for (std::size_t c = 0; c < drift.map.columns.size(); ++c)
            made.push_back({drift.title, drift.map.rows[r], drift.map.columns[c],
                            fmt::format("{}", drift.map.values[r][c])});
    } else {
      made.push_back({"run", "metric", "repetition", "step", "value"});
      for (const Curve& curve : set_->curves)
        for (std::size_t i = 0; i < curve.steps.size() && curve.metric == part.name; ++i)
          made.push_back({curve.run, curve.metric, std::to_string(curve.repetition),
                          fmt::format("{}", curve.steps[i]), fmt::format("{}", curve.values[i])});
    }
    return made;
  }

  SavedPicture picture(const Screen& screen) const override {
    if (!set_ || chosen_ >= parts_.size() || parts_[chosen_].table != nullptr) return {};
    const std::string_view name = parts_[chosen_].name;
    constexpr float width = 1000.0f, heading = 30.0f, chart_height = 340.0f;
    float height = 16.0f;
    const auto for_each = [&](const auto& chart, const auto& drift) {
      for (const CurveChart& one : set_->charts)
        if (one.metric == name) chart(one);
      for (const LayerDrift& one : drifts_)
        if (name == drift_part) drift(one);
    };
    for_each([&](const CurveChart&) { height += heading + chart_height; },
             [&](const LayerDrift& one) { height += heading + drift_map_height(one.map); });
    if (height <= 16.0f) return {};
    SvgPainter painter(width, height, screen.theme.panel);
    float top = 8.0f;
    const auto title = [&](const std::string& text) {
      painter.text({16.0f, top + heading / 2.0f}, text, screen.theme.ink, Anchor::start);
      top += heading;
    };
    for_each(
        [&](const CurveChart& one) {
          title(one.title);
          paint_lines(painter, {{16.0f, top, width - 16.0f, top + chart_height}, curve_steps_title},
                      one.lines, screen.theme);
          top += chart_height;
        },
        [&](const LayerDrift& one) {
          title(one.title + ". " + one.about);
          const float end = top + drift_map_height(one.map);
          paint_drift_map(painter, {16.0f, top, width - 16.0f, end}, one.map, screen.theme);
          top = end;
        });
    return {painter.finish(), {}};
  }

 private:
  /// An entry of the list: a metric, the distances of layers, a table, or the notes.
  struct Part {
    std::string name;
    const CurveTable* table = nullptr;
  };

  void update(const Screen& screen) {
    if (set_ == screen.feed.curves) return;
    set_ = screen.feed.curves;
    parts_.clear();
    tables_.clear();
    drifts_.clear();
    names_.clear();
    chosen_ = 0;
    if (!set_) return;
    tables_ = curve_tables(*set_);
    for (const auto& training : set_->trainings)
      for (LayerDrift& drift : layer_drifts(*training)) drifts_.push_back(std::move(drift));
    for (const CurveChart& chart : set_->charts)
      if (parts_.empty() || parts_.back().name != chart.metric) parts_.push_back({chart.metric});
    if (!drifts_.empty()) parts_.push_back({std::string(drift_part)});
    first_told_ = parts_.size();
    for (const CurveTable& table : tables_) parts_.push_back({table.title, &table});
    if (!set_->document.notes.empty()) parts_.push_back({std::string(notes_part)});
    for (const Part& part : parts_) names_.push_back(part.name);
    std::vector<std::string_view> runs;
    std::size_t points = 0;
    for (const CurveGroup& group : set_->groups)
      if (std::ranges::find(runs, group.run) == runs.end()) runs.push_back(group.run);
    for (const Curve& curve : set_->curves) points += curve.steps.size();
    const auto counted = [](std::size_t count, const char* what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    heading_ = set_->trainings.empty() ? "Training curves" : "The same training in several frameworks";
    about_ = fmt::format("{} · {} · {}", counted(runs.size(), "run"), counted(set_->curves.size(), "curve"),
                         counted(points, "point"));
    for (const auto& training : set_->trainings)
      for (const documents::TrainingModel& model : training->models)
        about_ +=
            fmt::format(" · {} on {}: rate {:g}, batch {}", model.name, model.data, model.rate, model.batch);
  }

  static void draw_title(const Screen& screen, const std::string& title, const std::string& about) {
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(title.c_str());
    if (!about.empty()) small_text(screen, about, screen.theme.dim);
    ImGui::PopTextWrapPos();
  }

  void draw_charts(Screen& screen, const std::string& metric) const {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float em = ImGui::GetFontSize();
    const auto count = std::ranges::count(set_->charts, metric, &CurveChart::metric);
    // One fills the view; of several, two are in sight.
    const float height = std::clamp(room.y / (count > 1 ? 2.0f : 1.0f) - 4.5f * em, 13.0f * em, 60.0f * em);
    bool first = true;
    for (const CurveChart& chart : set_->charts) {
      if (chart.metric != metric) continue;
      if (!std::exchange(first, false)) ImGui::Dummy({0.0f, em * 0.5f});
      draw_title(screen, chart.title, chart.about);
      const Canvas area = canvas(chart.title.c_str(), {ImGui::GetContentRegionAvail().x, height});
      if (!ImGui::IsItemVisible()) continue;
      auto painter = screen.painter();
      const Box lines = paint_lines(painter, {area.box, curve_steps_title}, chart.lines, screen.theme);
      if (area.hovered) draw_values(screen, chart, lines);
    }
  }

  /// Of every line at the step under the pointer.
  static void draw_values(Screen& screen, const CurveChart& chart, Box area) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto nearest = nearest_step(chart.lines, area, mouse.x);
    if (!nearest || !area.contains({mouse.x, mouse.y})) return;
    auto painter = screen.painter();
    painter.line({nearest->x, area.top}, {nearest->x, area.bottom}, screen.theme.dim, 1.0f);
    ImGui::BeginTooltip();
    ImGui::TextColored(im4(screen.theme.dim), "%s", fmt::format("step {:g}", nearest->step).c_str());
    for (const ChartLine& line : chart.lines) {
      const auto place = place_of_step(line, nearest->step);
      if (!place) continue;
      std::string text = fmt::format("{}  {}", line.label, curve_number(line.y[*place]));
      if (!line.low.empty())
        text += fmt::format("  ({} to {})", curve_number(line.low[*place]), curve_number(line.high[*place]));
      ImGui::TextColored(im4(screen.theme.series(line.series)), "%s", text.c_str());
    }
    ImGui::EndTooltip();
  }

  void draw_drifts(Screen& screen) const {
    ImGui::PushTextWrapPos(0.0f);
    small_text(
        screen,
        "How far each layer's outputs for the same test samples are apart, epoch by epoch. Framed: the "
        "first layer that is apart. Without colour: the same bits.",
        screen.theme.dim);
    ImGui::PopTextWrapPos();
    const float em = ImGui::GetFontSize();
    ImGui::Dummy({0.0f, em * 0.4f});
    const auto across = std::clamp<std::size_t>(
        static_cast<std::size_t>(ImGui::GetContentRegionAvail().x / (25.0f * em)), 1, drifts_.size());
    if (!ImGui::BeginTable("maps", static_cast<int>(across), ImGuiTableFlags_SizingStretchSame)) return;
    for (const LayerDrift& drift : drifts_) {
      ImGui::TableNextColumn();
      draw_drift(screen, drift);
    }
    ImGui::EndTable();
  }

  static void draw_drift(Screen& screen, const LayerDrift& drift) {
    draw_title(screen, drift.title, drift.about);
    if (drift.map.rows.empty()) return;
    auto painter = screen.painter();
    const float height = drift_map_height(drift.map, painter.unit());
    const Canvas area = canvas(drift.title.c_str(), {ImGui::GetContentRegionAvail().x, height});
    if (!ImGui::IsItemVisible()) return;
    paint_drift_map(painter, area.box, drift.map, screen.theme);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto at = drift_map_place(painter, area.box, drift.map, {mouse.x, mouse.y});
    if (area.hovered && at)
      tooltip(fmt::format("{}, epoch {}: {}", drift.map.rows[at->row], drift.map.columns[at->column],
                          curve_number(drift.map.values[at->row][at->column]))
                  .c_str());
  }

  void draw_notes(const Screen& screen) const {
    ImGui::PushTextWrapPos(0.0f);
    for (const std::string& note : set_->document.notes) small_text(screen, note, screen.theme.ink);
    ImGui::PopTextWrapPos();
  }

  static void draw_table(const Screen& screen, const CurveTable& table) {
    draw_title(screen, table.title, table.note);
    const int columns = static_cast<int>(table.columns.size());
    constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                      ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerH |
                                      ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable(table.title.c_str(), columns, flags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const std::string& column : table.columns) ImGui::TableSetupColumn(column.c_str());
    ImGui::TableHeadersRow();
    ImGuiListClipper rows;
    rows.Begin(static_cast<int>(table.rows.size()));
    while (rows.Step())
      for (int r = rows.DisplayStart; r < rows.DisplayEnd; ++r)
        draw_row(screen, table, table.rows[static_cast<std::size_t>(r)]);
    ImGui::EndTable();
  }

  static void draw_row(const Screen& screen, const CurveTable& table, const std::vector<std::string>& row) {
    ImGui::TableNextRow();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!ImGui::TableNextColumn()) continue;
      const bool fault = table.columns[c] == "verdict" && row[c] == verdict_name(Verdict::fault);
      const Colour colour = fault ? screen.theme.verdict(Verdict::fault) : screen.theme.ink;
      if (c >= table.words)
        right_text(row[c], colour);
      else
        ImGui::TextColored(im4(colour), "%s", row[c].c_str());
    }
  }

  std::shared_ptr<const CurveSet> set_;
  std::string heading_, about_;
  std::vector<CurveTable> tables_;
  std::vector<LayerDrift> drifts_;
  std::vector<Part> parts_;
  std::vector<std::string> names_;  // of the parts
  std::size_t first_told_ = 0;      // from here on they are tables and notes
  std::size_t chosen_ = 0;
};

}  // namespace

std::unique_ptr<View> make_curves_view() { return std::make_unique<CurvesScreen>(); }

}  // namespace driftscope::gui
