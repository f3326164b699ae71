// Explains layers that are suspect or a fault (causes.hpp); the verdict stays.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/verify/causes.hpp"

namespace driftscope::judges::causes {
namespace {

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  if (!is_bad(verdict.verdict) || !was_measured(verdict)) return;
  // Judges of sums say that numbers were less accurate, not which: a variant may tell that of all elements.
  const auto is_precision = [](const Finding& finding) { return finding.family() == "precision"; };
  const bool precision = std::ranges::any_of(verdict.findings, is_precision);
  auto found = search_cause(layer, verdict, precision);
  if (!found) return;
  if (found->variant != nullptr && !precision)
    verdict.findings.push_back(finding_of(*found->variant, found->match, verdict.budget_used));
  verdict.explanation = std::move(found->explanation);
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"causes", 60, judge}); }

}  // namespace driftscope::judges::causes
