// Explains layers whose elements are right, in another shape than theirs; the verdict stays.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/eval/evaluate.hpp"
#include "core/verify/coincidence.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/variant.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::judges::other_shape {
namespace {

/// Nothing where an element is wrong in this order.
std::optional<VariantMatch> match_of(const LayerCase& layer) {
  const Tensor& got = layer.got;
  const Evaluated<Bounded>& reference = layer.derived.reference;
  if (!is_floating(got.dtype())) {  // a wrong integer is one of at least two
    const bool equal = is_known(reference) && std::ranges::equal(reference.tensor.bytes(), got.bytes());
    if (!equal) return std::nullopt;
    return VariantMatch{
        .use = {}, .parameters = {}, .chance = std::pow(0.5, static_cast<double>(got.elements()))};
  }
  const std::vector<Bounded> exact =
      is_known(reference) ? lift_values<Bounded>(reference.tensor) : std::vector<Bounded>();
  const std::span<const Bounded> right = is_known(reference) ? exact : reference.real;
  const TensorVerification verified = verify_tensor(right, got, layer.model(), layer.threads);
  const BudgetUse& use = verified.verified.use;
  if (verified.verified.specials > 0 || !(use.worst <= 1.0)) return std::nullopt;
  const double chance = coincidence(right, right, layer.model(), 1.0, [](std::size_t) { return true; });
  return VariantMatch{.use = use, .parameters = {}, .chance = chance};
}

/// The simplest cause that gives this shape; null if there is none.
const Variant* cause_of(const LayerCase& layer) {
  const Variant* found = nullptr;
  for (const Variant& variant : variant_table().all())
    if (variant.takes_shape != nullptr && concerns(variant, layer) &&
        variant.takes_shape(layer.node(), layer.got.shape(), layer.derived.reference.shape) &&
        (found == nullptr || variant.order < found->order))
      found = &variant;
  return found;
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const Tensor& got = layer.got;
  const Evaluated<Bounded>& reference = layer.derived.reference;
  if (verdict.verdict != Verdict::fault || !layer.derived.reason.empty() || got.dtype() != reference.dtype ||
      got.shape() == reference.shape || got.elements() != element_count(reference.shape))
    return;
  const Variant* const variant = cause_of(layer);
  const auto match = variant == nullptr ? std::nullopt : match_of(layer);
  if (!match || *match->chance > most_chance) return;
  verdict.findings.push_back(finding_of(*variant, *match, verdict.budget_used));
  LayerExplanation explanation;
  explanation.node = verdict.node;
  explanation.op = verdict.op;
  explanation.output = verdict.output;
  explanation.verdict = verdict.verdict;
  explanation.elements = explanation.wrong = got.elements();
  explanation.tried = 1;
  explanation.cause = Cause{.id = fmt::format("{}.{}", variant->family, variant->id),
                            .text = std::string(variant->name),
                            .budget_before = verdict.budget_used,
                            .budget_after = match->use.worst,
                            .elements = got.elements(),
                            .explained = got.elements(),
                            .chance = *match->chance};
  verdict.explanation = std::move(explanation);
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"other_shape", 61, judge}); }

}  // namespace driftscope::judges::other_shape
