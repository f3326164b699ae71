#include "core/report/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.hpp"
#include "core/report/finding_text.hpp"
#include "core/report/metric_text.hpp"
#include "core/report/sensitivity_table.hpp"
#include "core/report/text_table.hpp"
#include "core/results/answer_move_text.hpp"
#include "core/results/layer_names.hpp"
#include "core/results/metric_columns.hpp"
#include "core/results/output.hpp"
#include "core/trace/tensors_by_name.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/overflow.hpp"
#include "core/verify/repeats.hpp"

namespace driftscope {
namespace {

constexpr auto verified_metrics = table_metrics(MetricSource::verify);

// A constant on which nothing is suspect.
bool is_folded(const LayerVerdict& layer) { return layer.constant && !is_bad(layer.verdict); }

bool worse(const LayerVerdict& a, const LayerVerdict& b) {
  if (a.verdict != b.verdict) return severity(a.verdict) > severity(b.verdict);
  const double x = std::isnan(a.budget_used) ? INFINITY : a.budget_used;
  return x > (std::isnan(b.budget_used) ? INFINITY : b.budget_used);
}

std::string rest_line(std::size_t all, std::size_t folded) {
  return fmt::format("\nAll {} layers{}: --layers all\n", all,
                     folded == 0 ? "" : fmt::format(" and {} constant{}", folded, folded == 1 ? "" : "s"));
}

// "38 of 24 ulp, over".
std::string external_text(const std::optional<ExternalBudget>& external) {
  if (!external) return "–";
  return fmt::format("{} of {}{}, {}", format_number(external->seen), format_number(external->budget),
                     external->metric == BudgetMetric::ulp ? " ulp" : "",
                     external->within ? "within" : "over");
}

// How many layers the third-party budgets cover, and which of those beyond them are rounding for us.
std::string external_lines(const Verification& verification) {
  if (verification.budgets.empty()) return "";
  std::size_t covered = 0;
  std::size_t over = 0;
  std::string text;
  for (const LayerVerdict& layer : verification.layers) {
    if (!layer.external) continue;
    ++covered;
    if (layer.external->within) continue;
    ++over;
    text += fmt::format("  {} ({}): {}; ours: {}\n", layer.node, layer.external->operators,
                        external_text(layer.external), verdict_text(layer.verdict));
  }
  return fmt::format("\n{}: budgets for {} of {} layers, {} over\n{}", verification.budgets, covered,
                     verification.layers.size(), over, text);
}

/// What is to be said of the layers of a table. A short reason stands in its row; others below the table,
/// where there is room for the whole sentence: those of several layers once.
class Reasons {
 public:
  /// What follows the verdict in the layer's row.
  std::string mark(const LayerVerdict& layer) {
    const std::string finding = finding_text(layer);
    if (finding.empty()) return "";
    if (!is_bad(layer.verdict) && display_width(finding) <= longest_in_row) return "  " + finding;
    auto same = std::ranges::find_if(
        entries_, [&](const Entry& one) { return one.verdict == layer.verdict && one.text == finding; });
    if (same == entries_.end()) same = entries_.insert(same, {layer.verdict, finding, {}});
    same->layers.push_back(fmt::format("{} ({})", layer.node, layer.op));
    return "";
  }

  [[nodiscard]] std::string text() const {
    auto worst_first = verdict_rows;
    std::ranges::sort(worst_first, std::ranges::greater(), &VerdictRow::severity);
    std::string text;
    for (const VerdictRow& row : worst_first)
      for (const Entry& one : entries_)
        if (one.verdict == row.verdict)
          text += fmt::format("{}  {}\n    {}\n", verdict_text(row.verdict), fmt::join(one.layers, ", "),
                              plain_text(one.text, whole_text));
    return text.empty() ? "" : "\n" + text;
  }

 private:
  static constexpr std::size_t longest_in_row = 40;
  struct Entry {
    Verdict verdict;
    std::string text;
    std::vector<std::string> layers;
  };
  std::vector<Entry> entries_;
};

std::string verified_layers(const Verification& verification, const std::vector<std::string>& names,
                            const std::vector<std::size_t>& rows) {
  TextTable table;
  Reasons below;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  table.column("output", Align::left);
  std::vector<Metric> metrics;
  for (const Metric metric : verified_metrics)
    if (!row_of(metric).optional || std::ranges::any_of(verification.layers, [&](const LayerVerdict& layer) {
          return !std::isnan(metric_value(row_of(metric), layer));
        }))
      metrics.push_back(metric);
  for (const Metric metric : metrics) table.column(std::string(row_of(metric).title), Align::right);
  if (!verification.budgets.empty()) table.column(verification.budgets, Align::right);
  table.column("verdict", Align::left);
  for (const std::size_t row : rows) {
    const LayerVerdict& layer = verification.layers[row];
    const std::string name = elide_start(names[row], layer_name_width);
    std::vector<std::string> cells = {name, elide(layer.op, 20), shape_text(layer.shape)};
    for (const Metric metric : metrics) {
      const bool absent = row_of(metric).optional && std::isnan(metric_value(row_of(metric), layer));
      if (!was_measured(layer) || absent) {
        cells.emplace_back("–");
        continue;
      }
      cells.push_back(metric_text(row_of(metric), metric_value(row_of(metric), layer)));
      if (row_of(metric).format == MetricFormat::count)
        cells.back() += fmt::format("/{}", layer.metrics.elements);
    }
    if (!verification.budgets.empty()) cells.push_back(external_text(layer.external));
    cells.push_back(verdict_text(layer.verdict) + nonfinite_mark(layer.metrics) +
                    (layer.constant ? ", constant" : "") + below.mark(layer));
    table.row(std::move(cells));
  }
  return table.text() + below.text();
}

std::vector<std::size_t> slowest_of(const Trace& trace, std::size_t limit) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (steady_time_ns(trace.nodes[i]) > 0) nodes.push_back(i);
  std::ranges::sort(nodes, [&](std::size_t a, std::size_t b) {
    const std::int64_t x = steady_time_ns(trace.nodes[a]);
    const std::int64_t y = steady_time_ns(trace.nodes[b]);
    return x == y ? a < b : x > y;
  });
  nodes.resize(std::min(nodes.size(), limit));
  return nodes;
}

/// Nodes of a run with the time of the first run and of those after it, and their tensors where the trace
/// has them.
std::string timed_nodes(const Trace& trace, const std::vector<std::size_t>& rows,
                        const WrittenValues& written) {
  const TensorsByName tensors(trace);
  const auto output_of = [&](std::size_t row) -> std::optional<WrittenValue> {
    const NodeRecord& node = trace.nodes[row];
    if (node.outputs.empty()) return std::nullopt;
    if (const Tensor* tensor = tensors.find(node.outputs[0]))
      return WrittenValue{tensor->shape(), static_cast<std::int64_t>(tensor->byte_size())};
    const auto found = written.find(node.outputs[0]);
    return found == written.end() ? std::nullopt : std::optional(found->second);
  };
  const bool known = std::ranges::any_of(rows, [&](std::size_t row) { return output_of(row).has_value(); });
  TextTable table;
  table.column("layer", Align::left);
  table.column("op", Align::left);
  if (known) table.column("output", Align::left);
  if (known) table.column("memory", Align::right);
  table.column("first run", Align::right);
  table.column("steady", Align::right);
  std::vector<std::string> names;
  for (const NodeRecord& node : trace.nodes) names.push_back(node.name);
  names = fitting_names(names, layer_name_width);
  for (const std::size_t row : rows) {
    const NodeRecord& node = trace.nodes[row];
    std::vector<std::string> cells = {elide_start(names[row], layer_name_width), elide(node.op, 20)};
    if (known) {
      const auto output = output_of(row);
      cells.push_back(output ? shape_text(output->shape) : "–");
      cells.push_back(output ? format_bytes(output->bytes) : "–");
    }
    cells.push_back(node.time_ns.empty() ? "–" : format_ns(node.time_ns.front()));
    cells.push_back(node.time_ns.size() < 2 ? "–" : format_ns(steady_time_ns(node)));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string slowest_nodes(const Trace& about, std::size_t limit) {
  const std::vector<std::size_t> rows = slowest_of(about, limit);
  return rows.empty() ? "" : fmt::format("\nThe slowest {}\n{}", rows.size(), timed_nodes(about, rows, {}));
}

}  // namespace

std::string verify_table(const Verification& verification, const Trace& about, const std::string& file,
                         const LayerChoice& choice) {
  const auto& layers = verification.layers;
  std::vector<std::string> names;
  for (const LayerVerdict& layer : layers) names.push_back(layer.node);
  names = fitting_names(names, layer_name_width);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (choice.all || !is_folded(layers[i])) shown.push_back(i);
  const std::size_t folded = layers.size() - shown.size();
  const std::size_t all = shown.size();
  std::string text = file;
  if (!verification.target.empty()) text += "  " + verification.target;
  text += "\n";
  const bool whole = choice.all || all <= 2 * choice.limit;
  if (!whole) {
    std::erase_if(shown, [&](std::size_t i) { return layers[i].verdict == Verdict::identical; });
    std::ranges::sort(shown, [&](std::size_t a, std::size_t b) {
      if (worse(layers[a], layers[b]) || worse(layers[b], layers[a])) return worse(layers[a], layers[b]);
      return a < b;
    });
    shown.resize(std::min(shown.size(), choice.limit));
    text += shown.empty() ? "No layer has an error of its own.\n"
                          : fmt::format("The worst {} of {} layers\n", shown.size(), all);
  }
  if (!shown.empty()) text += verified_layers(verification, names, shown);
  if (!whole) text += slowest_nodes(about, choice.limit);
  if (!whole || folded > 0) text += rest_line(all, folded);
  text += external_lines(verification);
  const std::array named = {NamedVerification{"", &verification}};
  if (const std::string sensitive = sensitivity_table(named); !sensitive.empty()) text += "\n" + sensitive;
  text += "\nverdict: " + verdict_text(verification.verdict);
  if (const auto unjudged = count_layers(verification, Verdict::unjudged); unjudged > 0)
    text += fmt::format(", {} of {} layers not judged", unjudged, verification.layers.size());
  if (verification.first_fault) text += ", first fault at " + *verification.first_fault;
  if (verification.answer) text += "\n" + plain_text(answer_move_text(*verification.answer), whole_text);
  if (!verification.nonfinite.empty()) text += "\n" + plain_text(nonfinite_text(verification), whole_text);
  if (const std::string over = overflow_text(verification); !over.empty())
    text += "\n" + plain_text(over, whole_text);
  if (verification.repeats) text += "\n" + plain_text(repeats_text(*verification.repeats), whole_text);
  return text + "\n";
}

std::string run_table(const Trace& trace, const LayerChoice& choice, const WrittenValues& written) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (choice.all || !trace.nodes[i].constant) shown.push_back(i);
  const std::size_t folded = trace.nodes.size() - shown.size();
  const std::size_t all = shown.size();
  std::string text;
  if (!choice.all && all > 2 * choice.limit) {
    shown = slowest_of(trace, choice.limit);
    text = fmt::format("The slowest {} of {} layers\n", shown.size(), all);
  }
  text += timed_nodes(trace, shown, written);
  return text + (shown.size() < all || folded > 0 ? rest_line(all, folded) : "");
}

std::string output_lines(const Tensor& output, const std::vector<std::string>& class_names,
                         std::size_t limit) {
  const auto classes = top_classes(output, class_names, limit);
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

std::string notes_text(std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) text += "note: " + plain_text(note, whole_text) + "\n";
  return text;
}

}  // namespace driftscope
