#include "core/report/bisect_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/json_number.hpp"
#include "core/report/text_table.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

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
  return text + "\n";
}

Json metrics_to_json(const Metrics& metrics) {
  return {{"different_elements", metrics.different_elements},
          {"elements", metrics.elements},
          {"max_abs", json_number(metrics.max_abs)},
          {"max_ulp", json_number(metrics.max_ulp)}};
}

Json nodes_to_json(const std::vector<NamedNode>& nodes) {
  Json list = Json::array();
  for (const NamedNode& node : nodes) list.push_back({{"name", node.name}, {"op", node.op}});
  return list;
}

Json level_to_json(const LevelResult& level) {
  Json object = {{"level", level.level}, {"target", level.target}};
  if (level.error) object["error"] = level.error->message;
  if (!level.compared) return object;
  object["differs"] = level.differs;
  object.update(metrics_to_json(level.outputs));
  object["verdict"] = verdict_name(level.verdict);
  object["first_fault"] = level.first_fault ? Json(*level.first_fault) : Json(nullptr);
  object["values"] = level.values;
  if (level.nodes > 0) object["nodes"] = level.nodes;
  return object;
}

Json step_to_json(const LevelStep& step) {
  Json first = nullptr;
  if (!step.value.empty()) {
    first = {{"value", step.value}, {"node", step.node}, {"op", step.op}};
    first.update(metrics_to_json(step.metrics));
    first["verdict_from"] = verdict_name(step.verdict_from);
    first["verdict_to"] = verdict_name(step.verdict_to);
  }
  Json replaced = Json::array();
  for (const Replacement& one : step.replaced)
    replaced.push_back(
        {{"nodes", nodes_to_json(one.nodes)}, {"by", nodes_to_json(one.by)}, {"outputs", one.outputs}});
  return {{"from", step.from},
          {"to", step.to},
          {"first", std::move(first)},
          {"culprit", step.culprit ? Json(*step.culprit) : Json(nullptr)},
          {"replaced", std::move(replaced)},
          {"vanished", step.vanished}};
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
  for (const LevelResult& level : bisect.levels) {
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
    table.row({level.level, outputs, verdict, std::to_string(level.values),
               level.nodes > 0 ? std::to_string(level.nodes) : "–"});
  }
  std::string text = table.text() + (failed.empty() ? "" : "\n" + failed) + conclusion(bisect);
  for (const LevelStep& step : bisect.steps) text += step_text(step, bisect);
  return text;
}

std::string bisect_json(const LevelBisect& bisect, const std::string& model_sha256) {
  const auto level_name = [&](const std::optional<std::size_t>& place) {
    return place ? Json(bisect.levels[*place].level) : Json(nullptr);
  };
  Json levels = Json::array();
  for (const LevelResult& level : bisect.levels) levels.push_back(level_to_json(level));
  Json steps = Json::array();
  for (const LevelStep& step : bisect.steps) steps.push_back(step_to_json(step));
  Json json = {{"format", "driftscope-bisect-1"},
               {"over", bisect.option},
               {"model_sha256", model_sha256},
               {"levels", std::move(levels)},
               {"differs_at", level_name(bisect.differs_at)},
               {"verdict_worse_at", level_name(bisect.worse_at)},
               {"steps", std::move(steps)}};
  if (!bisect.why_no_nodes.empty()) json["no_nodes_because"] = bisect.why_no_nodes;
  return json_text(json);
}

}  // namespace driftscope
