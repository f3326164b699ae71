// The details of the selected layer: beside the view if there is room, else in one line below it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/format.hpp"
#include "core/gui/imgui/app.hpp"
#include "core/gui/imgui/why_panel.hpp"
#include "core/gui/imgui/widgets.hpp"
#include "core/gui/layer_order.hpp"
#include "core/results/drift.hpp"
#include "core/results/layer_names.hpp"

namespace driftscope::gui {
namespace {

/// A name on the left, a figure on the right.
void fact_row(const Screen& screen, std::string_view name, const std::string& value,
              const char* help = nullptr) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextColored(im4(screen.theme.dim), "%.*s", static_cast<int>(name.size()), name.data());
  if (help != nullptr) hint(help);
  ImGui::TableNextColumn();
  right_text(value, screen.theme.ink);
}

/// One source's figures for the layer.
void metric_rows(const Screen& screen, const Cell& cell, MetricSource source) {
  for (const Metric metric : shown_metrics)
    if (source_of(metric) == source && appearance(metric).details &&
        !(row_of(metric).optional && std::isnan(cell[metric])))
      fact_row(screen, appearance(metric).name, metric_text(cell, metric),
               source == MetricSource::verify ? std::string(appearance(metric).help).c_str() : nullptr);
}

void target_block(Screen& screen, std::size_t layer, std::size_t target) {
  const Cell& cell = screen.snapshot->cell(layer, target);
  const TargetColumn& column = screen.snapshot->targets[target];
  const float em = ImGui::GetFontSize();
  ImGui::PushID(static_cast<int>(target));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::Selectable("##target", target == screen.target(), 0, {0.0f, em * 1.25f}))
    screen.selection.select_target(target);
  hint(fmt::format("{}\n{}{}", column.target, column.ran,
                   target == 0 ? "\nThe others are compared with it" : "")
           .c_str());
  ImGui::SetCursorScreenPos({at.x + em * 0.2f, at.y + em * 0.12f});
  target_label(screen, target);
  ImGui::SameLine(0.0f, em * 0.6f);
  const std::string_view name = verdict_name(cell.verdict);
  const float width = ImGui::CalcTextSize(name.data(), name.data() + name.size()).x + em * 1.2f;
  if (ImGui::GetContentRegionAvail().x > width)
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
  verdict_label(screen, cell.verdict);
  if (ImGui::BeginTable("facts", 2, ImGuiTableFlags_SizingStretchProp)) {
    if (cell.verified) metric_rows(screen, cell, MetricSource::verify);
    if (target > 0 && cell.compared) {
      const std::int64_t different = cell.whole(compared_metric("different_elements"));
      fact_row(screen, "elements that differ",
               different == 0 ? "none"
                              : fmt::format("{} of {}", different, cell.whole(compared_metric("elements"))));
      if (different > 0) {
        metric_rows(screen, cell, MetricSource::compare);
        const double inherited =
            inherited_error(cell[compared_metric("max_abs")], cell[verified_metric("max_abs")]);
        if (!std::isnan(inherited))
          fact_row(screen, "inherited, at least", format_number(inherited),
                   "Inherited part of the difference");
      }
    }
    if (cell.nan() > 0 || cell.inf() > 0)
      fact_row(screen, "NaN, infinite", fmt::format("{}, {}", cell.nan(), cell.inf()));
    if (cell.time_ns() > 0) fact_row(screen, "time", format_ns(cell.time_ns()));
    ImGui::EndTable();
  }
  if (cell.inherited)
    small_text(screen, "The layer is exact: it differs because its inputs do.", screen.theme.dim);
  if (!cell.note().empty() || !column.error.empty()) {
    ImGui::PushTextWrapPos(0.0f);
    small_text(screen, cell.note().empty() ? column.error : cell.note(),
               screen.theme.verdict(Verdict::suspect));
    ImGui::PopTextWrapPos();
  }
  ImGui::Dummy({0.0f, em * 0.35f});
  ImGui::PopID();
}

/// Where the details have one line: a button that opens the panel.
void draw_why_popup(Screen& screen, std::size_t layer, std::size_t target) {
  const float em = ImGui::GetFontSize();
  ImGui::SameLine(0.0f, em * 0.6f);
  if (ImGui::SmallButton("Why")) ImGui::OpenPopup("why");
  const ImVec2 room = ImGui::GetMainViewport()->Size;
  if (!ImGui::BeginPopup("why", ImGuiWindowFlags_NoMove)) return;
  if (ImGui::BeginChild("panel",
                        {std::min(room.x - 3.0f * em, 30.0f * em), std::min(room.y * 0.7f, 34.0f * em)}))
    draw_why(screen, layer, target);
  ImGui::EndChild();
  ImGui::EndPopup();
}

}  // namespace

void App::draw_details(Screen& screen) {
  const std::size_t place = screen.selected().layer;
  const Layer& layer = screen.snapshot->layers[place];
  ImGui::PushTextWrapPos(0.0f);
  ImGui::TextUnformatted(layer.node.c_str());
  ImGui::PopTextWrapPos();
  if (ImGui::BeginTable("layer", 2, ImGuiTableFlags_SizingStretchProp)) {
    fact_row(screen, "operator", layer.op.empty() ? "–" : layer.op);
    fact_row(screen, "output", elide(layer.output, 24));
    if (layer.shape_known) fact_row(screen, "shape", shape_text(layer.shape));
    if (layer.bytes > 0)
      fact_row(screen, "memory", fmt::format("{} {}", dtype_name(layer.dtype), format_bytes(layer.bytes)));
    ImGui::EndTable();
  }
  if (const std::size_t wrong = why_target(screen, place); wrong != no_place) {
    ImGui::Separator();
    draw_why(screen, place, wrong);
  }
  ImGui::Separator();
  for (std::size_t t = 0; t < screen.snapshot->targets.size(); ++t) target_block(screen, place, t);
}

void App::draw_details_line(Screen& screen) {
  const std::size_t place = screen.selected().layer;
  const Layer& layer = screen.snapshot->layers[place];
  const Cell& cell = screen.snapshot->cell(place, screen.target());
  const float em = ImGui::GetFontSize();
  ImGui::TextUnformatted(elide_start(layer.label, 22).c_str());
  ImGui::SameLine(0.0f, em);
  target_label(screen, screen.target());
  ImGui::SameLine(0.0f, em * 0.5f);
  verdict_label(screen, cell.verdict);
  if (const std::size_t wrong = why_target(screen, place); wrong != no_place)
    draw_why_popup(screen, place, wrong);
  const auto add = [&](std::string_view name, const std::string& value) {
    const std::string text = fmt::format("{} {}", name, value);
    if (value == "–" || ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(text.c_str()).x + 12.0f * em)
      return;
    ImGui::SameLine(0.0f, em);
    ImGui::TextColored(im4(theme_.dim), "%s", text.c_str());
  };
  ImGui::SameLine(0.0f, 0.0f);
  add("budget", metric_text(cell, verified_metric("budget_used")));
  ImGui::SameLine(0.0f, 0.0f);
  add("max abs", metric_text(cell, compared_metric("max_abs")));
  ImGui::SameLine(0.0f, 0.0f);
  add("time", metric_text(cell, timed_metric("time")));
}

}  // namespace driftscope::gui
