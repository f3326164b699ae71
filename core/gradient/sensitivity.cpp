#include "core/gradient/sensitivity.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/eval/evaluated.hpp"
#include "core/graph/constant_nodes.hpp"

namespace driftscope {
namespace {

Result<LayerSensitivity> sensitivity_of(const LayerError& layer, const Tensor* gradient) {
  if (gradient == nullptr)
    return bad_input(fmt::format(
        "sensitivity of {}: its gradient is not there; ask for it (make_gradient's wrt)", layer.value));
  if (!is_floating(gradient->dtype()) || gradient->elements() != std::ssize(layer.error))
    return bad_input(fmt::format("sensitivity of {}: the gradient is {} {} and the error has {} elements",
                                 layer.value, dtype_name(gradient->dtype()), shape_text(gradient->shape()),
                                 layer.error.size()));
  const std::vector<double> slopes = lift_values<double>(*gradient);
  LayerSensitivity result;
  result.value = layer.value;
  double squares = 0.0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double part = slopes[i] * layer.error[i];
    // An infinite bound on what the answer does not depend on is no matter.
    if (slopes[i] == 0.0) continue;
    result.gradient_norm += slopes[i] * slopes[i];
    result.largest += std::abs(part);
    result.moved += part;
    squares += part * part;
  }
  result.gradient_norm = std::sqrt(result.gradient_norm);
  result.likely = std::sqrt(squares);
  if (!std::isfinite(result.gradient_norm) || !std::isfinite(result.largest))
    return bad_input(fmt::format("sensitivity of {}: the gradient or the error is not finite", layer.value));
  return result;
}

}  // namespace

std::vector<std::string> sensitive_values(const Graph& graph, std::size_t limit) {
  const std::vector<bool> constant = constant_nodes(graph);
  // Backwards: what some output depends on; forwards: what depends on an input is not constant.
  std::vector<bool> needed(graph.values.size(), false);
  for (const ValueId id : graph.outputs) needed[id] = true;
  for (std::size_t at = graph.nodes.size(); at-- > 0;) {
    bool any = false;
    for (const ValueId id : graph.nodes[at].outputs) any = any || (id != no_value && needed[id]);
    if (!any) continue;
    for (const ValueId id : graph.nodes[at].reads())
      if (id != no_value) needed[id] = true;
  }
  std::vector<std::string> all;
  for (std::size_t at = 0; at < graph.nodes.size(); ++at) {
    if (constant[at]) continue;
    const ValueId id = graph.nodes[at].outputs[0];
    if (id != no_value && needed[id] && is_floating(graph.values[id].dtype))
      all.push_back(graph.values[id].name);
  }
  if (all.size() <= limit || limit == 0) return all;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < limit; ++i) some.push_back(all[i * all.size() / limit]);
  return some;
}

Result<std::vector<LayerSensitivity>> layer_sensitivity(
    std::span<const LayerError> errors,
    const std::function<const Tensor*(const std::string& value)>& gradient_of) {
  std::vector<LayerSensitivity> layers;
  double squares = 0.0;
  for (const LayerError& layer : errors) {
    DRIFTSCOPE_TRY(const LayerSensitivity one, sensitivity_of(layer, gradient_of(layer.value)));
    layers.push_back(one);
    squares += one.likely * one.likely;
  }
  for (LayerSensitivity& layer : layers)
    layer.share = squares > 0.0 ? layer.likely * layer.likely / squares : 0.0;
  return layers;
}

PredictedMove predicted_move(std::span<const LayerSensitivity> layers) {
  PredictedMove all;
  for (const LayerSensitivity& layer : layers) {
    all.likely += layer.likely * layer.likely;
    all.largest += layer.largest;
  }
  all.likely = std::sqrt(all.likely);
  return all;
}

}  // namespace driftscope
