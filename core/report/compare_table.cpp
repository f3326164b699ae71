#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.hpp"
#include "core/report/metric_text.hpp"
#include "core/report/run_time_text.hpp"
#include "core/report/sensitivity_table.hpp"
#include "core/report/tables.hpp"
#include "core/report/text_table.hpp"
#include "core/results/answer_move_text.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/layer_rank.hpp"
#include "core/results/layer_table.hpp"
#include "core/results/output.hpp"
#include "core/verify/nonfinite.hpp"

namespace driftscope {
namespace {

constexpr auto compared_metrics = table_metrics(MetricSource::compare);

// The worst values of one row over all right targets.
struct WorstRow {
  std::array<double, compared_metrics.count> metrics{};
  double budget_used = 0.0;
  Verdict verdict = Verdict::missing;
  std::string where;     // targets with the worst verdict, unless all have it
  std::int64_t nan = 0;  // elements, on any target
  std::int64_t inf = 0;
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
  for (std::size_t t = 0; t < layers.targets().size(); ++t)
    if (const LayerVerdict* layer = layers.verified(row_number, t)) {
      row.nan = std::max(row.nan, layer->metrics.nan);
      row.inf = std::max(row.inf, layer->metrics.inf);
    }
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
    if (severity(cell.verdict) > severity(row.verdict)) {
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
  if (!did_run(target)) return fmt::format("{:<5}  {}  not run\n", side, target.target);
  const Trace nothing_known;
  const Trace& trace = target.trace ? *target.trace : nothing_known;
  const MemoryRecord peak = peak_memory(trace);
  std::string line = fmt::format("{:<5}  {}  {}", side, target.target, run_text(trace));
  const RunTime time = run_time(target);
  line += fmt::format("\n         whole model {}; {}; peak memory {} ({})",
                      plain_text(run_time_text(time), 1000), plain_text(layer_times_text(time), 100),
                      format_bytes(peak.bytes), peak.kind.empty() ? "unknown" : peak.kind);
  if (target.verification) line += fmt::format(", verify: {}", verdict_text(target.verification->verdict));
  if (target.comparison && target.comparison->first_divergence)
    line += ", first differs at " + *target.comparison->first_divergence;
  if (target.verification && target.verification->answer)
    line += "\n         " + plain_text(answer_move_text(*target.verification->answer), whole_text);
  for (const std::string& note : target_notes(target)) line += "\n         " + plain_text(note, whole_text);
  return line + "\n";
}

std::string output_text(const TargetResult& target, const ComparisonView& view) {
  const Tensor* output = target.trace ? answer(*target.trace) : nullptr;
  if (output == nullptr) return "–";
  if (target.verification && !target.verification->nonfinite.empty()) {
    const NonFiniteOutput& one = target.verification->nonfinite.front();
    if (one.nan == one.elements) return shape_text(output->shape()) + ", all NaN";
  }
  if (!has_classes(view)) return shape_text(output->shape());
  const auto classes = top_classes(*output, view.class_names, 3);
  const bool percent = is_distribution(*output);
  std::string text;
  for (const ClassScore& top : classes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", top.name,
                        percent ? fmt::format("{:.2f} %", top.score * 100.0) : format_number(top.score));
  return text.empty() ? shape_text(output->shape()) : text;
}

/// The parts of a comparison's text that list layers.
class LayerLists {
 public:
  LayerLists(const ComparisonView& view, const LayerTable& layers) : view_(view), layers_(layers) {
    std::vector<std::string> names;
    for (const LayerTable::Row& row : layers.rows()) names.push_back(row.node);
    names_ = fitting_names(names, layer_name_width);
  }

  [[nodiscard]] std::string differences(const std::vector<std::size_t>& rows) const {
    TextTable table;
    table.column("layer", Align::left);
    table.column("op", Align::left);
    table.column("output", Align::left);
    table.column("memory", Align::right);
    for (const Metric metric : compared_metrics)
      table.column(std::string(row_of(metric).title), Align::right);
    table.column("budget", Align::right);
    table.column("verdict", Align::left);
    add_target_columns(table);
    for (const std::size_t row : rows) {
      const WorstRow worst = worst_row(layers_, row, view_);
      std::vector<std::string> cells = about(row);
      cells.push_back(format_bytes(tensor_bytes(layers_, row)));
      for (std::size_t m = 0; m < compared_metrics.count; ++m)
        cells.push_back(worst.compared ? metric_text(row_of(compared_metrics[m]), worst.metrics[m]) : "–");
      cells.push_back(worst.recorded ? format_number(worst.budget_used) : "–");
      cells.push_back((worst.recorded ? verdict_text(worst.verdict) : "· not recorded") +
                      nonfinite_mark({.nan = worst.nan, .inf = worst.inf}) +
                      (layers_.rows()[row].constant ? ", constant" : "") +
                      (worst.inherited && worst.verdict == Verdict::rounding ? ", inherited" : "") +
                      (worst.where.empty() ? "" : " " + worst.where));
      add_times(cells, row);
      table.row(std::move(cells));
    }
    return table.text();
  }

  [[nodiscard]] std::string times(const std::vector<std::size_t>& rows) const {
    TextTable table;
    table.column("layer", Align::left);
    table.column("op", Align::left);
    table.column("output", Align::left);
    add_target_columns(table);
    for (const std::size_t row : rows) {
      std::vector<std::string> cells = about(row);
      add_times(cells, row);
      table.row(std::move(cells));
    }
    return table.text();
  }

 private:
  [[nodiscard]] std::vector<std::string> about(std::size_t row) const {
    const LayerTable::Row& layer = layers_.rows()[row];
    return {elide_start(names_[row], layer_name_width), elide(layer.op, 20), shape_text(layer.shape)};
  }
  void add_target_columns(TextTable& table) const {
    for (const TargetResult* target : layers_.targets())
      table.column(short_target(target->target, view_), Align::right);
  }
  void add_times(std::vector<std::string>& cells, std::size_t row) const {
    for (std::size_t t = 0; t < layers_.targets().size(); ++t)
      cells.push_back(layers_.targets()[t]->trace ? format_ns(layers_.cell(row, t).time_ns()) : "–");
  }

  const ComparisonView& view_;
  const LayerTable& layers_;
  std::vector<std::string> names_;
};

/// The worst and the slowest layers of a comparison, or all of them.
std::string layer_lists(const ComparisonView& view, const LayerChoice& choice) {
  const LayerTable layers(view);
  const LayerLists lists(view, layers);
  std::vector<std::size_t> shown;
  for (std::size_t row = 0; row < layers.rows().size(); ++row)
    if (choice.all || !layers.is_folded(row)) shown.push_back(row);
  const std::size_t folded = layers.rows().size() - shown.size();
  const std::string constants =
      folded == 0 ? "" : fmt::format("{} constant{}", folded, folded == 1 ? "" : "s");
  if (choice.all || shown.size() <= 2 * choice.limit)
    return lists.differences(shown) + (folded > 0 ? fmt::format("and {}: --layers all\n", constants) : "");
  std::vector<std::size_t> worst;
  for (const RankedLayer& one : ranked_layers(layers))
    if (one.rank.tier >= own_error_tier && worst.size() < choice.limit) worst.push_back(one.row);
  std::vector<std::size_t> slowest = slowest_layers(layers);
  slowest.resize(std::min(slowest.size(), choice.limit));
  std::string text = worst.empty() ? "No layer differs by itself.\n"
                                   : fmt::format("The worst {} of {} layers\n{}", worst.size(), shown.size(),
                                                 lists.differences(worst));
  if (!slowest.empty()) text += fmt::format("\nThe slowest {}\n{}", slowest.size(), lists.times(slowest));
  return text + fmt::format("\nAll {} layers{}: --layers all\n", shown.size(),
                            constants.empty() ? "" : " and " + constants);
}

}  // namespace

std::string compare_table(const ComparisonView& view, const LayerChoice& choice) {
  std::string text;
  const bool compared =
      std::ranges::any_of(view.right, [](const TargetResult& right) { return right.comparison.has_value(); });
  if (compared) text += layer_lists(view, choice) + "\n";
  std::vector<NamedVerification> verified;
  const auto add = [&](const TargetResult& target) {
    if (target.verification) verified.push_back({short_target(target.target, view), &*target.verification});
  };
  add(view.left);
  for (const TargetResult& right : view.right) add(right);
  if (const std::string sensitive = sensitivity_table(verified); !sensitive.empty()) text += sensitive + "\n";
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

}  // namespace driftscope
