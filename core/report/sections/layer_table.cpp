// All layers, or the highest-ranked of them that fit into the file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/format.hpp"
#include "core/report/metric_text.hpp"
#include "core/report/section.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/layer_rank.hpp"
#include "core/verify/nonfinite.hpp"

namespace driftscope::sections::layer_table {
namespace {

constexpr MetricList compared_metrics = report_metrics(MetricSource::compare);

/// Those of verify that some layer has.
std::vector<Metric> verified_metrics(const LayerTable& layers) {
  std::vector<Metric> shown;
  for (const Metric metric : report_metrics(MetricSource::verify)) {
    bool any = !row_of(metric).optional;
    for (std::size_t row = 0; row < layers.rows().size() && !any; ++row)
      for (std::size_t t = 0; t < layers.targets().size(); ++t)
        any = any || !std::isnan(layers.cell(row, t)[metric]);
    if (any) shown.push_back(metric);
  }
  return shown;
}

/// Columns of a target: its metrics, its verdict, its time. The left one has no comparison.
std::size_t column_count(std::size_t target, std::size_t verified) {
  return (target > 0 ? compared_metrics.size() : 0) + verified + 2;
}

std::string metric_cell(const ResultCell& cell, Metric metric) {
  const double value = cell[metric];
  if (!(source_of(metric) == MetricSource::verify ? cell.verified : cell.compared)) return "<td>–</td>";
  if (row_of(metric).optional && std::isnan(value)) return "<td>–</td>";
  const bool share = row_of(metric).format == MetricFormat::share;
  return "<td>" + metric_text(row_of(metric), value) + (share ? bar(value, value > 1.0 ? "over" : "") : "") +
         "</td>";
}

std::string table_cells(const LayerTable& layers, std::span<const Metric> verified, std::size_t row,
                        std::size_t target, std::int64_t slowest) {
  const ResultCell cell = layers.cell(row, target);
  std::string html;
  if (target > 0)
    for (const Metric metric : compared_metrics) html += metric_cell(cell, metric);
  for (const Metric metric : verified) html += metric_cell(cell, metric);
  if (layers.tensor(row, target) == nullptr)
    html += "<td class=\"text soft\">not recorded</td>";
  else
    html += fmt::format("<td class=\"text v-{}\">{}{}{}</td>", verdict_name(cell.verdict),
                        html_escape(verdict_text(cell.verdict)), cell.inherited ? ", inherited" : "",
                        nonfinite_mark({.nan = cell.nan(), .inf = cell.inf()}));
  const std::int64_t time = cell.time_ns();
  const double share = slowest > 0 ? static_cast<double>(time) / static_cast<double>(slowest) : 0.0;
  return html + fmt::format("<td>{}{}</td>", format_ns(time), bar(share, series_class(target)));
}

constexpr std::size_t name_width = 36;

/// A short name, with the whole one on demand.
std::string name_text(const std::string& name, const std::string& whole) {
  const std::string shown = elide_start(plain_text(name, 400), name_width);
  if (shown == whole) return html_escape(shown);
  return fmt::format("<span title=\"{}\">{}</span>", html_text(whole, 400), html_escape(shown));
}

std::string metric_head(Metric metric) {
  const Appearance& shown = appearance(metric);
  const std::string help(shown.help);
  return fmt::format("<th scope=\"col\"{}>{}</th>",
                     help.empty() ? "" : " title=\"" + html_escape(help) + "\"",
                     html_escape(std::string(shown.name.empty() ? row_of(metric).title : shown.name)));
}

std::string table_head(const LayerTable& layers, std::span<const Metric> verified, std::size_t targets) {
  std::string html =
      "<thead><tr><th scope=\"col\" rowspan=\"2\">layer</th><th scope=\"col\" class=\"text\" "
      "rowspan=\"2\">op</th><th scope=\"col\" rowspan=\"2\">output</th>";
  for (std::size_t t = 0; t < targets; ++t)
    html += fmt::format("<th scope=\"colgroup\" class=\"text\" colspan=\"{}\">{}</th>",
                        column_count(t, verified.size()), html_text(layers.targets()[t]->target, 60));
  html += "</tr><tr>";
  for (std::size_t t = 0; t < targets; ++t) {
    if (t > 0)
      for (const Metric metric : compared_metrics) html += metric_head(metric);
    for (const Metric metric : verified) html += metric_head(metric);
    html += "<th scope=\"col\" class=\"text\">verdict</th><th scope=\"col\">time</th>";
  }
  return html + "</tr></thead>";
}

std::string write(const SectionContext& context) {
  const LayerTable& layers = context.layers;
  if (layers.rows().empty()) return "";
  const std::size_t targets = std::min(layers.targets().size(), max_targets);
  const std::vector<Metric> verified = verified_metrics(layers);
  std::vector<std::int64_t> slowest(targets, 0);
  for (std::size_t t = 0; t < targets; ++t)
    if (layers.targets()[t]->trace)
      for (const NodeRecord& node : layers.targets()[t]->trace->nodes)
        slowest[t] = std::max(slowest[t], steady_time_ns(node));
  std::vector<std::string> names;
  for (const auto& layer : layers.rows()) names.push_back(layer.node);
  names = fitting_names(names, name_width);
  std::vector<std::pair<std::size_t, std::string>> chosen;
  std::size_t used = 0;
  for (const auto& [rank, row] : ranked_layers(layers)) {
    if (layers.is_folded(row)) continue;
    const auto& layer = layers.rows()[row];
    std::string html =
        fmt::format("<tr{}><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td>",
                    rank.tier == fault_tier ? " class=\"fault-row\"" : "", name_text(names[row], layer.node),
                    html_text(layer.op, 24), shape_text(layer.shape));
    for (std::size_t t = 0; t < targets; ++t) html += table_cells(layers, verified, row, t, slowest[t]);
    html += "</tr>";
    used += html.size() + 40;  // and perhaps a gap
    if (used > context.max_bytes) break;
    chosen.emplace_back(row, std::move(html));
  }
  std::ranges::sort(chosen);
  std::size_t columns = 3;
  for (std::size_t t = 0; t < targets; ++t) columns += column_count(t, verified.size());
  // Constants between two rows are left out silently: their number is given above the table.
  const auto gap = [&](std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t row = begin; row < end; ++row) count += layers.is_folded(row) ? 0 : 1;
    return count == 0
               ? std::string()
               : fmt::format("<tr class=\"gap\"><td colspan=\"{}\">… {} less important layer{} …</td></tr>",
                             columns, count, count == 1 ? "" : "s");
  };
  const std::size_t folded = layers.folded();
  std::string html =
      open_section("layers", "All layers", "wide") +
      (folded > 0
           ? fmt::format("<p class=\"soft\">Without {} that no input reaches: they are in the JSON.</p>",
                         folded == 1 ? "one constant" : fmt::format("{} constants", folded))
           : std::string()) +
      open_table(
          "Layers in the order of the graph, with each target's difference from the left one, "
          "verdict and time",
          "layers") +
      table_head(layers, verified, targets) + "<tbody>";
  std::size_t next = 0;
  for (const auto& [row, text] : chosen) {
    html += gap(next, row) + text;
    next = row + 1;
  }
  html += gap(next, layers.rows().size()) + "</tbody></table></div></section>";
  const std::size_t all = layers.rows().size() - folded;
  if (chosen.size() < all)
    context.left_out.push_back(
        fmt::format("{} of {} rows of the table of layers; all faults, suspects, unjudged layers and "
                    "first differences come first.",
                    all - chosen.size(), all));
  return html;
}

}  // namespace

void add_to(SectionTable& table) { table.add({70, write, true}); }

}  // namespace driftscope::sections::layer_table
