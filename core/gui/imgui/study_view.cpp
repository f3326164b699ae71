// Study: what the published studies found, and what they find here: claims, accuracy, time and memory with
// their intervals, and the tables beside those that were published.
#include <fmt/format.h>

#include <algorithm>

#include "core/draw/bar_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/study/study_charts.hpp"
#include "core/study/study_tables.hpp"

namespace driftscope::gui {
namespace {

class StudyScreen final : public View {
 public:
  int place() const override { return 94; }
  bool needs_snapshot() const override { return false; }

  void draw(Screen& screen) override {
    update(screen);
    if (!study_)
      return empty_state(screen, "No study is open.",
                         "driftscope study run deployment --out FOLDER makes one: drop the folder here,\n"
                         "or driftscope gui FOLDER opens it.");
    draw_heading(screen);
    parts_list(screen, names_, parts_.size(), chosen_);
    if (ImGui::BeginChild("part")) {
      if (chosen_ < parts_.size() && parts_[chosen_].table)
        draw_table(screen, *parts_[chosen_].table);
      else if (chosen_ < parts_.size())
        draw_charts(screen, parts_[chosen_].name);
    }
    ImGui::EndChild();
  }

  Table table(const Screen&) const override {
    if (chosen_ >= parts_.size()) return {};
    if (!parts_[chosen_].table) {
      Table table = {{"chart", "bar", "figure"}};
      for (const StudyChart& chart : charts_)
        if (chart.group == parts_[chosen_].name)
          for (const Bar& bar : chart.bars) table.push_back({chart.title, bar.label, bar.text});
      return table;
    }
    const StudyTable& shown = *parts_[chosen_].table;
    Table table = {shown.columns};
    for (const StudyTable::Row& row : shown.rows) {
      table.push_back(row.cells);
      table.back().resize(shown.columns.size());
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    if (chosen_ >= parts_.size() || parts_[chosen_].table) return {};
    constexpr float width = 1000.0f;
    constexpr float heading = 30.0f;
    float height = 16.0f;
    for (const StudyChart& chart : charts_)
      if (chart.group == parts_[chosen_].name) height += heading + bar_chart_height(chart.bars.size());
    SvgPainter painter(width, height, screen.theme.panel);
    float top = 8.0f;
    for (const StudyChart& chart : charts_) {
      if (chart.group != parts_[chosen_].name) continue;
      painter.text({16.0f, top + heading / 2.0f}, chart.title, screen.theme.ink, Anchor::start);
      top += heading;
      const float end = top + bar_chart_height(chart.bars.size());
      paint_bars(painter, {16.0f, top, width - 16.0f, end}, chart.bars, chart.logarithmic, screen.theme);
      top = end;
    }
    return {painter.finish(), {}};
  }

 private:
  /// An entry of the list: a table, or charts of one kind.
  struct Part {
    std::string name;
    const StudyTable* table = nullptr;
  };

  void update(const Screen& screen) {
    if (study_ == screen.feed.study) return;
    study_ = screen.feed.study;
    parts_.clear();
    names_.clear();
    tables_.clear();
    charts_.clear();
    chosen_ = 0;
    if (!study_) return;
    tables_ = study_tables(*study_);
    charts_ = study_charts(*study_);
    const auto add_tables = [&](bool claims) {
      for (const StudyTable& table : tables_)
        if ((table.id == "claims") == claims) parts_.push_back({table.title, &table});
    };
    add_tables(true);
    for (const StudyChart& chart : charts_)
      if (parts_.empty() || parts_.back().name != chart.group) parts_.push_back({std::string(chart.group)});
    add_tables(false);
    for (const Part& part : parts_) names_.push_back(part.name);
  }

  void draw_heading(const Screen& screen) const {
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(study_->study().title.c_str());
    small_text(screen, study_->study().about, screen.theme.dim);
    ImGui::PopTextWrapPos();
    ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.3f});
  }

  void draw_charts(Screen& screen, const std::string& group) const {
    for (const StudyChart& chart : charts_) {
      if (chart.group != group) continue;
      ImGui::TextUnformatted(chart.title.c_str());
      auto measure = screen.painter();
      const float height = bar_chart_height(chart.bars.size(), measure.unit());
      const Canvas area = canvas(chart.title.c_str(), {ImGui::GetContentRegionAvail().x, height});
      auto painter = screen.painter();
      paint_bars(painter, area.box, chart.bars, chart.logarithmic, screen.theme);
      ImGui::Dummy({0.0f, ImGui::GetFontSize() * 0.5f});
    }
  }

  static bool is_words(const std::string& column) {
    constexpr std::string_view names[] = {"claim", "evidence"};
    return std::ranges::find(names, column) != std::end(names);
  }

  static void draw_table(const Screen& screen, const StudyTable& table) {
    ImGui::PushTextWrapPos(0.0f);
    ImGui::TextUnformatted(table.title.c_str());
    const bool published = std::ranges::any_of(table.rows, &StudyTable::Row::published);
    const std::string note = (published ? "Grey: as published. " : "") + table.note;
    if (!note.empty()) small_text(screen, note, screen.theme.dim);
    ImGui::PopTextWrapPos();
    const int columns = static_cast<int>(std::min<std::size_t>(table.columns.size(), 60));
    const bool words = std::ranges::any_of(table.columns, is_words);
    const ImGuiTableFlags flags =
        ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
        ImGuiTableFlags_BordersInnerH |
        (words ? ImGuiTableFlags_SizingStretchProp : ImGuiTableFlags_SizingFixedFit);
    if (columns == 0 ||
        !ImGui::BeginTable(table.id.c_str(), columns, words ? flags & ~ImGuiTableFlags_ScrollX : flags))
      return;
    ImGui::TableSetupScrollFreeze(words ? 0 : 1, 1);
    for (int c = 0; c < columns; ++c) {
      const std::string& name = table.columns[static_cast<std::size_t>(c)];
      ImGui::TableSetupColumn(name.c_str(), 0, words ? (is_words(name) ? 4.0f : 1.2f) : 0.0f);
    }
    ImGui::TableHeadersRow();
    for (const StudyTable::Row& row : table.rows) {
      ImGui::TableNextRow();
      for (int c = 0; c < columns && c < std::ssize(row.cells); ++c) {
        if (!ImGui::TableNextColumn()) continue;
        draw_cell(screen, table, row, static_cast<std::size_t>(c), words);
      }
    }
    ImGui::EndTable();
  }

  static void draw_cell(const Screen& screen, const StudyTable& table, const StudyTable::Row& row,
                        std::size_t column, bool wrapped) {
    const std::string& text = row.cells[column];
    Colour colour = row.published ? screen.theme.dim : screen.theme.ink;
    if (table.id == "claims" && text == "does not hold here") colour = screen.theme.verdict(Verdict::fault);
    if (table.id == "claims" && text == "holds here") colour = screen.theme.verdict(Verdict::identical);
    if (wrapped) ImGui::PushTextWrapPos(0.0f);
    ImGui::PushStyleColor(ImGuiCol_Text, im(colour));
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    if (wrapped) ImGui::PopTextWrapPos();
  }

  std::shared_ptr<const driftscope::StudyView> study_;
  std::vector<StudyTable> tables_;
  std::vector<StudyChart> charts_;
  std::vector<Part> parts_;
  std::vector<std::string> names_;  // of the parts
  std::size_t chosen_ = 0;
};

}  // namespace

std::unique_ptr<View> make_study_view() { return std::make_unique<StudyScreen>(); }

}  // namespace driftscope::gui
