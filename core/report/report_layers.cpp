// Sections of the report: the worst layers with heat maps, and the table of all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/format.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/difference_map.hpp"
#include "core/report/bar.hpp"
#include "core/report/finding_text.hpp"
#include "core/report/metric_text.hpp"
#include "core/report/report_sections.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/layer_rank.hpp"

namespace driftscope::report_sections {
namespace {

constexpr std::size_t max_worst_layers = 6;
constexpr std::int64_t picture_pixels = 240;  // the longer side on the page

std::string index_list(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// The trace to show beside a target's: the left one; for the left target the first one that recorded it.
std::size_t partner_of(const LayerTable& layers, std::size_t row, std::size_t target) {
  if (target > 0) return 0;
  for (std::size_t t = 1; t < layers.targets().size(); ++t)
    if (layers.tensor(row, t) != nullptr) return t;
  return 0;
}

std::string picture_figure(const Image& image, const std::string& title, const std::string& alt,
                           const std::string& low, const std::string& high, const char* ramp) {
  const std::int64_t scale = std::max<std::int64_t>(1, picture_pixels / std::max(image.width, image.height));
  return fmt::format(
      "<figure class=\"map\"><figcaption>{}</figcaption><img alt=\"{}\" width=\"{}\" height=\"{}\" "
      "src=\"{}\"><div class=\"ramp\"><span>{}</span><i class=\"{}\"></i><span>{}</span></div></figure>",
      title, alt, image.width * scale, image.height * scale, bmp_data_uri(image), low, ramp, high);
}

std::string maps(const DifferenceMap& map, const std::string& left, const std::string& right) {
  const std::string low = format_number(map.low);
  const std::string high = format_number(map.high);
  const std::string reach = format_number(map.largest);
  const auto values = [&](const std::string& who, const Cells& cells) {
    return picture_figure(heat_map(cells, map.low, map.high, ColourMap::sequential), html_text(who, 40),
                          fmt::format("values of {} from {} to {}", html_text(who, 60), low, high), low, high,
                          "sequential");
  };
  std::string html =
      "<div class=\"maps\">" + values(left, map.left) + values(right, map.right) +
      picture_figure(heat_map(map.difference, -map.largest, map.largest, ColourMap::diverging),
                     "difference, second − first",
                     fmt::format("difference, at most {}, largest at {}", reach, index_list(map.worst)),
                     "−" + reach, "+" + reach, "diverging") +
      "</div>";
  std::string notes = map.plane;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : " · ") + text; };
  if (map.left.block_width > 1 || map.left.block_height > 1)
    note(fmt::format("a cell is {}×{} elements: their mean, or the largest difference among them",
                     map.left.block_height, map.left.block_width));
  note(fmt::format("largest difference at {}: {:.9g} and {:.9g}", index_list(map.worst), map.worst_left,
                   map.worst_right));
  if (map.not_finite > 0)
    note(
        fmt::format("{} elements are NaN (<i class=\"swatch nan\"></i>) or infinite (<i class=\"swatch "
                    "plus-inf\"></i> +, <i class=\"swatch minus-inf\"></i> −)",
                    map.not_finite));
  return html + "<p class=\"soft\">" + notes + "</p>";
}

std::string why(const ResultCell& cell, const LayerVerdict* verified) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (verified != nullptr) {
    if (cell.verified)
      add(fmt::format("{} × the rounding budget", format_number(cell[verified_metric("budget_used")])));
    if (verified->worst) add(worst_text(*verified->worst));
    if (!verified->group.empty())
      add(fmt::format("judged together with {} nodes that were not recorded", verified->group.size()));
  }
  if (!cell.note().empty()) add(html_text(cell.note(), max_reason));
  if (cell.compared)
    add(fmt::format("{} of {} elements differ, by at most {} ({} ULP)",
                    cell.whole(compared_metric("different_elements")),
                    cell.whole(compared_metric("elements")), format_number(cell[compared_metric("max_abs")]),
                    format_ulp(cell[compared_metric("max_ulp")])));
  if (cell.inherited) add("the layer itself is exact: it inherits the difference");
  return text;
}

std::string worst_layer(const LayerTable& layers, std::size_t row, const LayerRank& rank) {
  const auto& layer = layers.rows()[row];
  const ResultCell cell = layers.cell(row, rank.target);
  std::string html = fmt::format(
      "<article class=\"layer\"><h3>{} <span class=\"soft\">{} {}</span> <span class=\"v-{}\">{}</span> "
      "<span class=\"soft\">on {}</span></h3><p>{}</p>",
      html_text(layer.node, 60), html_text(layer.op, 40), shape_text(layer.shape), verdict_name(cell.verdict),
      html_escape(verdict_text(cell.verdict)), html_text(layers.targets()[rank.target]->target, 60),
      why(cell, layers.verified(row, rank.target)));
  const std::size_t partner = partner_of(layers, row, rank.target);
  const Tensor* own = layers.tensor(row, rank.target);
  const Tensor* other = partner == rank.target ? nullptr : layers.tensor(row, partner);
  if (own != nullptr && other != nullptr) {
    // Always the left target first, as everywhere on the page.
    const bool swapped = rank.target == 0;
    const auto map = swapped ? difference_map(*own, *other) : difference_map(*other, *own);
    if (map)
      html += maps(*map, layers.targets()[swapped ? rank.target : partner]->target,
                   layers.targets()[swapped ? partner : rank.target]->target);
  }
  return html + "</article>";
}

constexpr MetricList compared_metrics = report_metrics(MetricSource::compare);
constexpr MetricList verified_metrics = report_metrics(MetricSource::verify);

/// Columns of a target: its metrics, its verdict, its time. The left one has no comparison.
std::size_t column_count(std::size_t target) {
  return (target > 0 ? compared_metrics.size() : 0) + verified_metrics.size() + 2;
}

std::string metric_cell(const ResultCell& cell, Metric metric) {
  const double value = cell[metric];
  if (!(source_of(metric) == MetricSource::verify ? cell.verified : cell.compared)) return "<td>–</td>";
  const bool share = row_of(metric).format == MetricFormat::share;
  return "<td>" + metric_text(row_of(metric), value) + (share ? bar(value, value > 1.0 ? "over" : "") : "") +
         "</td>";
}

std::string table_cells(const LayerTable& layers, std::size_t row, std::size_t target, std::int64_t slowest) {
  const ResultCell cell = layers.cell(row, target);
  std::string html;
  if (target > 0)
    for (const Metric metric : compared_metrics) html += metric_cell(cell, metric);
  for (const Metric metric : verified_metrics) html += metric_cell(cell, metric);
  if (layers.tensor(row, target) == nullptr)
    html += "<td class=\"text soft\">not recorded</td>";
  else
    html += fmt::format("<td class=\"text v-{}\">{}{}</td>", verdict_name(cell.verdict),
                        html_escape(verdict_text(cell.verdict)), cell.inherited ? ", inherited" : "");
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

std::string table_head(const LayerTable& layers, std::size_t targets) {
  std::string html =
      "<thead><tr><th scope=\"col\" rowspan=\"2\">layer</th><th scope=\"col\" class=\"text\" "
      "rowspan=\"2\">op</th><th scope=\"col\" rowspan=\"2\">output</th>";
  for (std::size_t t = 0; t < targets; ++t)
    html += fmt::format("<th scope=\"colgroup\" class=\"text\" colspan=\"{}\">{}</th>", column_count(t),
                        html_text(layers.targets()[t]->target, 60));
  html += "</tr><tr>";
  for (std::size_t t = 0; t < targets; ++t) {
    if (t > 0)
      for (const Metric metric : compared_metrics) html += metric_head(metric);
    for (const Metric metric : verified_metrics) html += metric_head(metric);
    html += "<th scope=\"col\" class=\"text\">verdict</th><th scope=\"col\">time</th>";
  }
  return html + "</tr></thead>";
}

}  // namespace

std::string worst_layers(const ComparisonView& view, const LayerTable& layers, std::size_t budget,
                         LeftOut& left_out) {
  if (layers.rows().empty()) return "";
  std::string html = "<section aria-labelledby=\"worst\"><h2 id=\"worst\">Worst layers</h2>";
  std::size_t shown_layers = 0;
  std::size_t layers_with_own_error = 0;
  std::size_t used = 0;
  bool full = false;
  for (const auto& [rank, row] : ranked_layers(layers)) {
    if (rank.tier < own_error_tier) break;
    ++layers_with_own_error;
    if (full || shown_layers == max_worst_layers) continue;
    std::string one = worst_layer(layers, row, rank);
    full = used + one.size() > budget;
    if (full) continue;
    used += one.size();
    html += one;
    ++shown_layers;
  }
  if (layers_with_own_error == 0)
    html += view.right.empty() || layers.targets().size() < 2
                ? "<p>No layer is suspect or a fault.</p>"
                : "<p>No layer adds an error of its own: there is nothing to show here.</p>";
  if (layers_with_own_error > shown_layers)
    left_out.push_back(fmt::format("heat maps of {} of {} layers with an error of their own.",
                                   layers_with_own_error - shown_layers, layers_with_own_error));
  return html + "</section>";
}

std::string layer_table(const LayerTable& layers, std::size_t budget, LeftOut& left_out) {
  if (layers.rows().empty()) return "";
  const std::size_t targets = std::min(layers.targets().size(), max_targets);
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
    for (std::size_t t = 0; t < targets; ++t) html += table_cells(layers, row, t, slowest[t]);
    html += "</tr>";
    used += html.size() + 40;  // and perhaps a gap
    if (used > budget) break;
    chosen.emplace_back(row, std::move(html));
  }
  std::ranges::sort(chosen);
  std::size_t columns = 3;
  for (std::size_t t = 0; t < targets; ++t) columns += column_count(t);
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
      "<section class=\"wide\" aria-labelledby=\"layers\"><h2 id=\"layers\">All layers</h2>" +
      (folded > 0
           ? fmt::format("<p class=\"soft\">Without {} that no input reaches: they are in the JSON.</p>",
                         folded == 1 ? "one constant" : fmt::format("{} constants", folded))
           : std::string()) +
      "<div class=\"scroll layers\" "
      "tabindex=\"0\" role=\"group\" aria-label=\"All layers\"><table><caption class=\"unseen\">Layers in "
      "the order of the graph, with each target's difference from the left one, verdict and time</caption>" +
      table_head(layers, targets) + "<tbody>";
  std::size_t next = 0;
  for (const auto& [row, text] : chosen) {
    html += gap(next, row) + text;
    next = row + 1;
  }
  html += gap(next, layers.rows().size()) + "</tbody></table></div></section>";
  const std::size_t all = layers.rows().size() - folded;
  if (chosen.size() < all)
    left_out.push_back(
        fmt::format("{} of {} rows of the table of layers; all faults, suspects, unjudged layers and "
                    "first differences come first.",
                    all - chosen.size(), all));
  return html;
}

}  // namespace driftscope::report_sections
