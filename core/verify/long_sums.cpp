#include "core/verify/long_sums.hpp"

#include <cmath>

#include "core/verify/lower_precision.hpp"

namespace driftscope {
namespace {

std::int64_t products_of(const Node& node, const Derivation& derivation) {
  if (node.inputs.size() < 2) return 0;
  const auto a = derivation.known_shape(node.inputs[0]);
  const auto b = derivation.known_shape(node.inputs[1]);
  return a && b ? products_per_element(node, *a, *b) : 0;
}

std::optional<LowerPrecision> look_at(const Node& node, NodeId id, const Derivation& derivation,
                                      std::span<const Bounded> reference, const Tensor& got,
                                      ThreadPool& threads) {
  const auto tensors = derivation.known_tensors(id);
  if (!tensors) return std::nullopt;
  std::vector<const Tensor*> inputs;
  for (const auto& tensor : *tensors) inputs.push_back(tensor ? &*tensor : nullptr);
  const auto sums = SumsOfProducts::of(node, inputs, got.shape());
  if (!sums) return std::nullopt;
  return find_lower_precision(*sums, reference, got.values<float>(), threads);
}

}  // namespace

LongSum judge_long_sums(LayerVerdict& layer, NodeId id, std::size_t output, const Derivation& derivation,
                        const Derived& derived, const Graph& graph, const Tensor& got, ThreadPool& threads) {
  const bool judged = layer.verdict != Verdict::missing && layer.verdict != Verdict::identical;
  if (!judged || output != 0 || !derived.group.empty() || got.dtype() != DType::float32 ||
      !std::isfinite(layer.budget_used) || layer.metrics.nan + layer.metrics.inf > 0)
    return LongSum::usual;
  const Node& node = graph.nodes[id];
  const std::vector<Bounded>& reference = derived.reference.real;
  if (static_cast<std::int64_t>(reference.size()) != got.elements() ||
      !worth_a_look(reference, got.values<float>(), products_of(node, derivation)))
    return LongSum::usual;
  const auto found = look_at(node, id, derivation, reference, got, threads);
  if (!found) return LongSum::usual;
  if (found->certain) layer.verdict = Verdict::fault;
  if (layer.verdict != Verdict::fault) layer.verdict = Verdict::suspect;
  layer.reason = found->reason;
  return found->by_inputs ? LongSum::rounded_inputs : LongSum::large_errors;
}

}  // namespace driftscope
