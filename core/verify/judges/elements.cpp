// The first judge: every element of a recorded output against its reference, and whether the budget can tell
// right from wrong; of float32 also whether the errors are biased.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/tensor_elements.hpp"
#include "core/verify/bias.hpp"
#include "core/verify/group_estimate.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/tensor_values.hpp"
#include "core/verify/unbounded.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::judges::elements {
namespace {

// Large 64-bit integers may map to the same double.
bool same_integer(const Tensor& a, const Tensor& b, std::int64_t element) {
  const std::int64_t bits = bits_per_element(a.dtype());
  if (bits < 8) return true;
  const auto bytes = static_cast<std::size_t>(bits / 8);
  const auto at = static_cast<std::size_t>(element) * bytes;
  return std::ranges::equal(a.bytes().subspan(at, bytes), b.bytes().subspan(at, bytes));
}

double share_of(double distance, double allowed) {
  return allowed > 0.0 ? distance / allowed : std::numeric_limits<double>::infinity();
}

GroupWitness group_witness(const LayerCase& layer) {
  const Derived& derived = layer.derived;
  return {[&layer](std::uint64_t seed) {
            return layer.derivation.plain_float(layer.value(), layer.threads, seed);
          },
          derived.continuous,
          derived.suggestion == no_value ? "" : layer.graph.values[derived.suggestion].name,
          why_unbounded(layer)};
}

BiasWitness bias_witness(const LayerCase& layer) {
  return {[&layer] { return layer.derivation.plain_float(layer.value(), layer.threads); },
          [&layer] { return layer.derivation.repetition(layer.id, layer.derived); }};
}

// For an integer tensor within its budgets: whether these can distinguish right from wrong.
void look_at_budgets(LayerVerdict& verdict, const LayerCase& layer) {
  const Evaluated<Bounded>& reference = layer.derived.reference;
  const Blindness blind = blindness_of_integers(reference.real, reference.tensor,
                                                {.ulp = 0.0, .group = layer.in_group()}, layer.threads);
  if (blind == Blindness::none) return;
  verdict.verdict = Verdict::unjudged;
  verdict.findings = inconclusive(blind, group_witness(layer).suggestion, why_unbounded(layer));
}

Finding overflow_finding(Overflow overflow) {
  return {.id = "range.overflow",
          .words = {{"certainty", overflow == Overflow::certain ? "certain" : "possible"}}};
}

// Integers and booleans: must be equal, unless the reference says that an element may be
// something else (a quotient near the middle of two steps). Behind an intermediate result that may be
// infinite, an integer may be any.
void verify_exact(LayerVerdict& layer, const std::vector<Bounded>& bounds, const Tensor& got,
                  const Tensor& want, Overflow overflow) {
  if (layer.metrics.different_elements == 0) {
    layer.verdict = Verdict::identical;
    return;
  }
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const double got_value = number_at(got, static_cast<std::size_t>(i));
    const double want_value = number_at(want, static_cast<std::size_t>(i));
    const double distance = std::fabs(got_value - want_value);
    if (distance == 0.0 && same_integer(got, want, i)) continue;
    const Bounded bound = bounds.empty() ? Bounded() : bounds[static_cast<std::size_t>(i)];
    const double use = share_of(distance, bound.worst);
    if (!layer.worst || use > layer.budget_used)
      layer.worst = WorstElement{coordinates_of(i, got.shape()), got_value, want_value, bound.worst};
    layer.budget_used = std::fmax(layer.budget_used, use);
    layer.budget_used_statistical =
        std::fmax(layer.budget_used_statistical, share_of(distance, bound.likely));
  }
  layer.verdict = !layer.worst                          ? Verdict::identical
                  : layer.budget_used > 1.0             ? Verdict::fault
                  : layer.budget_used_statistical > 1.0 ? Verdict::suspect
                                                        : Verdict::rounding;
  if (layer.verdict != Verdict::fault || overflow == Overflow::none) return;
  layer.verdict = Verdict::unjudged;
  layer.findings = {overflow_finding(overflow)};
}

// Beyond the worst case. If an intermediate result may overflow, some correct implementations give infinity
// and NaN; if one surely leaves the range of its type, the correct result may be any finite number and
// cannot be judged.
void mark_fault(LayerVerdict& layer, const TensorUse& verified, Overflow overflow) {
  layer.verdict = Verdict::fault;
  if (verified.specials > 0)
    layer.findings.push_back({.id = "values.special",
                              .numbers = {{"elements", static_cast<double>(verified.specials)}},
                              .elements = {layer.worst->index}});
  const bool certain = overflow == Overflow::certain;
  if (!certain && (overflow == Overflow::none || verified.finite_use > 1.0)) return;
  layer.verdict = verified.specials > 0 ? Verdict::suspect : Verdict::unjudged;
  layer.findings.push_back(overflow_finding(overflow));
}

void verify_floating(LayerVerdict& verdict, std::span<const Bounded> reference, const LayerCase& layer) {
  const Tensor& got = layer.got;
  const ErrorModel model = layer.model();
  const bool may_lean =
      model.rounds_to_nearest && got.dtype() == DType::float32 && can_tell_bias(got.shape());
  auto [verified, metrics, samples] = verify_tensor(reference, got, model, layer.threads, may_lean);
  verdict.metrics = metrics;
  verdict.budget_used = verified.use.worst;
  verdict.budget_used_statistical = verified.use.likely;
  if (verified.worst_element >= 0) verdict.worst = worst_element(reference, verified.worst_element, got);
  if (verified.use.worst > 1.0) return mark_fault(verdict, verified, layer.derived.overflow);
  const Blindness blind =
      verdict.metrics.different_elements == 0
          ? Blindness::none
          : blindness(reference, {.ulp = model.ulp, .group = layer.in_group()}, layer.threads);
  if (layer.in_group() && (blind != Blindness::none || verified.use.likely > 1.0))
    return judge_by_runs(verdict, reference, got, model, blind, group_witness(layer), layer.threads);
  if (verdict.metrics.different_elements > 0 && may_lean)
    verdict.mean_signed_z =
        signed_bias_z(std::move(samples), reference, got.shape(), bias_witness(layer), layer.threads);
  if (std::fabs(verdict.mean_signed_z) > bias_limit) {
    verdict.verdict = Verdict::fault;
    verdict.findings = {{.id = "precision.biased", .numbers = {{"z", verdict.mean_signed_z}}}};
  } else if (verified.use.likely > 1.0) {
    verdict.verdict = Verdict::suspect;
  } else {
    verdict.verdict = verdict.metrics.different_elements == 0 ? Verdict::identical
                      : blind == Blindness::none              ? Verdict::rounding
                                                              : Verdict::unjudged;
    verdict.findings = inconclusive(blind, "", why_unbounded(layer));
  }
}

// Right or wrong, nothing tells: that is no pass.
void without_reference(LayerVerdict& verdict, const Tensor& got, const std::string& why) {
  verdict.verdict = Verdict::unjudged;
  verdict.findings = {{.id = std::string(no_reference), .words = {{"why", why}}}};
  count_nonfinite(got, verdict.metrics);
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  if (!layer.derived.reason.empty()) return without_reference(verdict, layer.got, layer.derived.reason);
  const Tensor& got = layer.got;
  const Evaluated<Bounded>& reference = layer.derived.reference;
  if (got.dtype() != reference.dtype || got.shape() != reference.shape) {
    verdict.verdict = Verdict::fault;
    verdict.budget_used = verdict.budget_used_statistical = std::numeric_limits<double>::infinity();
    verdict.findings = {{.id = "values.type",
                         .words = {{"want_type", std::string(dtype_name(reference.dtype))},
                                   {"want_shape", shape_text(reference.shape)},
                                   {"got_type", std::string(dtype_name(got.dtype()))},
                                   {"got_shape", shape_text(got.shape())}}}};
    count_nonfinite(got, verdict.metrics);
    return;
  }
  if (is_floating(got.dtype())) {
    // A branch may pass on exact values.
    const std::vector<Bounded> exact =
        is_known(reference) ? lift_values<Bounded>(reference.tensor) : std::vector<Bounded>();
    verify_floating(verdict, is_known(reference) ? exact : reference.real, layer);
    return;
  }
  const auto metrics = measure(got, reference.tensor, &layer.threads);
  if (!metrics.ok()) return without_reference(verdict, got, metrics.error().message);
  verdict.metrics = *metrics;
  verify_exact(verdict, reference.real, got, reference.tensor, layer.derived.overflow);
  if (verdict.verdict == Verdict::rounding) look_at_budgets(verdict, layer);
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"elements", 10, judge}); }

}  // namespace driftscope::judges::elements
