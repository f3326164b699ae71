#include "core/report/bisect_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/report/text_table.hpp"
#include "core/results/comparison_view.hpp"
#include "generated/documents/bisect.hpp"

namespace driftscope {
namespace {

constexpr std::size_t max_replaced = 12;
constexpr std::size_t max_names = 8;

std::string node_list(const std::vector<NamedNode>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < max_names; ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", plain_text(nodes[i].name, 60),
                        plain_text(nodes[i].op, 60));
  if (nodes.size() > max_names) text += fmt::format(" and {} more", nodes.size() - max_names);
  return text;
}

std::string replacement_text(const Replacement& one) {
  if (one.by.empty())
    return node_list(one.nodes) + (one.outputs.empty() ? ": no longer needed" : ": folded into a constant");
  if (one.nodes.empty()) return "new: " + node_list(one.by);
  return node_list(one.nodes) + " → " + node_list(one.by);
}

std::string difference_text(const Metrics& metrics) {
  return fmt::format("{} of {} elements, by up to {} ({} ULP)", metrics.different_elements, metrics.elements,
                     format_number(metrics.max_abs), format_ulp(metrics.max_ulp));
}

std::string step_text(const LevelStep& step, const LevelBisect& bisect) {
  std::string text = fmt::format("\nFrom {0}={1} to {0}={2}\n", bisect.option, step.from, step.to);
  if (step.value.empty()) {
    text += "  no value that both recorded differs\n";
  } else {
    text += fmt::format("  first value that differs: {} of {} ({}): {}\n", plain_text(step.value, 60),
                        plain_text(step.node, 60), step.op, difference_text(step.metrics));
    if (step.verdict_from != Verdict::missing && step.verdict_to != Verdict::missing)
      text += fmt::format("  that layer: {} at {}, {} at {}\n", verdict_text(step.verdict_from), step.from,
                          verdict_text(step.verdict_to), step.to);
  }
  if (step.culprit) text += "  rewritten there: " + replacement_text(step.replaced[*step.culprit]) + "\n";
  if (!bisect.why_no_nodes.empty()) {
    text += "  the rewritten nodes are not known: " + bisect.why_no_nodes + "\n";
    return text;
  }
  if (step.replaced.empty()) text += "  no node was rewritten\n";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < step.replaced.size(); ++i) {
    if (step.culprit == i) continue;
    if (++shown > max_replaced) continue;
    text += (shown == 1 ? "  rewritten as well:\n    " : "    ") + replacement_text(step.replaced[i]) + "\n";
  }
  if (shown > max_replaced) text += fmt::format("    and {} more (--json)\n", shown - max_replaced);
  return text;
}

std::string conclusion(const LevelBisect& bisect) {
  const LevelResult& first =
      *std::ranges::find_if(bisect.levels, [](const LevelResult& level) { return level.compared; });
  if (!bisect.differs_at && !bisect.worse_at)
    return fmt::format("\nno {} changes a bit of the outputs, from {} on\n{}", bisect.option, first.level,
                       bisect.why_no_nodes.empty() ? "" : "(" + bisect.why_no_nodes + ")\n");
  std::string text = "\n";
  if (bisect.differs_at)
    text += fmt::format("the outputs first differ from those of {0}={1} at {0}={2}", bisect.option,
                        first.level, bisect.levels[*bisect.differs_at].level);
  if (bisect.worse_at)
    text += fmt::format("{}the verdict first gets worse at {}={}: {}", bisect.differs_at ? "; " : "",
                        bisect.option, bisect.levels[*bisect.worse_at].level,
                        verdict_text(bisect.levels[*bisect.worse_at].verdict));
  else
    text += "; no verdict is worse";
  std::string better;
  for (const LevelResult& level : bisect.levels)
    if (level.compared && severity(level.verdict) < severity(first.verdict))
      better +=
          fmt::format("{}{} ({})", better.empty() ? "" : ", ", level.level, verdict_text(level.verdict));
  if (!better.empty()) text += "; better than with the first: " + better;
  return text + "\n";
}

std::string transitions_text(const LevelBisect& bisect) {
  std::string text = "\n";
  for (const LevelChange& one : bisect.transitions)
    text += fmt::format("between {0} {1} and {2} it changes: {3} with {1}, {4} with {2}\n", bisect.option,
                        one.from, one.to, plain_text(one.from_outcome, 80), plain_text(one.to_outcome, 80));
  for (const LevelWithout& one : bisect.without)
    text += fmt::format("with {}: {}\n", one.level, plain_text(one.outcome, 80));
  if (bisect.transitions.empty())
    text +=
        "the first and the last level are the same, and so is every one between them that ran; --every runs "
        "all "
        "of them\n";
  if (bisect.flaky) text += "runs of one level had different outcomes: the worst counts\n";
  return text;
}

documents::BisectLevel level_of(const LevelResult& level) {
  documents::BisectLevel one;
  one.level = level.level;
  one.target = level.target;
  if (level.runs > 0) {
    one.runs = level.runs;
    one.runs_like_it = level.runs_like_it;
  }
  if (level.error) one.error = level.error->message;
  if (!level.compared) return one;
  one.differs = level.differs;
  one.different_elements = level.outputs.different_elements;
  one.elements = level.outputs.elements;
  one.max_abs = level.outputs.max_abs;
  one.max_ulp = level.outputs.max_ulp;
  one.verdict = level.verdict;
  one.first_fault = level.first_fault;
  one.values = static_cast<std::int64_t>(level.values);
  if (level.nodes > 0) one.nodes = static_cast<std::int64_t>(level.nodes);
  return one;
}

documents::BisectStep step_of(const LevelStep& step) {
  documents::BisectStep one;
  one.from = step.from;
  one.to = step.to;
  if (!step.value.empty())
    one.first = documents::BisectFirst{step.value,
                                       step.node,
                                       step.op,
                                       step.metrics.different_elements,
                                       step.metrics.elements,
                                       step.metrics.max_abs,
                                       step.metrics.max_ulp,
                                       step.verdict_from,
                                       step.verdict_to};
  if (step.culprit) one.culprit = static_cast<std::int64_t>(*step.culprit);
  one.replaced = step.replaced;
  one.vanished = step.vanished;
  return one;
}

}  // namespace

std::string bisect_text(const LevelBisect& bisect) {
  TextTable table;
  table.column(bisect.option, Align::left);
  table.column("outputs", Align::left);
  table.column("verdict", Align::left);
  table.column("values", Align::right);
  table.column("nodes", Align::right);
  bool first = true;
  std::string failed;
  std::size_t not_run = 0;
  for (const LevelResult& level : bisect.levels) {
    if (!level.compared && !level.error && bisect.ordered) {
      ++not_run;
      continue;
    }
    if (!level.compared) {
      table.row({level.level, level.error ? "failed" : "not run", "–", "–", "–"});
      if (level.error)
        failed += fmt::format("{}: {}\n", level.level, plain_text(level.error->message, whole_text));
      continue;
    }
    std::string outputs = level.differs ? difference_text(level.outputs) : "the same bits";
    if (level.differs && level.outputs.different_elements == 0) outputs = "another shape or dtype";
    if (std::exchange(first, false)) outputs = "compared with";
    std::string verdict = verdict_text(level.verdict);
    if (level.first_fault) verdict += " at " + plain_text(*level.first_fault, 40);
    if (level.runs_like_it < level.runs)
      verdict += fmt::format(" in {} of {} runs", level.runs_like_it, level.runs);
    table.row({level.level, outputs, verdict, std::to_string(level.values),
               level.nodes > 0 ? std::to_string(level.nodes) : "–"});
  }
  std::string text = table.text();
  if (not_run > 0)
    text += fmt::format("{} further level{} did not need to run\n", not_run, not_run == 1 ? "" : "s");
  if (!failed.empty()) text += "\n" + failed;
  text += bisect.ordered ? transitions_text(bisect) : conclusion(bisect);
  for (const LevelStep& step : bisect.steps) text += step_text(step, bisect);
  return text;
}

std::string bisect_json(const LevelBisect& bisect, const std::string& model_sha256) {
  documents::Bisect document;
  document.over = bisect.option;
  document.model_sha256 = model_sha256;
  for (const LevelResult& level : bisect.levels) document.levels.push_back(level_of(level));
  if (bisect.differs_at) document.differs_at = bisect.levels[*bisect.differs_at].level;
  if (bisect.worse_at) document.verdict_worse_at = bisect.levels[*bisect.worse_at].level;
  for (const LevelStep& step : bisect.steps) document.steps.push_back(step_of(step));
  if (bisect.ordered) document.searched_by = bisect.by_bits ? "bits" : "verdict";
  document.flaky = bisect.flaky;
  document.transitions = bisect.transitions;
  document.without = bisect.without;
  document.no_nodes_because = bisect.why_no_nodes;
  return json_text(encode(document));
}

}  // namespace driftscope
