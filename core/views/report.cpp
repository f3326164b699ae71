#include "core/views/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/verify/observer.hpp"
#include "core/views/charts.hpp"
#include "core/views/format.hpp"
#include "core/views/output.hpp"
#include "core/views/picture.hpp"
#include "core/views/report_style.hpp"

namespace driftscope {
namespace {

std::vector<const TargetResult*> all_targets(const ComparisonView& view) {
  std::vector<const TargetResult*> targets = {&view.left};
  for (const TargetResult& right : view.right) targets.push_back(&right);
  return targets;
}

std::string verdict_cell(Verdict verdict) {
  return fmt::format("<td class=\"text v-{}\">{}</td>", verdict_name(verdict),
                     html_escape(verdict_text(verdict)));
}

const LayerVerdict* judged(const TargetResult& target, const std::string& output) {
  if (!target.verification) return nullptr;
  for (const LayerVerdict& layer : target.verification->layers)
    if (layer.output == output) return &layer;
  return nullptr;
}

std::int64_t time_of(const TargetResult& target, const std::string& node) {
  if (!target.trace) return 0;
  for (const NodeRecord& record : target.trace->nodes)
    if (record.name == node) return steady_time_ns(record);
  return 0;
}

std::string targets_section(const ComparisonView& view) {
  std::string html =
      "<h2>Targets and what really ran</h2><div class=\"scroll\"><table><tr><th>target</th>"
      "<th class=\"text\">ran</th><th class=\"text\">verify</th><th class=\"text\">first difference</th>"
      "<th>layers</th><th>peak memory</th></tr>";
  std::string errors;
  for (const TargetResult* target : all_targets(view)) {
    html += "<tr><td>" + html_escape(target->target) + "</td>";
    if (!target->trace) {
      html += "<td class=\"text v-fault\" colspan=\"5\">✗ failed</td></tr>";
      if (target->error)
        errors += fmt::format("<p class=\"error\"><b>{}</b> {}</p>", html_escape(target->target),
                              html_escape(target->error->message));
      continue;
    }
    const std::string watched = observer_text(*target->trace);
    html += "<td class=\"text wrap\">" + html_escape(run_text(*target->trace)) +
            (watched.empty() ? "" : "<br><span class=\"soft\">" + html_escape(watched) + "</span>") +
            "</td>";
    html += verdict_cell(target->verification ? target->verification->verdict : Verdict::missing);
    std::string divergence = "–";
    if (target->comparison) divergence = target->comparison->first_divergence.value_or("none");
    const MemoryRecord peak = peak_memory(*target->trace);
    html += fmt::format("<td class=\"text\">{}</td><td>{}</td><td>{} <span class=\"soft\">{}</span></td></tr>",
                        html_escape(divergence), format_ns(total_time_ns(*target->trace)),
                        format_bytes(peak.bytes), html_escape(peak.kind));
  }
  return html + "</table></div>" + errors;
}

std::string outputs_section(const ComparisonView& view) {
  const auto targets = all_targets(view);
  const Tensor* guide = nullptr;
  std::string picture;
  for (const TargetResult* target : targets) {
    if (!target->trace) continue;
    if (guide == nullptr) guide = answer(*target->trace);
    if (picture.empty() && !target->trace->tensors.empty())
      picture = picture_data_uri(target->trace->tensors.front().tensor);
  }
  if (guide == nullptr) return "";
  const auto classes = top_classes(*guide, view.class_names, 10);
  const bool percent = is_distribution(*guide);
  std::string html = "<h2>Outputs side by side</h2><div class=\"pair\">";
  if (!picture.empty()) {
    html += "<div><img class=\"sample\" alt=\"the input\" src=\"" + picture + "\">";
    if (!view.input_label.empty())
      html += "<p class=\"soft\">labelled " + html_escape(view.input_label) + "</p>";
    html += "</div>";
  }
  html += "<div class=\"scroll\"><table><tr><th>class</th>";
  for (const TargetResult* target : targets) html += "<th>" + html_escape(target->target) + "</th>";
  html += "</tr>";
  for (const ClassScore& row : classes) {
    html += "<tr><td>" + html_escape(row.name) + "</td>";
    for (const TargetResult* target : targets) {
      const Tensor* output = target->trace ? answer(*target->trace) : nullptr;
      if (output == nullptr || output->dtype() != DType::float32 ||
          row.index >= output->elements()) {
        html += "<td>–</td>";
        continue;
      }
      const double value = static_cast<double>(output->values<float>()[static_cast<std::size_t>(row.index)]);
      html += percent ? fmt::format("<td>{:.3f} %{}</td>", 100.0 * value, bar(value, "wide"))
                      : fmt::format("<td>{}</td>", fmt::format("{:.6g}", value));
    }
    html += "</tr>";
  }
  return html + "</table></div></div>";
}

std::string dataset_section(const ComparisonView& view) {
  if (!view.left.dataset) return "";
  std::string html = fmt::format(
      "<h2>Over the whole data set</h2><p class=\"soft\">{}</p><div class=\"scroll\"><table><tr>"
      "<th>target</th><th>correct</th><th>accuracy</th><th>same prediction as {}</th></tr>",
      html_escape(view.dataset_text), html_escape(view.left.target));
  for (const TargetResult* target : all_targets(view)) {
    if (!target->dataset) continue;
    const DatasetResult& result = *target->dataset;
    const double share = result.samples > 0 ? static_cast<double>(result.correct) /
                                                  static_cast<double>(result.samples)
                                            : 0.0;
    html += fmt::format("<tr><td>{}</td><td>{} of {}</td><td>{:.2f} %{}</td><td>{} of {}</td></tr>",
                        html_escape(target->target), std::max<std::int64_t>(result.correct, 0),
                        result.samples, 100.0 * share, bar(share, ""),
                        agreement(*view.left.dataset, result), result.samples);
  }
  return html + "</table></div>";
}

std::string charts_section(const ComparisonView& view) {
  const auto compared = compared_layers(view);
  if (compared.empty()) return "";
  std::vector<std::string> layers;
  for (const LayerDifference* layer : compared) layers.push_back(layer->node);
  std::vector<Series> differences;
  std::vector<Series> budgets;
  std::size_t style = 0;
  for (const TargetResult* target : all_targets(view)) {
    Series difference{target->target, {}, style};
    Series budget{target->target, {}, style};
    ++style;
    for (const LayerDifference* entry : compared) {
      const LayerVerdict* layer = judged(*target, entry->output);
      budget.values.push_back(layer != nullptr ? layer->budget_used : NAN);
      const LayerDifference* own = difference_at(*target, entry->output);
      difference.values.push_back(own != nullptr && own->recorded ? own->metrics.max_abs : NAN);
    }
    budgets.push_back(std::move(budget));
    if (target->comparison) differences.push_back(std::move(difference));
  }
  return "<h2>Error by layer</h2>" +
         log_chart({"Difference from " + view.left.target, "max |difference|",
                    "Largest absolute difference of each layer's output: errors that are inherited "
                    "show here too."},
                   layers, differences) +
         log_chart({"Share of the rounding budget used", "error ÷ budget",
                    "Each layer judged from the inputs its own target recorded: above the line it is "
                    "a fault, not rounding."},
                   layers, budgets, 1.0);
}

std::string layer_cells(const TargetResult& target, const std::string& output,
                        const std::string& node, std::int64_t slowest, bool is_left) {
  const LayerVerdict* layer = judged(target, output);
  std::string html;
  if (!is_left) {
    const LayerDifference* own = difference_at(target, output);
    html += own != nullptr && own->recorded
                ? fmt::format("<td>{}</td><td>{}</td><td>{}</td>", own->metrics.different_elements,
                              format_number(own->metrics.max_abs), format_ulp(own->metrics.max_ulp))
                : "<td>–</td><td>–</td><td>–</td>";
  }
  if (layer != nullptr) {
    const double used = layer->budget_used;
    html += fmt::format("<td>{}{}</td>", format_number(used), bar(used, used > 1.0 ? "over" : ""));
  } else {
    html += "<td>–</td>";
  }
  if (is_unrecorded(target, output))
    html += "<td class=\"text soft\">not recorded</td>";
  else
    html += is_left ? verdict_cell(layer != nullptr ? layer->verdict : Verdict::missing)
                    : verdict_cell(layer_verdict(target, output));
  const std::int64_t ns = time_of(target, node);
  const double share =
      slowest > 0 ? static_cast<double>(ns) / static_cast<double>(slowest) : 0.0;
  return html + fmt::format("<td>{}{}</td>", format_ns(ns), bar(share, ""));
}

std::string layers_section(const ComparisonView& view) {
  const auto layers = compared_layers(view);
  if (layers.empty()) return "";
  const auto targets = all_targets(view);
  std::vector<std::int64_t> slowest;
  for (const TargetResult* target : targets) {
    std::int64_t most = 0;
    if (target->trace)
      for (const NodeRecord& node : target->trace->nodes) most = std::max(most, steady_time_ns(node));
    slowest.push_back(most);
  }
  std::string html = "<h2>Layers</h2><div class=\"scroll\"><table><tr><th rowspan=\"2\">layer</th>"
                     "<th class=\"text\" rowspan=\"2\">op</th><th rowspan=\"2\">output</th>";
  for (std::size_t t = 0; t < targets.size(); ++t)
    html += fmt::format("<th class=\"text\" colspan=\"{}\">{}</th>", t == 0 ? 3 : 6,
                        html_escape(targets[t]->target));
  html += "</tr><tr>";
  for (std::size_t t = 0; t < targets.size(); ++t)
    html += std::string(t == 0 ? "" : "<th>differ</th><th>max abs</th><th>max ULP</th>") +
            "<th>budget used</th><th class=\"text\">verdict</th><th>time</th>";
  html += "</tr>";
  for (const LayerDifference* const entry : layers) {
    const LayerDifference& layer = *entry;
    bool first_fault = false;
    for (const TargetResult* target : targets)
      first_fault = first_fault || (target->verification &&
                                    target->verification->first_fault == layer.node);
    html += fmt::format("<tr{}><td>{}</td><td class=\"text\">{}</td><td>{}</td>",
                        first_fault ? " class=\"first-row\"" : "", html_escape(layer.node),
                        html_escape(layer.op), shape_text(layer.shape));
    for (std::size_t t = 0; t < targets.size(); ++t)
      html += layer_cells(*targets[t], layer.output, layer.node, slowest[t], t == 0);
    html += "</tr>";
  }
  return html + "</table></div>";
}

}  // namespace

std::string comparison_report(const ComparisonView& view) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"generator\" content=\"Driftscope\"><title>" +
      html_escape(view.model_name + " · " + headline(view)) + "</title><style>" + report_style +
      "</style></head><body><main>";
  html += "<h1>" + html_escape(view.model_name) + "</h1><p class=\"headline\"><b>" +
          html_escape(headline(view)) + "</b></p>";
  html += fmt::format("<p class=\"soft\">input {} · model sha256 <code>{}</code></p>",
                      html_escape(view.input_text), html_escape(view.model_sha256.substr(0, 16)));
  html += targets_section(view) + outputs_section(view) + dataset_section(view) +
          charts_section(view) + layers_section(view);
  html += "<h2>How to run this again</h2><pre><code>" + html_escape(view.command) +
          "</code></pre><footer>Verdicts: <span class=\"v-identical\">= identical</span> no bit differs · "
          "~ rounding within what float32 rounding does by chance · "
          "<span class=\"v-suspect\">? suspect</span> possible by rounding, but not by chance · "
          "<span class=\"v-fault\">✗ fault</span> no rounding explains it. The budget of a layer comes "
          "from the inputs that the target itself recorded, so an error is charged to the layer that "
          "made it. Times are medians without the first run.</footer></main></body></html>\n";
  return html;
}

}  // namespace driftscope
