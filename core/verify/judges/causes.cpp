// The cause of a fault: a faulty variant of the operator that computes exactly what was recorded, within its
// own budget at every element. The verdict stays.
#include "core/verify/variant.hpp"

namespace driftscope::judges::causes {
namespace {

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  if (concern_of(verdict.verdict) != Concern::certain) return;
  for (const Variant& variant : variant_table().all()) {
    if (variant.kind != VariantKind::faulty) continue;
    const auto match = explains(variant, layer);
    if (!match) continue;
    verdict.findings.push_back(finding_of(variant, *match, verdict.budget_used));
    return;
  }
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"causes", 60, judge}); }

}  // namespace driftscope::judges::causes
