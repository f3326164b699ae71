#include <fmt/format.h>

#include <map>
#include <set>

#include "core/base/json.hpp"
#include "core/report/text_table.hpp"
#include "generated/documents/conformance.hpp"
#include "native/cli/conformance_run.hpp"

namespace driftscope {
namespace {

struct Counts {
  int passed = 0;
  int failed = 0;
  int unsupported = 0;
  int compared = 0;  // bits
  int same = 0;

  void add(const CaseResult& result) {
    passed += result.outcome == Outcome::passed ? 1 : 0;
    failed += result.outcome == Outcome::failed ? 1 : 0;
    unsupported += result.outcome == Outcome::unsupported ? 1 : 0;
    compared += result.same_bits ? 1 : 0;
    same += result.same_bits.value_or(false) ? 1 : 0;
  }
};

std::map<std::string, Counts> count(const TargetResults& results, const std::vector<ConformanceCase>& cases) {
  std::map<std::string, Counts> counts;
  for (std::size_t i = 0; i < results.cases.size(); ++i) counts[cases[i].family].add(results.cases[i]);
  return counts;
}

documents::ConformanceCase case_of(const ConformanceCase& asked, const CaseResult& result) {
  documents::ConformanceCase one;
  one.family = asked.family;
  one.name = asked.name;
  one.result = outcome_name(result.outcome);
  std::set<std::string> operators;
  for (const Node& node : asked.model.graph.nodes) operators.insert(node.op_type);
  one.operators = {operators.begin(), operators.end()};
  one.reason = result.reason;
  one.same_bits = result.same_bits;
  one.lost_before = result.lost_before;
  return one;
}

documents::ConformanceTarget target_of(const TargetResults& results,
                                       const std::vector<ConformanceCase>& cases) {
  documents::ConformanceTarget target;
  target.target = results.target.text();
  if (results.error) {
    target.error = documents::TargetError{results.error->kind, results.error->message};
    return target;
  }
  Counts total;
  std::vector<documents::ConformanceCase>& list = target.cases.emplace();
  for (std::size_t i = 0; i < results.cases.size(); ++i) {
    total.add(results.cases[i]);
    list.push_back(case_of(cases[i], results.cases[i]));
  }
  target.passed = total.passed;
  target.failed = total.failed;
  target.not_supported = total.unsupported;
  if (total.compared > 0) target.same_bits = documents::SameBits{total.compared, total.same};
  return target;
}

}  // namespace

std::string conformance_table(const std::vector<TargetResults>& all,
                              const std::vector<ConformanceCase>& cases) {
  TextTable rows;
  rows.column("target", Align::left);
  rows.column("family", Align::left);
  for (const char* title : {"passed", "failed", "not supported", "same bits"})
    rows.column(title, Align::right);
  for (const TargetResults& results : all) {
    if (results.error) {
      rows.row({results.target.text(), "did not run", "", "", "", ""});
      continue;
    }
    for (const auto& [family, c] : count(results, cases))
      rows.row({results.target.text(), family, std::to_string(c.passed), std::to_string(c.failed),
                std::to_string(c.unsupported),
                c.compared > 0 ? fmt::format("{} of {}", c.same, c.compared) : "–"});
  }
  return rows.text();
}

std::string conformance_findings(const std::vector<TargetResults>& all,
                                 const std::vector<ConformanceCase>& cases) {
  std::string text;
  std::map<std::string, std::set<std::string>> unsupported;
  for (const TargetResults& results : all)
    for (std::size_t i = 0; i < results.cases.size(); ++i) {
      const CaseResult& result = results.cases[i];
      if (result.outcome == Outcome::unsupported) unsupported[result.reason].insert(cases[i].name);
      if (result.outcome == Outcome::failed)
        text += fmt::format("fault  {}  {}/{}: {}\n", results.target.text(), cases[i].family, cases[i].name,
                            result.reason);
      if (!result.lost_before.empty())
        text += fmt::format("note   {}  {}/{}: {}. It succeeded when run again\n", results.target.text(),
                            cases[i].family, cases[i].name, result.lost_before);
      if (result.same_bits && !*result.same_bits)
        text += fmt::format("fault  {}  {}/{}: bits differ from the same engine elsewhere\n",
                            results.target.text(), cases[i].family, cases[i].name);
    }
  for (const auto& [reason, names] : unsupported)
    text += fmt::format("not supported: {} ({}{})\n", reason, *names.begin(),
                        names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
  return text;
}

std::string conformance_json(const std::vector<TargetResults>& all,
                             const std::vector<ConformanceCase>& cases) {
  documents::Conformance document;
  for (const TargetResults& results : all) document.targets.push_back(target_of(results, cases));
  return json_text(encode(document));
}

}  // namespace driftscope
