// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/eval/evaluate.hpp"
#include "core/eval/operator.hpp"
#include "core/numerics/rounding.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

Bounded element_from(std::span<const Bounded> right, std::int64_t source) {
  switch (source) {
    case source_zero: return Bounded(0.0);
    case source_nan: return {std::numeric_limits<double>::quiet_NaN()};
    case source_infinity: return {std::numeric_limits<double>::infinity()};
    case source_negative_infinity: return {-std::numeric_limits<double>::infinity()};
    case source_smallest: return {static_cast<double>(std::numeric_limits<float>::min())};
    default: return right[static_cast<std::size_t>(source)];
  }
}

std::optional<std::vector<Bounded>> rearranged(const Candidate& candidate, const LayerCase& layer) {
  const std::span<const Bounded> right = layer.right();
  if (static_cast<std::int64_t>(right.size()) != layer.got.elements()) return std::nullopt;
  std::vector<Bounded> moved;
  moved.reserve(right.size());
  for (std::int64_t i = 0; i < layer.got.elements(); ++i) moved.push_back(element_of(candidate, right, i));
  return moved;
}

/// One more rounding, to a narrower type.
void store_as(DType dtype, std::vector<Bounded>& values) {
  const ErrorModel narrow = error_model_for({}, dtype);
  for (Bounded& x : values) {
    const double size = std::fabs(x.value) + x.worst;
    if (!(size <= narrow.largest)) continue;
    const double step = rounding_error(narrow, size);
    x = {x.value, x.worst + step, x.likely + step, x.systematic + step};
  }
}

}  // namespace

Bounded element_of(const Candidate& candidate, std::span<const Bounded> right, std::int64_t i) {
  Bounded x = element_from(right, candidate.source ? candidate.source(i) : i);
  if (!candidate.factor) return x;
  const double factor = candidate.factor(i);
  const double size = std::fabs(factor);
  return {x.value * factor, x.worst * size, x.likely * size, x.systematic * size};
}

std::optional<Evaluated<Bounded>> group_result_of(const Candidate& candidate, const LayerCase& layer) {
  const ErrorModel& model = candidate.model ? *candidate.model : layer.run.model;
  auto result = candidate.node ? layer.derivation.derive_instead(layer.derived.group, *candidate.node, model,
                                                                 layer.threads)
                               : layer.derivation.derive_again(layer.derived.group, layer.id, layer.output,
                                                               model, {}, layer.threads);
  if (!result || is_known(*result) || result->dtype != layer.got.dtype() ||
      result->shape != layer.got.shape())
    return std::nullopt;
  return result;
}

std::optional<std::vector<Bounded>> bounds_of(const Candidate& candidate, const LayerCase& layer,
                                              const DerivationInputs& inputs) {
  if (candidate.rearranges()) return rearranged(candidate, layer);
  if (layer.in_group()) {
    auto result = group_result_of(candidate, layer);
    return result ? std::optional(std::move(result->real)) : std::nullopt;
  }
  const Node& node = candidate.node ? *candidate.node : layer.node();
  const ErrorModel& model = candidate.model ? *candidate.model : layer.run.model;
  std::vector<const Evaluated<Bounded>*> pointers;
  for (std::size_t i = 0; i < node.reads().size() && i < inputs.lifted.size(); ++i) {
    const Evaluated<Bounded>& input = inputs.lifted[i];
    const bool left_out = i < node.inputs.size() && node.inputs[i] == no_value;
    pointers.push_back(input.dtype == DType::undefined || left_out ? nullptr : &input);
  }
  std::vector<Evaluated<Bounded>> others(candidate.inputs.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    const OtherInput& other = candidate.inputs[i];
    auto tensor = other.make();
    if (!tensor || other.place >= pointers.size()) return std::nullopt;
    others[i] = known<Bounded>(*tensor);
    pointers[other.place] = &others[i];
  }
  auto results = evaluate<Bounded>(node, pointers, layer.threads,
                                   {.recorded = inputs.reread ? &*inputs.reread : nullptr, .model = &model});
  if (!results.ok() || layer.output >= results->size()) return std::nullopt;
  Evaluated<Bounded>& result = (*results)[layer.output];
  if (is_known(result)) {
    auto lifted = lift<Bounded>(result.tensor);
    if (!lifted.ok()) return std::nullopt;
    result = *std::move(lifted);
  }
  if (result.shape != layer.got.shape()) return std::nullopt;
  if (candidate.stored_as != DType::undefined) store_as(candidate.stored_as, result.real);
  return std::move(result.real);
}

std::optional<BudgetUse> use_of(std::span<const Bounded> computed, const Candidate& candidate,
                                const LayerCase& layer) {
  const ErrorModel& model = candidate.model ? *candidate.model : layer.run.model;
  const TensorVerification verified =
      verify_tensor(computed, layer.got, error_model_for(model, layer.got.dtype()), layer.threads);
  if (verified.verified.specials > 0) return std::nullopt;
  return verified.verified.use;
}

std::optional<Tensor> float_result_of(const Candidate& candidate, const LayerCase& layer,
                                      const DerivationInputs& inputs) {
  const Node& node = candidate.node ? *candidate.node : layer.node();
  std::vector<Tensor> others;
  std::vector<const Tensor*> tensors;
  for (std::size_t i = 0; i < inputs.tensors.size() && i < node.reads().size(); ++i) {
    const bool left_out = i < node.inputs.size() && node.inputs[i] == no_value;
    tensors.push_back(left_out ? nullptr : inputs.tensor(i));
  }
  others.reserve(candidate.inputs.size());
  for (const OtherInput& other : candidate.inputs) {
    auto tensor = other.make();
    if (!tensor || other.place >= tensors.size()) return std::nullopt;
    others.push_back(*std::move(tensor));
    tensors[other.place] = &others.back();
  }
  auto results = evaluate_strict(node, tensors, layer.threads);
  if (!results.ok() || layer.output >= results->size()) return std::nullopt;
  Tensor& made = (*results)[layer.output];
  if (made.dtype() != layer.got.dtype() || made.shape() != layer.got.shape()) return std::nullopt;
  return std::move(made);
}

}  // namespace driftscope
