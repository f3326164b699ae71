// Layers: a row per layer, a column per target, thousands of rows.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/gui/layer_order.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::gui {
namespace {

constexpr int fixed_columns = 5;

class LayersView final : public View {
 public:
  int place() const override { return 20; }

  void draw(Screen& screen) override {
    draw_toolbar(screen);
    update_rows(screen);
    move_by_keys(screen);
    draw_table(screen);
  }

  Table table(const Screen& screen) const override { return layer_table(*screen.snapshot, rows_); }
  void focus_filter() override { focus_ = true; }

 private:
  void draw_toolbar(Screen& screen) {
    const Snapshot& snapshot = *screen.snapshot;
    ImGui::SetNextItemWidth(std::min(ImGui::GetFontSize() * 16.0f, ImGui::GetContentRegionAvail().x * 0.4f));
    if (focus_) {
      // SetKeyboardFocusHere would need ImGui's own navigation, which is off for the arrow keys.
      ImGuiContext& context = *ImGui::GetCurrentContext();
      ImGui::FocusWindow(context.CurrentWindow);
      context.NavNextActivateId = ImGui::GetID("##filter");
      context.NavNextActivateFlags = ImGuiActivateFlags_PreferInput;
    }
    focus_ = false;
    if (ImGui::InputTextWithHint("##filter", "Filter: conv  op:Gemm  is:fault", text_, sizeof text_)) {
      filter_.text = text_;
      stale_ = true;
    }
    hint(
        "All words must occur, in any case. op:Conv matches only the operator; is:fault, is:suspect, "
        "is:unjudged, is:different, is:inherited, is:constant match the findings.  Key: /");
    const float metric_width = ImGui::GetFontSize() * 8.0f;
    flow(metric_width);
    ImGui::SetNextItemWidth(metric_width);
    const std::string preview(appearance(metric_).name);
    if (ImGui::BeginCombo("##metric", preview.c_str())) {
      for (const Metric metric : metrics_) {
        if (ImGui::Selectable(std::string(appearance(metric).name).c_str(), metric == metric_))
          metric_ = metric, stale_ = true;
        hint(std::string(appearance(metric).help).c_str());
      }
      ImGui::EndCombo();
    }
    hint("What the columns of the targets show");
    int mode = detailed_ ? 1 : 0;
    flow(segments_width({"All targets", "One target"}));
    if (segments(screen, "mode", mode, {"All targets", "One target"})) detailed_ = mode == 1, stale_ = true;
    hint("One metric of every target, or every metric of the selected one");
    if (std::any_of(snapshot.layers.begin(), snapshot.layers.end(),
                    [](const Layer& layer) { return layer.constant; })) {
      flow(checkbox_width("Constants"));
      if (ImGui::Checkbox("Constants", &filter_.constants)) stale_ = true;
      hint("Layers that no input reaches: the same in every run");
    }
    jump_button(screen, "First fault", [](const TargetColumn& t) { return t.first_fault; });
    jump_button(screen, "First difference", [](const TargetColumn& t) { return t.first_divergence; });
    const std::string count = rows_.size() == snapshot.layers.size()
                                  ? fmt::format("{} layers", rows_.size())
                                  : fmt::format("{} of {} layers", rows_.size(), snapshot.layers.size());
    const float width = ImGui::CalcTextSize(count.c_str()).x;
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x > width)
      right_text(count, screen.theme.dim);
    else
      ImGui::NewLine();
  }

  template <class First>
  void jump_button(Screen& screen, const char* label, const First& first) {
    std::size_t place = no_place;
    std::size_t target = 0;
    for (std::size_t t = 0; t < screen.snapshot->targets.size(); ++t)
      if (first(screen.snapshot->targets[t]) < place) place = first(screen.snapshot->targets[t]), target = t;
    if (place == no_place) return;
    ImGui::SameLine();
    if (ImGui::GetContentRegionAvail().x < button_width(label)) return ImGui::NewLine();
    if (ImGui::Button(label)) screen.selection.select({place, target}), scroll_ = true;
  }

  void update_rows(const Screen& screen) {
    if (screen.snapshot_number != number_) {
      number_ = screen.snapshot_number;
      metrics_ = metrics_in(*screen.snapshot);
      if (std::ranges::find(metrics_, metric_) == metrics_.end()) metric_ = metrics_.front();
      sort_ = {};
      stale_ = true;
    }
    if (last_selected_ != screen.selected().layer) last_selected_ = screen.selected().layer, scroll_ = true;
    if (detailed_ && sort_.target != screen.target()) sort_.target = screen.target(), stale_ = true;
    if (!stale_) return;
    rows_ = ordered_layers(*screen.snapshot, filter_, sort_);
    stale_ = false;
  }

  void move_by_keys(Screen& screen) {
    const ImGuiIO& io = ImGui::GetIO();
    if (rows_.empty() || io.WantTextInput || io.KeyCtrl || io.KeyAlt ||
        ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup))
      return;
    const auto here = std::find(rows_.begin(), rows_.end(), screen.selected().layer);
    auto place = here == rows_.end() ? std::ptrdiff_t{-1} : here - rows_.begin();
    const std::ptrdiff_t before = place;
    const auto pressed = [&](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
    if ((pressed(ImGuiKey_DownArrow) && screen.arrows) || pressed(ImGuiKey_J)) ++place;
    if ((pressed(ImGuiKey_UpArrow) && screen.arrows) || pressed(ImGuiKey_K)) --place;
    if (pressed(ImGuiKey_PageDown)) place += page_;
    if (pressed(ImGuiKey_PageUp)) place -= page_;
    if (pressed(ImGuiKey_Home)) place = 0;
    if (pressed(ImGuiKey_End)) place = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
    if (place == before) return;
    place = std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(rows_.size()) - 1);
    screen.selection.select_layer(rows_[static_cast<std::size_t>(place)]);
    scroll_ = true;
  }

  void draw_table(Screen& screen) {
    const Snapshot& snapshot = *screen.snapshot;
    if (rows_.empty())
      return empty_state(screen, "No layer passes the filter.", "Clear it to see all of them.");
    const int targets = static_cast<int>(snapshot.targets.size());
    const int metrics = detailed_ ? static_cast<int>(metrics_.size()) + 1 : targets;
    // A different number of columns needs another table id: ImGui stores widths by column.
    // So does a different width class: the least important columns are hidden when there is little room.
    width_ = ImGui::GetContentRegionAvail().x;
    const auto seen = static_cast<float>(std::min(metrics, 4));
    narrow_ =
        width_ < ImGui::GetFontSize() * (31.6f + 6.2f * seen) +
                     2.0f * ImGui::GetStyle().CellPadding.x * (static_cast<float>(fixed_columns) + seen);
    tight_ = width_ < ImGui::GetFontSize() * 28.0f;
    const std::string id = fmt::format("layers{}:{}:{}", detailed_ ? "one" : "all", metrics,
                                       tight_    ? -1
                                       : narrow_ ? 0
                                                 : static_cast<int>(width_ / (16.0f * ImGui::GetFontSize())));
    const ImGuiTableFlags flags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                  ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable |
                                  ImGuiTableFlags_Hideable | ImGuiTableFlags_Reorderable |
                                  ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable(id.c_str(), fixed_columns + metrics, flags)) return;
    declare_columns(screen, metrics);
    apply_sort_specs();
    draw_headers(screen, metrics);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()));
    const auto chosen = std::find(rows_.begin(), rows_.end(), screen.selected().layer);
    while (clipper.Step())
      for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row)
        draw_row(screen, rows_[static_cast<std::size_t>(row)], metrics);
    page_ = std::max(1, static_cast<int>(ImGui::GetWindowHeight() / row_height()) - 3);
    if (scroll_ && chosen != rows_.end()) {
      const float y = static_cast<float>(chosen - rows_.begin() + 1) * row_height();
      const float top = ImGui::GetScrollY();
      const float height = ImGui::GetWindowHeight();
      if (y - row_height() < top + row_height())
        ImGui::SetScrollY(y - 2.0f * row_height());
      else if (y + row_height() > top + height - row_height())
        ImGui::SetScrollY(y + 2.0f * row_height() - height);
    }
    scroll_ = false;
    ImGui::EndTable();
  }

  [[nodiscard]] Metric metric_in(int column) const {
    return metrics_[std::min(static_cast<std::size_t>(column), metrics_.size() - 1)];
  }

  [[nodiscard]] static float row_height() {
    return ImGui::GetFontSize() + 2.0f * ImGui::GetStyle().CellPadding.y;
  }

  void declare_columns(const Screen& screen, int metrics) {
    const float em = ImGui::GetFontSize();
    const ImGuiTableColumnFlags plain = ImGuiTableColumnFlags_WidthFixed;
    ImGui::TableSetupScrollFreeze(2, 1);
    const float number_width = tight_ ? 1.7f : 2.6f;
    ImGui::TableSetupColumn("#", plain | ImGuiTableColumnFlags_DefaultSort, em * number_width);
    const float room = width_ - ImGui::GetStyle().ScrollbarSize;
    const float name_width = room > em * 62.0f ? 16.0f : room > em * 46.0f ? 12.0f : tight_ ? 6.0f : 8.0f;
    ImGui::TableSetupColumn("layer", plain | ImGuiTableColumnFlags_NoHide, em * name_width);
    const float op_width = 6.8f;
    ImGui::TableSetupColumn("op", plain | (tight_ ? ImGuiTableColumnFlags_DefaultHide : 0), em * op_width);
    const ImGuiTableColumnFlags rarer = plain | (narrow_ ? ImGuiTableColumnFlags_DefaultHide : 0);
    ImGui::TableSetupColumn("shape", rarer, em * 6.6f);
    ImGui::TableSetupColumn("memory", rarer | ImGuiTableColumnFlags_PreferSortDescending, em * 4.6f);
    // The targets share the remaining width.
    const float padding = 2.0f * ImGui::GetStyle().CellPadding.x;
    const int hidden = tight_ ? 3 : 0;
    const float others = name_width + number_width + (tight_ ? 0.0f : op_width) + (narrow_ ? 0.0f : 11.2f);
    const float left =
        room - em * others - padding * static_cast<float>(fixed_columns - hidden + metrics) - 2.0f;
    const float width = std::clamp(left / static_cast<float>(std::max(1, metrics)), em * 6.2f, em * 11.0f);
    for (int m = 0; m < metrics; ++m) {
      const std::string name = column_name(screen, m);
      ImGui::TableSetupColumn(name.c_str(), plain | ImGuiTableColumnFlags_PreferSortDescending,
                              detailed_ && m > 0 ? em * 6.4f : width);
    }
  }

  [[nodiscard]] std::string column_name(const Screen& screen, int m) const {
    if (!detailed_) return screen.snapshot->targets[static_cast<std::size_t>(m)].name;
    return m == 0 ? "verdict" : std::string(appearance(metric_in(m - 1)).name);
  }

  void apply_sort_specs() {
    ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
    if (specs == nullptr || !specs->SpecsDirty) return;
    specs->SpecsDirty = false;
    LayerSort sort;
    if (specs->SpecsCount > 0) {
      const ImGuiTableColumnSortSpecs& spec = specs->Specs[0];
      sort.descending = spec.SortDirection == ImGuiSortDirection_Descending;
      const int column = spec.ColumnIndex;
      constexpr SortBy keys[] = {SortBy::place, SortBy::node, SortBy::op, SortBy::shape, SortBy::bytes};
      if (column < fixed_columns) {
        sort.by = keys[column];
      } else if (!detailed_) {
        sort.by = SortBy::metric;
        sort.metric = metric_;
        sort.target = static_cast<std::size_t>(column - fixed_columns);
      } else {
        sort.by = column == fixed_columns ? SortBy::verdict : SortBy::metric;
        sort.metric = metric_in(std::max(0, column - fixed_columns - 1));
        sort.target = sort_.target;
      }
    }
    sort_ = sort;
    stale_ = true;
  }

  void draw_headers(Screen& screen, int metrics) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int column = 0; column < fixed_columns + metrics; ++column) {
      if (!ImGui::TableSetColumnIndex(column)) continue;
      ImGui::PushID(column);
      const bool of_target = !detailed_ && column >= fixed_columns;
      const auto target = static_cast<std::size_t>(std::max(0, column - fixed_columns));
      const bool selected = of_target && target == screen.target();
      if (selected) ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, im(screen.theme.accent_soft));
      ImGui::TableHeader(ImGui::TableGetColumnName(column));
      if (of_target) {
        const TargetColumn& shown = screen.snapshot->targets[target];
        hint(fmt::format("{}\n{}{}{}", shown.target, shown.ran,
                         target == 0 ? "\nThe others are compared with it" : "",
                         shown.error.empty() ? "" : "\n" + shown.error)
                 .c_str());
      } else if (detailed_ && column > fixed_columns) {
        hint(std::string(appearance(metric_in(column - fixed_columns - 1)).help).c_str());
      }
      ImGui::PopID();
    }
  }

  void draw_row(Screen& screen, std::uint32_t place, int metrics) {
    const Snapshot& snapshot = *screen.snapshot;
    const Layer& layer = snapshot.layers[place];
    const Theme& theme = screen.theme;
    ImGui::TableNextRow(0, row_height());
    ImGui::PushID(static_cast<int>(place));
    if (ImGui::TableSetColumnIndex(0)) {
      const bool chosen = screen.selected().layer == place;
      // No item on the row takes clicks: AllowOverlap would miss one that comes with the pointer (a finger).
      // As high as the row, which extends half of the spacing beyond its text.
      const ImGuiStyle& style = ImGui::GetStyle();
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {style.ItemSpacing.x, 2.0f * style.CellPadding.y});
      if (ImGui::Selectable("##row", chosen, ImGuiSelectableFlags_SpanAllColumns))
        screen.selection.select_layer(place);
      ImGui::PopStyleVar();
      ImGui::SameLine(0.0f, 0.0f);
      right_text(std::to_string(place), theme.dim);
    }
    if (ImGui::TableSetColumnIndex(1)) {
      draw_name(screen, place);
    }
    if (ImGui::TableSetColumnIndex(2)) {
      const float letters = ImGui::GetContentRegionAvail().x / (ImGui::GetFontSize() * 0.52f);
      const bool fits = ImGui::CalcTextSize(layer.op.c_str()).x <= ImGui::GetContentRegionAvail().x;
      ImGui::TextUnformatted(
          fits ? layer.op.c_str()
               : elide(layer.op, static_cast<std::size_t>(std::max(3.0f, letters))).c_str());
    }
    if (ImGui::TableSetColumnIndex(3))
      ImGui::TextUnformatted(layer.shape_known ? shape_text(layer.shape).c_str() : "–");
    if (ImGui::TableSetColumnIndex(4)) right_text(format_bytes(layer.bytes), theme.ink);
    for (int m = 0; m < metrics; ++m) {
      if (!ImGui::TableSetColumnIndex(fixed_columns + m)) continue;
      if (detailed_) {
        const Cell& cell = snapshot.cell(place, screen.target());
        if (m == 0)
          verdict_label(screen, cell.verdict);
        else
          right_text(metric_text(cell, metric_in(m - 1)), theme.ink);
      } else {
        draw_cell(screen, place, static_cast<std::size_t>(m));
      }
    }
    ImGui::PopID();
  }

  /// The scope that the row above has as well is dimmed: this groups what belongs together.
  void draw_name(Screen& screen, std::uint32_t place) {
    const Layer& layer = screen.snapshot->layers[place];
    const float room = ImGui::GetContentRegionAvail().x;
    const auto letters = static_cast<std::size_t>(std::max(4.0f, room / (ImGui::GetFontSize() * 0.5f)));
    const bool fits = ImGui::CalcTextSize(layer.label.c_str()).x <= room;
    const std::string shown = fits ? layer.label : elide_start(layer.label, letters);
    const std::size_t slash = shown.rfind('/');
    const auto scope = [](const std::string& name) { return name.substr(0, name.rfind('/') + 1); };
    const bool repeated = slash != std::string::npos && sort_.by == SortBy::place && place > 0 &&
                          scope(screen.snapshot->layers[place - 1].label) == scope(layer.label);
    ImGui::BeginGroup();
    if (repeated) {
      ImGui::TextColored(im4(screen.theme.dim), "%s", shown.substr(0, slash + 1).c_str());
      ImGui::SameLine(0.0f, 0.0f);
      ImGui::TextUnformatted(shown.substr(slash + 1).c_str());
    } else {
      ImGui::TextUnformatted(shown.c_str());
    }
    ImGui::EndGroup();
    if (shown != layer.node) hint(layer.node.c_str());
  }

  void draw_cell(Screen& screen, std::uint32_t place, std::size_t target) {
    const Cell& cell = screen.snapshot->cell(place, target);
    const TargetColumn& column = screen.snapshot->targets[target];
    const Theme& theme = screen.theme;
    const float size = ImGui::GetFontSize() * 0.72f;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    auto painter = screen.painter();
    paint_verdict(painter, {at.x + size / 2.0f, at.y + ImGui::GetFontSize() / 2.0f}, size, cell.verdict,
                  theme);
    const bool fault = column.first_fault == place;
    if (fault || column.first_divergence == place) {
      const Colour colour = theme.verdict(fault ? Verdict::fault : Verdict::rounding);
      ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, im(with_alpha(colour, 0.16f)));
      painter.text({at.x + size * 1.45f, at.y + ImGui::GetFontSize() * 0.52f}, "first", colour, Anchor::start,
                   true);
    }
    const std::string text = cell.mismatch ? "other shape" : metric_text(cell, metric_);
    const bool zero = cell[metric_] == 0.0;
    right_text(text, cell.mismatch || cell.verdict == Verdict::fault ? theme.verdict(Verdict::fault)
                     : zero || text == "–"                           ? theme.dim
                                                                     : theme.ink);
  }

  char text_[256] = {};
  LayerFilter filter_;
  LayerSort sort_;
  std::vector<Metric> metrics_;  // to choose from
  Metric metric_ = verified_metric("budget_used");
  bool detailed_ = false;
  bool stale_ = true;
  bool scroll_ = false;
  bool focus_ = false;
  int page_ = 10;
  float width_ = 0.0f;   // of the table
  bool narrow_ = false;  // shape and memory are hidden
  bool tight_ = false;   // and the operator too
  std::size_t last_selected_ = no_place;
  std::uint64_t number_ = 0;
  std::vector<std::uint32_t> rows_;
};

}  // namespace

std::unique_ptr<View> make_layers_view() { return std::make_unique<LayersView>(); }

}  // namespace driftscope::gui
