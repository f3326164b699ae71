#include "core/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/format.hpp"
#include "core/report/text_table.hpp"
#include "core/results/layer_index.hpp"
#include "core/results/output.hpp"
#include "core/trace/tensors_by_name.hpp"
#include "core/verify/name_match.hpp"
#include "core/verify/perturbation.hpp"

namespace driftscope {
namespace {

// Over all right targets, what one row shows: the worst of each column.
struct WorstRow {
  std::int64_t different = 0;
  double max_abs = 0.0;
  double max_ulp = 0.0;
  double budget_used = 0.0;
  Verdict verdict = Verdict::identical;
  std::string where;      // targets whose verdict is the worst, when they are not all
  bool inherited = true;  // all of those differ only because their inputs do
  bool judged = false;    // on any target
  bool compared = false;  // with the left target, on any
};

double worse(double a, double b) { return std::isnan(b) || b > a ? b : a; }

WorstRow worst_row(const LayerIndex& index, std::size_t row_number, const ComparisonView& view) {
  WorstRow row;
  std::size_t judged = 0;
  std::size_t worst = 0;
  std::size_t targets = 0;
  for (std::size_t t = 1; t < index.targets().size(); ++t) {
    targets += index.targets()[t]->comparison ? 1 : 0;
    const LayerCell& cell = index.cell(row_number, t);
    if (cell.difference == nullptr || !cell.recorded) continue;
    row.compared = row.compared || cell.difference->recorded;
    row.different = std::max(row.different, cell.difference->metrics.different_elements);
    row.max_abs = worse(row.max_abs, cell.difference->metrics.max_abs);
    row.max_ulp = worse(row.max_ulp, cell.difference->metrics.max_ulp);
    if (cell.judged != nullptr) row.budget_used = worse(row.budget_used, cell.judged->budget_used);
    ++judged;
    if (cell.verdict > row.verdict) {
      row.verdict = cell.verdict;
      row.where.clear();
      row.inherited = true;
      worst = 0;
    }
    if (cell.verdict != row.verdict) continue;
    ++worst;
    row.inherited = row.inherited && cell.inherited;
    row.where += (row.where.empty() ? "" : ",") + short_target(index.targets()[t]->target, view);
  }
  row.judged = judged > 0;
  if (worst == targets) row.where.clear();
  return row;
}

std::int64_t tensor_bytes(const LayerIndex& index, std::size_t row) {
  for (std::size_t t = 0; t < index.targets().size(); ++t)
    if (const Tensor* tensor = index.cell(row, t).tensor)
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
  const LayerIndex index(view);
  const bool compared =
      std::ranges::any_of(view.right, [](const TargetResult& right) { return right.comparison.has_value(); });
  if (compared) {
    TextTable table;
    table.column("layer", Align::left);
    table.column("op", Align::left);
    table.column("output", Align::left);
    table.column("memory", Align::right);
    table.column("differ", Align::right);
    table.column("max abs", Align::right);
    table.column("max ULP", Align::right);
    table.column("budget", Align::right);
    table.column("verdict", Align::left);
    table.column(short_target(view.left.target, view), Align::right);
    for (const TargetResult& right : view.right) table.column(short_target(right.target, view), Align::right);
    for (std::size_t row = 0; row < index.rows().size(); ++row) {
      const LayerIndex::Row& layer = index.rows()[row];
      const WorstRow worst = worst_row(index, row, view);
      const auto when_compared = [&](const std::string& cell) {
        return worst.compared ? cell : std::string("–");
      };
      std::vector<std::string> cells = {
          elide(layer.node, 32),
          elide(layer.op, 20),
          shape_text(layer.shape),
          format_bytes(tensor_bytes(index, row)),
          when_compared(std::to_string(worst.different)),
          when_compared(format_number(worst.max_abs)),
          when_compared(format_ulp(worst.max_ulp)),
          worst.judged ? format_number(worst.budget_used) : "–",
          (worst.judged ? verdict_text(worst.verdict) : "· not recorded") +
              (worst.inherited && worst.verdict == Verdict::rounding ? ", inherited" : "") +
              (worst.where.empty() ? "" : " " + worst.where)};
      for (std::size_t t = 0; t < index.targets().size(); ++t)
        cells.push_back(index.targets()[t]->trace ? format_ns(index.cell(row, t).time_ns) : "–");
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
  TextTable table;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  table.column("output", Align::left);
  table.column("differ", Align::right);
  table.column("max abs", Align::right);
  table.column("max ULP", Align::right);
  table.column("budget", Align::right);
  table.column("statistical", Align::right);
  table.column("verdict", Align::left);
  for (const LayerVerdict& layer : verification.layers)
    table.row({elide(layer.node, 32), elide(layer.op, 20), shape_text(layer.shape),
               fmt::format("{}/{}", layer.metrics.different_elements, layer.metrics.elements),
               format_number(layer.metrics.max_abs), format_ulp(layer.metrics.max_ulp),
               format_number(layer.budget_used), format_number(layer.budget_used_statistical),
               verdict_text(layer.verdict) + (layer.reason.empty() ? "" : "  " + elide(layer.reason, 80))});
  std::string text = file;
  if (!verification.target.empty()) text += "  " + verification.target;
  text += "\n" + table.text() + "\nverdict: " + verdict_text(verification.verdict);
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
