// Drift: where errors originate, and where they merely grow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/draw/drift_chart.hpp"
#include "core/draw/svg_painter.hpp"
#include "core/draw/verdict_mark.hpp"
#include "core/gui/chart_data.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/gui/layer_order.hpp"

namespace driftscope::gui {
namespace {

class DriftView final : public View {
 public:
  int place() const override { return 30; }

  void draw(Screen& screen) override {
    update(screen);
    draw_toolbar(screen);
    draw_legend(screen);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (screen.snapshot->layers.empty())
      return empty_state(screen, "No layer was recorded.", "Run with every value captured: --trace all.");
    const Canvas area = canvas("drift", room);
    chart_.box = area.box;
    chart_.selected = screen.selected().layer;
    auto painter = screen.painter();
    handle_mouse(screen, painter, area);
    painter.clip(area.box);
    paint_drift(painter, chart_, drift_, screen.theme);
    painter.unclip();
  }

  Table table(const Screen& screen) const override {
    Table table = {{"layer", "op"}};
    for (const DriftSeries& one : drift_.series) {
      const std::string& name = screen.snapshot->targets[one.target].target;
      table[0].push_back(name + " difference");
      table[0].push_back(name + " own");
      table[0].push_back(name + " inherited, at least");
    }
    const auto number = [](double value) {
      return std::isnan(value) ? std::string() : fmt::format("{}", value);
    };
    for (std::size_t i = 0; i < drift_.layers.size(); ++i) {
      const Layer& layer = screen.snapshot->layers[drift_.layers[i]];
      std::vector<std::string> row = {layer.node, layer.op};
      for (const DriftSeries& one : drift_.series)
        row.insert(row.end(), {number(one.total[i]), number(one.local[i]),
                               number(inherited_error(one.total[i], one.local[i]))});
      table.push_back(std::move(row));
    }
    return table;
  }

  SavedPicture picture(const Screen& screen) const override {
    constexpr float width = 1200.0f;
    constexpr float height = 520.0f;
    SvgPainter painter(width, height, screen.theme.panel);
    DriftChart chart = chart_;
    chart.box = {16.0f, 34.0f, width - 16.0f, height - 12.0f};
    painter.text({16.0f, 18.0f}, screen.snapshot->title + ": " + screen.snapshot->headline, screen.theme.ink,
                 Anchor::start, false);
    float x = width - 16.0f;
    for (auto one = drift_.series.rbegin(); one != drift_.series.rend(); ++one) {
      const std::string& name = screen.snapshot->targets[one->target].name;
      painter.text({x, 18.0f}, name, screen.theme.series(one->target), Anchor::end, true);
      x -= painter.text_width(name, true) + 10.0f;
      paint_marker(painter, {x, 18.0f}, 7.0f, one->target, screen.theme.series(one->target));
      x -= 12.0f;
    }
    paint_drift(painter, chart, drift_, screen.theme);
    return {painter.finish(), {}};
  }

 private:
  [[nodiscard]] DriftMeasure measure() const { return static_cast<DriftMeasure>(measure_); }

  void update(const Screen& screen) {
    if (number_ == screen.snapshot_number && shown_measure_ == measure_) return;
    const bool another = number_ != screen.snapshot_number;
    if (another) chart_.hidden.assign(screen.snapshot->targets.size(), false);
    number_ = screen.snapshot_number;
    shown_measure_ = measure_;
    drift_ = drift_of(*screen.snapshot, measure());
    if (another) chart_.first = 0, chart_.last = drift_.layers.size();
  }

  void draw_toolbar(Screen& screen) {
    segments(screen, "measure", measure_, {"Relative", "Absolute", "ULP", "Share of budget"});
    flow(checkbox_width("Own error"));
    ImGui::BeginDisabled(measure() != DriftMeasure::relative && measure() != DriftMeasure::absolute);
    ImGui::Checkbox("Own error", &chart_.show_local);
    ImGui::EndDisabled();
    hint(
        "Rings (a thin line where there are very many layers): the error that a layer makes from its own "
        "inputs. Where the line lies far above its ring, the error was inherited.");
    if (chart_.last - chart_.first < drift_.layers.size()) {
      flow(button_width("All layers"));
      if (ImGui::Button("All layers")) chart_.first = 0, chart_.last = drift_.layers.size();
    }
  }

  void draw_legend(Screen& screen) {
    bool first = true;
    for (const DriftSeries& one : drift_.series) {
      const auto& column = screen.snapshot->targets[one.target];
      const float width = ImGui::CalcTextSize(column.name.c_str()).x + 3.0f * ImGui::GetFontSize();
      if (!first) {
        ImGui::SameLine(0.0f, 14.0f * screen.scale);
        if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
      }
      first = false;
      ImGui::PushID(static_cast<int>(one.target));
      const bool hidden = chart_.hidden[one.target];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float em = ImGui::GetFontSize();
      if (ImGui::InvisibleButton("legend", {ImGui::CalcTextSize(column.name.c_str()).x + em, em * 1.3f}))
        chart_.hidden[one.target] = !hidden;
      const std::size_t born = born_at(one);
      hint(fmt::format("{}\n{}\nClick to {}", column.target,
                       born == no_place ? "no error of its own"
                                        : fmt::format("largest error of its own at {}",
                                                      screen.snapshot->layers[drift_.layers[born]].node),
                       hidden ? "show" : "hide")
               .c_str());
      auto painter = screen.painter();
      paint_marker(painter, {at.x + em * 0.3f, at.y + em * 0.65f}, em * 0.55f, one.target,
                   with_alpha(screen.theme.series(one.target), hidden ? 0.25f : 1.0f));
      painter.text({at.x + em * 0.85f, at.y + em * 0.65f}, column.name,
                   hidden ? screen.theme.dim : screen.theme.ink, Anchor::start, false);
      ImGui::PopID();
    }
  }

  void handle_mouse(Screen& screen, const Painter& painter, const Canvas& area) {
    if (!area.hovered && !ImGui::IsItemActive()) return;
    const ImGuiIO& io = ImGui::GetIO();
    const std::size_t layers = drift_.layers.size();
    const std::size_t over = drift_layer_at(painter, chart_, point(io.MousePos));
    if (io.MouseWheel != 0.0f && layers > 2)
      zoom(io.MouseWheel > 0.0f ? 0.8 : 1.25, over == no_place ? chart_.first : over, layers);
    if (over == no_place) return;
    if (area.clicked) screen.selection.select_layer(drift_.layers[over]);
    draw_tooltip(screen, over);
  }

  void zoom(double factor, std::size_t about, std::size_t layers) {
    const double first = static_cast<double>(about) -
                         (static_cast<double>(about) - static_cast<double>(chart_.first)) * factor;
    const double last =
        static_cast<double>(about) + (static_cast<double>(chart_.last) - static_cast<double>(about)) * factor;
    chart_.first = static_cast<std::size_t>(std::max(0.0, std::floor(first)));
    chart_.last = std::min(layers, static_cast<std::size_t>(std::ceil(last)));
    if (chart_.last < chart_.first + 4) chart_.last = std::min(layers, chart_.first + 4);
  }

  void draw_tooltip(Screen& screen, std::size_t layer) {
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(screen.snapshot->layers[drift_.layers[layer]].node.c_str());
    if (ImGui::BeginTable("values", 4, ImGuiTableFlags_SizingFixedFit)) {
      for (const char* name : {"", "difference", "own", "inherited"}) ImGui::TableSetupColumn(name);
      headers_row({1, 2, 3});
      for (const DriftSeries& one : drift_.series) {
        const auto text = [](double value) {
          return std::isnan(value) ? std::string("–") : format_number(value);
        };
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        target_label(screen, one.target);
        for (const double value :
             {one.total[layer], one.local[layer], inherited_error(one.total[layer], one.local[layer])}) {
          ImGui::TableNextColumn();
          right_text(text(value), screen.theme.ink);
        }
      }
      ImGui::EndTable();
    }
    ImGui::EndTooltip();
  }

  int measure_ = 0;
  int shown_measure_ = -1;
  std::uint64_t number_ = 0;
  DriftChart chart_;
  Drift drift_;
};

}  // namespace

std::unique_ptr<View> make_drift_view() { return std::make_unique<DriftView>(); }

}  // namespace driftscope::gui
