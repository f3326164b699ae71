#include "core/verify/layer_judge.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/verify/element_judge.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

std::vector<std::int64_t> coordinates(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

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
    default: return 0.0;
  }
}

// The first element that differs, by bytes; packed types have none of their own.
std::int64_t first_difference(const Tensor& got, const Tensor& want) {
  const int bits = bits_per_element(got.dtype());
  for (std::size_t i = 0; i < got.bytes().size(); ++i)
    if (got.bytes()[i] != want.bytes()[i]) return static_cast<std::int64_t>(i) * 8 / bits;
  return -1;
}

// Integers and booleans: nothing may differ.
void judge_exact(LayerVerdict& layer, const Tensor& got, const Tensor& want) {
  if (layer.metrics.different_elements == 0) {
    layer.verdict = Verdict::identical;
    return;
  }
  layer.verdict = Verdict::fault;
  layer.budget_used = layer.budget_used_statistical = std::numeric_limits<double>::infinity();
  const std::int64_t element = first_difference(got, want);
  if (element >= 0)
    layer.worst = WorstElement{coordinates(element, got.shape()), integer_at(got, element),
                               integer_at(want, element), 0.0};
}

void judge_floating(LayerVerdict& layer, const Derived& derived, const Tensor& got,
                    const Tensor& want, const BiasWitness& witness, ThreadPool& threads) {
  const ErrorModel model = error_model_for(current_error_model(), got.dtype());
  const auto& reference = derived.reference.real;
  const TensorUse judged = judge_tensor(reference, got, want, model, threads);
  layer.budget_used = judged.use.worst;
  layer.budget_used_statistical = judged.use.likely;
  if (judged.worst_element >= 0) {
    const auto at = static_cast<std::size_t>(judged.worst_element);
    WorstElement worst;
    worst.index = coordinates(judged.worst_element, got.shape());
    worst.want = reference[at].value;
    worst.budget = reference[at].worst;
    with_float_values(got, [&](const auto& got_at) { worst.got = got_at(at); });
    layer.worst = std::move(worst);
  }
  if (judged.specials > 0) {
    layer.verdict = Verdict::fault;
    layer.reason = fmt::format("NaN or infinity where the other has none in {} elements, first at {}",
                               judged.specials, index_text(layer.worst->index));
    return;
  }
  if (judged.use.worst > 1.0) {
    layer.verdict = Verdict::fault;
    return;
  }
  if (layer.metrics.different_elements > 0 && model.rounds_to_nearest &&
      got.dtype() == DType::float32)
    layer.mean_signed_z = signed_bias_z(reference, got, witness);
  if (std::fabs(layer.mean_signed_z) > bias_limit) {
    layer.verdict = Verdict::fault;
    layer.reason = layer.mean_signed_z < 0.0
                       ? "the errors lean towards zero, further than rounding to nearest makes them"
                       : "the errors lean one way, further than rounding to nearest makes them";
  } else if (judged.use.likely > 1.0) {
    layer.verdict = Verdict::suspect;
  } else {
    layer.verdict =
        layer.metrics.different_elements == 0 ? Verdict::identical : Verdict::rounding;
  }
}

}  // namespace

LayerVerdict judge_layer(const Graph& graph, NodeId node, std::size_t output, const Derived& derived,
                         const Tensor& got, const BiasWitness& witness, ThreadPool& threads) {
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
    layer.reason = fmt::format("expected {} of shape {}, got {} of shape {}",
                               dtype_name(reference.dtype), shape_text(reference.shape),
                               dtype_name(got.dtype()), shape_text(got.shape()));
    return layer;
  }
  const auto want = lower(reference);
  const auto metrics = want.ok() ? measure(got, *want) : Result<Metrics>(want.error());
  if (!metrics.ok()) {
    layer.reason = metrics.error().message;
    return layer;
  }
  layer.metrics = *metrics;
  if (is_floating(got.dtype())) judge_floating(layer, derived, got, *want, witness, threads);
  else judge_exact(layer, got, *want);
  return layer;
}

}  // namespace driftscope
