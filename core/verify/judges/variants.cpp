// Correct algorithms with larger errors than the operator's budget allows. The chance of excusing a real
// fault is kept small in three ways:
// - nothing is tried unless the layer exceeds its budget, and a result explained by a known algorithm
//   is reported with the algorithm's name;
// - an algorithm that only changes the accuracy of functions, ÷ or √, or another reading of the
//   specification, has its own bounds, which every element must meet;
// - one with other errors (Winograd, Fourier) is run in float32 on the layer's own inputs, and the
//   layer's errors must be as small as its errors, channel by channel, in their mean square and at their
//   largest: a fault in one channel, one border or one element stands out from them.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>

#include "core/verify/variant.hpp"

namespace driftscope::judges::variants {
namespace {

bool is_tried(const Variant& variant, const RunFacts& run) {
  if (variant.kind != VariantKind::correct) return false;
  const bool is_named = std::ranges::find(run.algorithms, variant.id) != run.algorithms.end();
  if (!run.algorithms.empty() && !is_named) return false;
  return !variant.flushes_results || run.may_flush_results || is_named;
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const auto found = [&](std::string_view id) {
    return std::ranges::find(verdict.findings, id, &Finding::id) != verdict.findings.end();
  };
  const bool open = verdict.verdict == Verdict::unjudged && found("budget.inconclusive");
  if (!is_bad(verdict.verdict) && !open) return;
  // Infinitely far beyond is also a number where the bound is 0: behind a Relu, of what is surely negative.
  const bool numbers =
      std::isfinite(verdict.budget_used) ||
      (verdict.worst && std::isfinite(verdict.worst->got) && std::isfinite(verdict.worst->want));
  const bool beyond = verdict.budget_used_statistical > 1.0 && numbers;
  // The bounds of a group are wider than what runs of it say: they excuse nothing beyond these.
  if (found("budget.runs_beyond")) return;
  // No algorithm rounds its inputs.
  if (found("precision.rounded_inputs") || (!found("precision.large_errors") && !beyond && !open)) return;
  for (const Variant& variant : variant_table().all()) {
    if (!is_tried(variant, layer.run) || (open && !(variant.fuses && layer.in_group()))) continue;
    const auto match = explains(variant, layer);
    if (!match) continue;
    verdict.findings = {finding_of(variant, *match, beyond ? verdict.budget_used : 0.0)};
    verdict.verdict = Verdict::rounding;
    verdict.budget_used = match->use.worst;
    verdict.budget_used_statistical = match->use.likely;
    return;
  }
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"variants", 30, judge}); }

}  // namespace driftscope::judges::variants
