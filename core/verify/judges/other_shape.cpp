// The right elements in another shape: a reduction that leaves its axes out, or keeps them, against keepdims,
// or any other node (seen in TensorFlow.js: Prod on WebGPU, docs/museum.md). The verdict stays.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/eval/evaluate.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::judges::other_shape {
namespace {

constexpr double most_chance = 1e-6;  // as of other causes

struct Match {
  double use = 0.0;     ///< the largest error as a share of the budget
  double chance = 1.0;  ///< that other elements within the layer's range match as well
};

double chance_of(std::span<const Bounded> reference, const ErrorModel& model) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const Bounded& x : reference)
    if (std::isfinite(x.value)) low = std::fmin(low, x.value), high = std::fmax(high, x.value);
  if (!(high > low)) return 1.0;
  constexpr double floor = -300.0;
  double digits = 0.0;
  for (const Bounded& x : reference) {
    const double bound = std::fmax(x.worst, (high - low) * model.unit_roundoff);
    digits = std::fmax(floor, digits + std::log10(std::fmin(1.0, 2.0 * bound / (high - low))));
  }
  return std::pow(10.0, digits);
}

/// Nothing where an element is wrong in this order.
std::optional<Match> match_of(const LayerCase& layer) {
  const Tensor& got = layer.got;
  const Evaluated<Bounded>& reference = layer.derived.reference;
  if (!is_floating(got.dtype())) {  // a wrong integer is one of at least two
    const bool equal = is_known(reference) && std::ranges::equal(reference.tensor.bytes(), got.bytes());
    if (!equal) return std::nullopt;
    return Match{0.0, std::pow(0.5, static_cast<double>(got.elements()))};
  }
  const std::vector<Bounded> exact =
      is_known(reference) ? lift_values<Bounded>(reference.tensor) : std::vector<Bounded>();
  const std::span<const Bounded> right = is_known(reference) ? exact : reference.real;
  const TensorVerification verified = verify_tensor(right, got, layer.model(), layer.threads);
  const BudgetUse& use = verified.verified.use;
  if (verified.verified.specials > 0 || !(use.worst <= 1.0)) return std::nullopt;
  return Match{use.worst, chance_of(right, layer.model())};
}

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const Tensor& got = layer.got;
  const Evaluated<Bounded>& reference = layer.derived.reference;
  if (verdict.verdict != Verdict::fault || !layer.derived.reason.empty() || got.dtype() != reference.dtype ||
      got.shape() == reference.shape || got.elements() != element_count(reference.shape))
    return;
  const auto match = match_of(layer);
  if (!match || match->chance > most_chance) return;
  const std::string& op = layer.node().op_type;
  const bool reduces = op.starts_with("Reduce") || op == "ArgMax" || op == "ArgMin";
  const bool ones = reduces && without_ones(got.shape()) == without_ones(reference.shape);
  LayerExplanation explanation;
  explanation.node = verdict.node;
  explanation.op = verdict.op;
  explanation.output = verdict.output;
  explanation.verdict = verdict.verdict;
  explanation.elements = explanation.wrong = got.elements();
  explanation.tried = 1;
  explanation.cause =
      Cause{.id = ones ? "attribute.keepdims" : "execution.reshaped",
            .text = !ones                                         ? "the right elements in another shape"
                    : got.shape().size() < reference.shape.size() ? "the reduced axes left out (keepdims 0)"
                                                                  : "the reduced axes kept (keepdims 1)",
            .budget_before = std::numeric_limits<double>::infinity(),
            .budget_after = match->use,
            .elements = got.elements(),
            .explained = got.elements(),
            .chance = match->chance};
  verdict.explanation = std::move(explanation);
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"other_shape", 61, judge}); }

}  // namespace driftscope::judges::other_shape
