#include "core/hunt/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/sort_stably.hpp"

namespace driftscope::hunt {
namespace {

/// The nodes that were judged together, in the order of the graph.
std::vector<const Node*> nodes_of(const Graph& graph, const LayerVerdict& layer) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes)
    if (node.name == layer.node || std::ranges::find(layer.group, node.name) != layer.group.end())
      nodes.push_back(&node);
  return nodes;
}

/// "Conv+Relu", each operator once.
std::string operators_of(const std::vector<const Node*>& nodes, const LayerVerdict& layer) {
  std::string text;
  std::set<std::string> seen;
  for (const Node* node : nodes)
    if (seen.insert(node->op_type).second) text += (text.empty() ? "" : "+") + node->op_type;
  return text.empty() ? layer.op : text;
}

/// "(mode=cubic, padding_mode=border)": the attributes that choose an algorithm; empty without any.
std::string choices_of(const Node& node) {
  std::set<std::string> choices;
  for (const Attribute& attribute : node.attributes)
    if (const auto* text = std::get_if<std::string>(&attribute.value))
      choices.insert(attribute.name + "=" + *text);
  return choices.empty() ? "" : fmt::format("({})", fmt::join(choices, ", "));
}

bool has_finding(const LayerVerdict& layer, std::string_view id) {
  return std::ranges::find(layer.findings, id, &Finding::id) != layer.findings.end();
}

/// Correct float32 may overflow there, by the order of its sums or squares.
bool overflows(const LayerVerdict& layer) { return has_finding(layer, "range.overflow"); }

/// How the worst element is wrong.
std::string_view nature_of(const LayerVerdict& layer) {
  if (!layer.worst) return "";
  const auto [got, want] = std::pair(layer.worst->got, layer.worst->want);
  if (std::isnan(got) != std::isnan(want)) return std::isnan(got) ? ", NaN" : ", NaN lost";
  return std::isinf(got) != std::isinf(want) ? ", infinity" : "";
}

/// Patterns in detail depend on the sizes of a case more than on what is wrong.
std::string_view extent_of(const LayerExplanation& why) {
  constexpr std::int64_t few = 10;  // at most one in so many is right
  return why.elements - why.wrong <= why.elements / few ? "throughout" : "in places";
}

std::string key_of(const std::vector<const Node*>& nodes, const LayerVerdict& layer, const std::string& op) {
  if (overflows(layer)) return op + ": overflow";
  if (layer.explanation && layer.explanation->cause)
    return fmt::format("{}: {}", op, layer.explanation->cause->id);
  if (has_finding(layer, "values.type")) return op + ": type or shape";
  const std::string choices = nodes.size() == 1 ? choices_of(*nodes.front()) : "";
  return fmt::format("{}{}: {}{}", op, choices, layer.explanation ? extent_of(*layer.explanation) : "wrong",
                     nature_of(layer));
}

Result<documents::HuntCase> read_cell(const CampaignCell& cell, const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  documents::HuntCase result;
  const std::string place = fmt::format("the result of {} on {}", cell.item, cell.target);
  DRIFTSCOPE_CHECK(read_json(json, JsonPath(place), result));
  return result;
}

class Summary {
 public:
  explicit Summary(documents::Hunt& hunt) : hunt_(hunt) {}

  void add(documents::HuntTarget& target, const std::string& item, const documents::HuntCase& cell) {
    count(target, cell.outcome);
    const bool failed = cell.outcome == "failed";
    if (failed || cell.outcome == "refused") add_refusal(target.target, cell, failed);
    std::set<std::string> seen;  // a case counts once for a finding
    for (const documents::HuntFound& found : cell.found) {
      if (!seen.insert(found.key).second) continue;
      const auto [place, fresh] = findings_.try_emplace({target.target, found.key}, hunt_.findings.size());
      if (fresh)
        hunt_.findings.push_back({.target = target.target,
                                  .found = found,
                                  .first = fmt::format("{}/{}", hunt_.seed, item),
                                  .of = cell.of,
                                  .times = 0});
      documents::HuntFinding& finding = hunt_.findings[place->second];
      ++finding.times;
      if (!finding.found.folder && found.folder) finding.found = found;
    }
  }

 private:
  static void count(documents::HuntTarget& target, const std::string& outcome) {
    if (outcome == "right") ++target.right;
    if (outcome == "wrong") ++target.wrong;
    if (outcome == "refused") ++target.refused;
    if (outcome == "failed") ++target.failed;
    if (outcome == "lost") ++target.lost;
  }

  void add_refusal(const std::string& target, const documents::HuntCase& cell, bool failed) {
    const auto [place, fresh] =
        refusals_.try_emplace({target, without_particulars(cell.reason)}, hunt_.refusals.size());
    if (fresh)
      hunt_.refusals.push_back(
          {.target = target, .reason = cell.reason, .failed = failed, .of = cell.of, .times = 0});
    ++hunt_.refusals[place->second].times;
  }

  documents::Hunt& hunt_;
  std::map<std::pair<std::string, std::string>, std::size_t> findings_, refusals_;
};

}  // namespace

std::string without_particulars(std::string_view text) {
  std::string result;
  char quote = 0;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    const bool opens =
        (c == '\'' || c == '"') && (result.empty() || result.back() == ' ' || result.back() == '(');
    if (opens) quote = c;
    if (!digit && !opens) {
      result += c;
      continue;
    }
    if (result.empty() || result.back() != '#') result += '#';
  }
  return result;
}

std::vector<documents::HuntFound> found_in(const Graph& graph, const Verification& verification,
                                           const std::vector<std::string>& device_errors) {
  std::vector<documents::HuntFound> all;
  for (const LayerVerdict& layer : verification.layers) {
    if (!is_bad(layer.verdict)) continue;
    const std::vector<const Node*> nodes = nodes_of(graph, layer);
    const std::string op = operators_of(nodes, layer);
    documents::HuntFound found;
    found.kind = overflows(layer) ? "overflow" : std::string(verdict_name(layer.verdict));
    found.key = key_of(nodes, layer, op);
    found.node = layer.node;
    found.op = op;
    if (layer.explanation && layer.explanation->cause) found.cause = layer.explanation->cause->id;
    found.text =
        layer.explanation && !overflows(layer) ? explanation_text(*layer.explanation) : reason_of(layer);
    if (!device_errors.empty()) {
      found.key = without_particulars(device_errors.front());
      found.text = fmt::format("{}; {}", device_errors.front(), found.text);
    }
    all.push_back(std::move(found));
    if (!device_errors.empty()) break;
  }
  return all;
}

bool is_group(const documents::HuntFound& found) {
  return !found.node.empty() && found.op.find('+') != std::string::npos;
}

std::vector<documents::HuntFound> narrowed(std::vector<documents::HuntFound> found,
                                           const std::vector<documents::HuntFound>& watched) {
  std::erase_if(found, [&](const documents::HuntFound& group) {
    if (!is_group(group)) return false;
    const std::string operators = "+" + group.op + "+";
    return std::ranges::any_of(watched, [&](const documents::HuntFound& one) {
      return operators.find("+" + one.op + "+") != std::string::npos;
    });
  });
  for (documents::HuntFound& group : found)
    if (is_group(group)) group.text += "; right when every value is watched";
  for (const documents::HuntFound& one : watched) {
    const bool known =
        std::ranges::any_of(found, [&](const documents::HuntFound& other) { return other.node == one.node; });
    if (!known) found.push_back(one);
  }
  return found;
}

std::string case_name(std::int64_t number) { return fmt::format("{:08}", number); }

Status summarize(const CampaignResults& results, const HuntTargets& targets, documents::Hunt& hunt) {
  hunt.findings.clear();
  hunt.refusals.clear();
  Summary summary(hunt);
  hunt.targets.resize(targets.names.size());
  for (std::size_t t = 0; t < targets.names.size(); ++t) {
    documents::HuntTarget& target = hunt.targets[t];
    target = {.target = targets.names[t], .error = target.error};
    const auto begin = results.lower_bound({targets.in_store[t], ""});
    for (auto cell = begin; cell != results.end() && cell->first.target == targets.in_store[t]; ++cell) {
      DRIFTSCOPE_TRY(const documents::HuntCase read, read_cell(cell->first, cell->second));
      summary.add(target, cell->first.item, read);
    }
  }
  sort_stably(hunt.refusals, [](const documents::HuntRefusal& one) { return -one.times; });
  return {};
}

std::string finding_line(const std::string& target, const documents::HuntFound& found,
                         const std::string& of) {
  return fmt::format("{}  {}  {}  {}  ({}){}\n", found.kind, target, found.op, found.text, of,
                     found.folder ? fmt::format("\n    findings/{}", *found.folder) : "");
}

std::string hunt_text(const documents::Hunt& hunt) {
  std::string text;
  for (const documents::HuntTarget& target : hunt.targets) {
    const std::int64_t all = target.right + target.wrong + target.refused + target.failed + target.lost;
    text +=
        fmt::format("{:<24} {:>7} cases: {} right, {} wrong, {} refused, {} failed, {} lost the browser\n",
                    target.target, format_count(all), format_count(target.right), target.wrong,
                    target.refused, target.failed, target.lost);
    if (target.error) text += fmt::format("    ended: {}\n", *target.error);
  }
  constexpr std::size_t shown = 12;
  std::size_t listed = 0;
  for (const documents::HuntRefusal& refusal : hunt.refusals) {
    if (!refusal.failed || listed++ == shown) continue;
    text += fmt::format("failed {} times on {}: {} ({})\n", refusal.times, refusal.target, refusal.reason,
                        refusal.of);
  }
  std::string overflow, lines;
  std::int64_t findings = 0;
  for (const documents::HuntFinding& finding : hunt.findings) {
    if (finding.found.kind == "overflow") {
      overflow += fmt::format("{}{} on {} ({} ×)", overflow.empty() ? "" : ", ", finding.found.op,
                              finding.target, finding.times);
      continue;
    }
    ++findings;
    lines +=
        fmt::format("{:>5} ×  {}", finding.times, finding_line(finding.target, finding.found, finding.of));
  }
  if (!overflow.empty())
    text +=
        fmt::format("Results on the way overflow, which the order of sums decides; not kept: {}\n", overflow);
  if (findings == 0) return text + "Nothing was found.\n";
  return text + fmt::format("\n{} finding{}, in how many cases each:\n", findings, findings == 1 ? "" : "s") +
         lines;
}

}  // namespace driftscope::hunt
