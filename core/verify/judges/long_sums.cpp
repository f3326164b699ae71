#include "core/verify/long_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/verify/lower_precision.hpp"
#include "core/verify/rounded_groups.hpp"

namespace driftscope {
namespace {

std::int64_t products_of(const Node& node, const Derivation& derivation) {
  const auto b = node.inputs.size() < 2 ? std::nullopt : derivation.known_shape(node.inputs[1]);
  return b ? products_per_element(node, *b) : 0;
}

// Of the longest sum in the layer.
std::int64_t longest_sum(const Graph& graph, NodeId id, const Derivation& derivation,
                         const Derived& derived) {
  std::int64_t longest = products_of(graph.nodes[id], derivation);
  for (const NodeId member : derived.group)
    longest = std::max(longest, products_of(graph.nodes[member], derivation));
  return longest;
}

std::optional<LowerPrecision> look_at_group(const Node& node, std::size_t output,
                                            const Derivation& derivation, std::span<const Bounded> reference,
                                            const Tensor& got, ThreadPool& threads) {
  const GroupRun run = [&](const std::function<float(float)>& of_factors) {
    return derivation.plain_float(node.outputs[output], threads, 0, of_factors);
  };
  LowerPrecision found;
  found.certain = found.by_inputs = true;
  found.reason = find_rounded_group(run, reference, got.values<float>());
  if (found.reason.empty()) return std::nullopt;
  return found;
}

std::optional<LowerPrecision> look_at(const Graph& graph, NodeId id, std::size_t output,
                                      const Derivation& derivation, const Derived& derived, const Tensor& got,
                                      ThreadPool& threads) {
  const Node& node = graph.nodes[id];
  const std::vector<Bounded>& reference = derived.reference.real;
  if (derived.group.empty() && output == 0) {
    const auto tensors = derivation.known_tensors(id);
    if (!tensors) return std::nullopt;
    std::vector<const Tensor*> inputs;
    for (const auto& tensor : *tensors) inputs.push_back(tensor ? &*tensor : nullptr);
    if (const auto sums = SumsOfProducts::of(node, inputs, got.shape()))
      return find_lower_precision(*sums, reference, got.values<float>(), threads);
  }
  return look_at_group(node, output, derivation, reference, got, threads);
}

}  // namespace

LongSum judge_long_sums(LayerVerdict& layer, NodeId id, std::size_t output, const Derivation& derivation,
                        const Derived& derived, const Graph& graph, const Tensor& got, ThreadPool& threads) {
  const bool judged = layer.verdict != Verdict::missing && layer.verdict != Verdict::identical;
  if (!judged || got.dtype() != DType::float32 || !std::isfinite(layer.budget_used) ||
      layer.metrics.nan + layer.metrics.inf > 0 || (!derived.group.empty() && !derived.continuous))
    return LongSum::usual;
  const std::vector<Bounded>& reference = derived.reference.real;
  if (static_cast<std::int64_t>(reference.size()) != got.elements() ||
      !worth_a_look(reference, got.values<float>(), longest_sum(graph, id, derivation, derived)))
    return LongSum::usual;
  const auto found = look_at(graph, id, output, derivation, derived, got, threads);
  if (!found) return LongSum::usual;
  if (found->certain) layer.verdict = Verdict::fault;
  if (layer.verdict != Verdict::fault) layer.verdict = Verdict::suspect;
  layer.reason = found->reason;
  return found->by_inputs ? LongSum::rounded_inputs : LongSum::large_errors;
}

}  // namespace driftscope
