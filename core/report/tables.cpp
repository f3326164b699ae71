#include "core/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/format.hpp"
#include "core/report/metric_text.hpp"
#include "core/report/text_table.hpp"
#include "core/results/layer_table.hpp"
#include "core/results/output.hpp"
#include "core/trace/tensors_by_name.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/perturbation.hpp"

namespace driftscope {
namespace {

constexpr auto verified_metrics = table_metrics(MetricSource::verify);
constexpr auto compared_metrics = table_metrics(MetricSource::compare);

// The worst values of one row over all right targets.
struct WorstRow {
  std::array<double, compared_metrics.count> metrics{};
  double budget_used = 0.0;
  Verdict verdict = Verdict::identical;
  std::string where;      // targets with the worst verdict, unless all have it
  bool inherited = true;  // all of those differ only because their inputs do
  bool recorded = false;  // by any target that was compared
  bool compared = false;  // with the left target, on any
};

/// The worse of two values; `worst` is not a number while there is none.
double worse(const MetricRow& row, double worst, double value, bool first) {
  const bool is_worse = row.better == Better::higher ? value < worst : value > worst;
  return first || std::isnan(value) || is_worse ? value : worst;
}

WorstRow worst_row(const LayerTable& layers, std::size_t row_number, const ComparisonView& view) {
  WorstRow row;
  std::size_t worst = 0;
  std::size_t targets = 0;
  for (std::size_t t = 1; t < layers.targets().size(); ++t) {
    if (!layers.targets()[t]->comparison) continue;
    ++targets;
    if (layers.tensor(row_number, t) == nullptr) continue;
    const ResultCell cell = layers.cell(row_number, t);
    if (cell.compared) {
      for (std::size_t m = 0; m < compared_metrics.count; ++m)
        row.metrics[m] =
            worse(row_of(compared_metrics[m]), row.metrics[m], cell[compared_metrics[m]], !row.compared);
      row.compared = true;
    }
    if (const double used = cell[verified_metric("budget_used")];
        cell.verified && (std::isnan(used) || used > row.budget_used))
      row.budget_used = used;
    row.recorded = true;
    if (cell.verdict > row.verdict) {
      row.verdict = cell.verdict;
      row.where.clear();
      row.inherited = true;
      worst = 0;
    }
    if (cell.verdict != row.verdict) continue;
    ++worst;
    row.inherited = row.inherited && cell.inherited;
    row.where += (row.where.empty() ? "" : ",") + short_target(layers.targets()[t]->target, view);
  }
  if (worst == targets) row.where.clear();
  return row;
}

std::int64_t tensor_bytes(const LayerTable& layers, std::size_t row) {
  for (std::size_t t = 0; t < layers.targets().size(); ++t)
    if (const Tensor* tensor = layers.tensor(row, t))
      return static_cast<std::int64_t>(tensor->bytes().size());
  return 0;
}

std::string target_line(const TargetResult& target, std::string_view side) {
  if (target.error) return fmt::format("{:<5}  {}  failed: {}\n", side, target.target, target.error->message);
  if (!target.trace) return fmt::format("{:<5}  {}  not run\n", side, target.target);
  const MemoryRecord peak = peak_memory(*target.trace);
  std::string line = fmt::format("{:<5}  {}  {}", side, target.target, run_text(*target.trace));
  line += fmt::format("\n         layers {}, peak memory {} ({})", format_ns(total_time_ns(*target.trace)),
                      format_bytes(peak.bytes), peak.kind.empty() ? "unknown" : peak.kind);
  if (target.verification) line += fmt::format(", verify: {}", verdict_text(target.verification->verdict));
  for (const std::string& note : {perturbation_text(*target.trace), name_match_text(*target.trace)})
    if (!note.empty()) line += "\n         " + note;
  return line + "\n";
}

std::string output_text(const TargetResult& target, const ComparisonView& view) {
  const Tensor* output = target.trace ? answer(*target.trace) : nullptr;
  if (output == nullptr) return "–";
  const auto classes = top_classes(*output, view.class_names, 3);
  const bool percent = is_distribution(*output);
  std::string text;
  for (const ClassScore& top : classes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", top.name,
                        percent ? fmt::format("{:.2f} %", top.score * 100.0) : format_number(top.score));
  return text.empty() ? shape_text(output->shape()) : text;
}

}  // namespace

std::string compare_table(const ComparisonView& view) {
  std::string text;
  const LayerTable layers(view);
  const bool compared =
      std::ranges::any_of(view.right, [](const TargetResult& right) { return right.comparison.has_value(); });
  if (compared) {
    TextTable table;
    table.column("layer", Align::left);
    table.column("op", Align::left);
    table.column("output", Align::left);
    table.column("memory", Align::right);
    for (const Metric metric : compared_metrics)
      table.column(std::string(row_of(metric).title), Align::right);
    table.column("budget", Align::right);
    table.column("verdict", Align::left);
    table.column(short_target(view.left.target, view), Align::right);
    for (const TargetResult& right : view.right) table.column(short_target(right.target, view), Align::right);
    for (std::size_t row = 0; row < layers.rows().size(); ++row) {
      const LayerTable::Row& layer = layers.rows()[row];
      const WorstRow worst = worst_row(layers, row, view);
      std::vector<std::string> cells = {elide(layer.node, 32), elide(layer.op, 20), shape_text(layer.shape),
                                        format_bytes(tensor_bytes(layers, row))};
      for (std::size_t m = 0; m < compared_metrics.count; ++m)
        cells.push_back(worst.compared ? metric_text(row_of(compared_metrics[m]), worst.metrics[m]) : "–");
      cells.push_back(worst.recorded ? format_number(worst.budget_used) : "–");
      cells.push_back((worst.recorded ? verdict_text(worst.verdict) : "· not recorded") +
                      (worst.inherited && worst.verdict == Verdict::rounding ? ", inherited" : "") +
                      (worst.where.empty() ? "" : " " + worst.where));
      for (std::size_t t = 0; t < layers.targets().size(); ++t)
        cells.push_back(layers.targets()[t]->trace ? format_ns(layers.cell(row, t).time_ns()) : "–");
      table.row(std::move(cells));
    }
    text += table.text() + "\n";
  }
  text += target_line(view.left, "left");
  for (const TargetResult& right : view.right) text += target_line(right, "right");
  text += "\n";
  if (!view.input_label.empty()) text += "expected  " + view.input_label + "\n";
  TextTable outputs;
  outputs.column("target", Align::left);
  outputs.column("answer", Align::left);
  outputs.row({view.left.target, output_text(view.left, view)});
  for (const TargetResult& right : view.right) outputs.row({right.target, output_text(right, view)});
  return text + outputs.text();
}

std::string verify_table(const Verification& verification, const std::string& file) {
  constexpr std::size_t max_reason = 80;
  const auto is_worth_reading = [](Verdict verdict) {
    return verdict == Verdict::unjudged || verdict == Verdict::suspect || verdict == Verdict::fault;
  };
  TextTable table;
  std::string reasons;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  table.column("output", Align::left);
  for (const Metric metric : verified_metrics) table.column(std::string(row_of(metric).title), Align::right);
  table.column("verdict", Align::left);
  for (const LayerVerdict& layer : verification.layers) {
    std::vector<std::string> cells = {elide(layer.node, 32), elide(layer.op, 20), shape_text(layer.shape)};
    for (const Metric metric : verified_metrics) {
      cells.push_back(metric_text(row_of(metric), metric_value(row_of(metric), layer)));
      if (row_of(metric).format == MetricFormat::count)
        cells.back() += fmt::format("/{}", layer.metrics.elements);
    }
    // What to do about a layer is listed below the table, where there is room.
    const bool below = layer.reason.size() > max_reason && is_worth_reading(layer.verdict);
    const std::string reason = below ? "see below" : elide(layer.reason, max_reason);
    cells.push_back(verdict_text(layer.verdict) + (reason.empty() ? "" : "  " + reason));
    if (below) reasons += fmt::format("{}: {}\n", elide(layer.node, 32), layer.reason);
    table.row(std::move(cells));
  }
  std::string text = file;
  if (!verification.target.empty()) text += "  " + verification.target;
  text += "\n" + table.text() + (reasons.empty() ? "" : "\n" + reasons) +
          "\nverdict: " + verdict_text(verification.verdict);
  if (const auto unjudged = count_layers(verification, Verdict::unjudged); unjudged > 0)
    text += fmt::format(", {} of {} layers not judged", unjudged, verification.layers.size());
  if (verification.first_fault) text += ", first fault at " + *verification.first_fault;
  return text + "\n";
}

std::string run_table(const Trace& trace) {
  TextTable table;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  table.column("output", Align::left);
  table.column("memory", Align::right);
  table.column("first", Align::right);
  table.column("median", Align::right);
  const TensorsByName tensors(trace);
  for (const NodeRecord& node : trace.nodes) {
    const Tensor* output = node.outputs.empty() ? nullptr : tensors.find(node.outputs[0]);
    table.row(
        {elide(node.name, 32), elide(node.op, 20), output == nullptr ? "–" : shape_text(output->shape()),
         output == nullptr ? "–" : format_bytes(static_cast<std::int64_t>(output->bytes().size())),
         node.time_ns.empty() ? "–" : format_ns(node.time_ns.front()), format_ns(steady_time_ns(node))});
  }
  return table.text();
}

std::string output_lines(const Tensor& output, const std::vector<std::string>& class_names,
                         std::size_t most) {
  const auto classes = top_classes(output, class_names, most);
  const bool percent = is_distribution(output);
  TextTable table;
  table.column("class", Align::left);
  table.column(percent ? "probability" : "value", Align::right);
  for (const ClassScore& top : classes)
    table.row({top.name, percent ? fmt::format("{:.3f} %", top.score * 100.0) : format_number(top.score)});
  return classes.empty() ? std::string() : table.text();
}

std::string dataset_table(const ComparisonView& view) {
  TextTable table;
  table.column("target", Align::left);
  table.column("correct", Align::right);
  table.column("accuracy", Align::right);
  table.column("agrees with " + view.left.target, Align::right);
  const auto add = [&](const TargetResult& target) {
    if (!target.dataset) {
      table.row({target.target, "–", "–", target.error ? "failed" : "–"});
      return;
    }
    const DatasetResult& result = *target.dataset;
    const bool labelled = result.correct >= 0 && result.samples > 0;
    const auto percent = [&](std::int64_t part) {
      return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(result.samples));
    };
    table.row({target.target, labelled ? fmt::format("{}/{}", result.correct, result.samples) : "–",
               labelled ? percent(result.correct) : "–",
               view.left.dataset ? fmt::format("{}/{}", agreement(*view.left.dataset, result), result.samples)
                                 : "–"});
  };
  add(view.left);
  for (const TargetResult& right : view.right) add(right);
  return table.text();
}

}  // namespace driftscope
