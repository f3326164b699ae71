#include "core/hunt/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/sort_stably.hpp"

namespace driftscope::hunt {
namespace {

/// "Conv+Relu" of nodes that were judged together, each operator once.
std::string operators_of(const Graph& graph, const LayerVerdict& layer) {
  std::string text;
  std::set<std::string> seen;
  for (const Node& node : graph.nodes) {
    const bool part =
        node.name == layer.node || std::ranges::find(layer.group, node.name) != layer.group.end();
    if (!part || !seen.insert(node.op_type).second) continue;
    text += (text.empty() ? "" : "+") + node.op_type;
  }
  return text.empty() ? layer.op : text;
}

/// Correct float32 may overflow there, by the order of its sums or squares.
bool overflows(const LayerVerdict& layer) {
  return std::ranges::any_of(layer.findings, [](const Finding& one) { return one.id == "range.overflow"; });
}

std::string key_of(const LayerVerdict& layer, const std::string& op) {
  if (overflows(layer)) return op + ": overflow";
  if (!layer.explanation) return op;
  const LayerExplanation& why = *layer.explanation;
  if (why.cause) return fmt::format("{}: {}", op, why.cause->id);
  if (why.pattern) return fmt::format("{}: {}", op, without_particulars(why.pattern->text));
  return op + ": no pattern";
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
    const std::string op = operators_of(graph, layer);
    documents::HuntFound found;
    found.kind = overflows(layer) ? "overflow" : std::string(verdict_name(layer.verdict));
    found.key = key_of(layer, op);
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
