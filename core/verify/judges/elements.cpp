#include "core/verify/verify_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/verify/metrics.hpp"
#include "core/verify/tensor_values.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

std::string index_text(const std::vector<std::int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

double integer_at(const Tensor& tensor, std::int64_t element) {
  const auto at = static_cast<std::size_t>(element);
  switch (tensor.dtype()) {
    case DType::boolean:
    case DType::uint8: return tensor.values<std::uint8_t>()[at];
    case DType::int8: return tensor.values<std::int8_t>()[at];
    case DType::uint16: return tensor.values<std::uint16_t>()[at];
    case DType::int16: return tensor.values<std::int16_t>()[at];
    case DType::uint32: return tensor.values<std::uint32_t>()[at];
    case DType::int32: return tensor.values<std::int32_t>()[at];
    case DType::uint64: return static_cast<double>(tensor.values<std::uint64_t>()[at]);
    case DType::int64: return static_cast<double>(tensor.values<std::int64_t>()[at]);
    case DType::uint4:
    case DType::int4: {
      const int nibble = static_cast<int>(tensor.bytes()[at / 2]) >> (at % 2 * 4) & 15;
      return tensor.dtype() == DType::int4 && nibble > 7 ? nibble - 16 : nibble;
    }
    default: return 0.0;
  }
}

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

// For an integer tensor within its budgets: whether these can distinguish right from wrong.
void look_at_budgets(LayerVerdict& layer, const std::vector<Bounded>& bounds, const Tensor& want,
                     const GroupWitness& group, ThreadPool& threads) {
  std::vector<Bounded> reference(bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double value = integer_at(want, static_cast<std::int64_t>(i));
    reference[i] = {value, bounds[i].worst, bounds[i].likely};
  }
  const Blindness blind = blindness(reference, {.ulp = 0.0, .group = !layer.group.empty()}, threads);
  if (blind == Blindness::none) return;
  layer.verdict = Verdict::unjudged;
  layer.reason = unjudged_reason(blind, group.suggestion);
}

std::string overflow_reason(Overflow overflow) {
  return fmt::format("an intermediate result {} the range of its type, the exact result does not",
                     overflow == Overflow::certain ? "leaves" : "may leave");
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
    const double distance = std::fabs(integer_at(got, i) - integer_at(want, i));
    if (distance == 0.0 && same_integer(got, want, i)) continue;
    const Bounded bound = bounds.empty() ? Bounded() : bounds[static_cast<std::size_t>(i)];
    const double use = share_of(distance, bound.worst);
    if (!layer.worst || use > layer.budget_used)
      layer.worst =
          WorstElement{coordinates_of(i, got.shape()), integer_at(got, i), integer_at(want, i), bound.worst};
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
  layer.reason = overflow_reason(overflow);
}

// Beyond the worst case. If an intermediate result may overflow, some correct implementations give infinity
// and NaN; if one surely leaves the range of its type, the correct result may be any finite number and
// cannot be judged.
void mark_fault(LayerVerdict& layer, const TensorUse& verified, Overflow overflow) {
  layer.verdict = Verdict::fault;
  if (verified.specials > 0)
    layer.reason = fmt::format("NaN or infinity where the other has none in {} elements, first at {}",
                               verified.specials, index_text(layer.worst->index));
  const bool certain = overflow == Overflow::certain;
  if (!certain && (overflow == Overflow::none || verified.finite_use > 1.0)) return;
  layer.verdict = verified.specials > 0 ? Verdict::suspect : Verdict::unjudged;
  if (!layer.reason.empty()) layer.reason += "; ";
  layer.reason += overflow_reason(overflow);
}

void verify_floating(LayerVerdict& layer, std::span<const Bounded> reference, const Tensor& got,
                     const BiasWitness& witness, const Derived& derived, const GroupWitness& group,
                     ThreadPool& threads) {
  const ErrorModel model = error_model_for(current_error_model(), got.dtype());
  const bool may_lean =
      model.rounds_to_nearest && got.dtype() == DType::float32 && can_tell_bias(got.shape());
  auto [verified, metrics, samples] = verify_tensor(reference, got, model, threads, may_lean);
  layer.metrics = metrics;
  layer.budget_used = verified.use.worst;
  layer.budget_used_statistical = verified.use.likely;
  if (verified.worst_element >= 0) layer.worst = worst_element(reference, verified.worst_element, got);
  if (verified.use.worst > 1.0) return mark_fault(layer, verified, derived.overflow);
  const Blindness blind =
      layer.metrics.different_elements == 0
          ? Blindness::none
          : blindness(reference, {.ulp = model.ulp, .group = !layer.group.empty()}, threads);
  if (!layer.group.empty() && (blind != Blindness::none || verified.use.likely > 1.0))
    return judge_by_runs(layer, reference, got, model, blind, group, threads);
  if (layer.metrics.different_elements > 0 && may_lean)
    layer.mean_signed_z = signed_bias_z(std::move(samples), reference, got.shape(), witness, threads);
  if (std::fabs(layer.mean_signed_z) > bias_limit) {
    layer.verdict = Verdict::fault;
    layer.reason = layer.mean_signed_z < 0.0
                       ? "the errors are biased towards zero, more than rounding to nearest allows"
                       : "the errors are biased in one direction, more than rounding to nearest allows";
  } else if (verified.use.likely > 1.0) {
    layer.verdict = Verdict::suspect;
  } else {
    layer.verdict = layer.metrics.different_elements == 0 ? Verdict::identical
                    : blind == Blindness::none            ? Verdict::rounding
                                                          : Verdict::unjudged;
    layer.reason = unjudged_reason(blind, "");
  }
}

}  // namespace

LayerVerdict verify_layer(const Graph& graph, NodeId node, std::size_t output, const Derived& derived,
                          const Tensor& got, const BiasWitness& witness, const GroupWitness& group,
                          ThreadPool& threads) {
  LayerVerdict layer;
  layer.node = graph.nodes[node].name;
  layer.op = graph.nodes[node].op_type;
  layer.output = graph.values[graph.nodes[node].outputs[output]].name;
  layer.shape = got.shape();
  for (const NodeId member : derived.group) layer.group.push_back(graph.nodes[member].name);
  if (!derived.reason.empty()) {
    layer.reason = derived.reason;
    return layer;
  }
  const Evaluated<Bounded>& reference = derived.reference;
  if (got.dtype() != reference.dtype || got.shape() != reference.shape) {
    layer.verdict = Verdict::fault;
    layer.budget_used = layer.budget_used_statistical = std::numeric_limits<double>::infinity();
    layer.reason = fmt::format("expected {} of shape {}, got {} of shape {}", dtype_name(reference.dtype),
                               shape_text(reference.shape), dtype_name(got.dtype()), shape_text(got.shape()));
    return layer;
  }
  if (is_floating(got.dtype())) {
    // A branch may pass on exact values.
    const std::vector<Bounded> exact =
        is_known(reference) ? lift_values<Bounded>(reference.tensor) : std::vector<Bounded>();
    verify_floating(layer, is_known(reference) ? exact : reference.real, got, witness, derived, group,
                    threads);
    return layer;
  }
  const auto metrics = measure(got, reference.tensor, &threads);
  if (!metrics.ok()) {
    layer.reason = metrics.error().message;
    return layer;
  }
  layer.metrics = *metrics;
  verify_exact(layer, reference.real, got, reference.tensor, derived.overflow);
  if (layer.verdict == Verdict::rounding)
    look_at_budgets(layer, reference.real, reference.tensor, group, threads);
  return layer;
}

}  // namespace driftscope
