// Layers with long sums of products: errors as of a lower precision, which the budgets of single elements
// hide. Changes the verdict of a layer that is within its worst-case budget, and says what a fault looks
// like. Needs everything that the node reads to be recorded, or a group that can be run in float32.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cmath>

#include "core/verify/judge.hpp"
#include "core/verify/lower_precision.hpp"
#include "core/verify/rounded_groups.hpp"

namespace driftscope::judges::long_sums {
namespace {

std::int64_t products_of(const Node& node, const Derivation& derivation) {
  const auto b = node.inputs.size() < 2 ? std::nullopt : derivation.known_shape(node.inputs[1]);
  return b ? products_per_element(node, *b) : 0;
}

// Of the longest sum in the layer.
std::int64_t longest_sum(const LayerCase& layer) {
  std::int64_t longest = products_of(layer.node(), layer.derivation);
  for (const NodeId member : layer.derived.group)
    longest = std::max(longest, products_of(layer.graph.nodes[member], layer.derivation));
  return longest;
}

std::optional<LowerPrecision> look_at_group(const LayerCase& layer) {
  const GroupRun run = [&](const std::function<float(float)>& of_factors) {
    return layer.derivation.plain_float(layer.value(), layer.threads, 0, of_factors);
  };
  auto found = find_rounded_group(run, layer.reference(), layer.got.values<float>());
  if (!found) return std::nullopt;
  return LowerPrecision{true, true, *std::move(found)};
}

std::optional<LowerPrecision> look_at(const LayerCase& layer) {
  if (!layer.in_group() && layer.output == 0) {
    const auto tensors = layer.derivation.known_tensors(layer.id);
    if (!tensors) return std::nullopt;
    std::vector<const Tensor*> inputs;
    for (const auto& tensor : *tensors) inputs.push_back(tensor ? &*tensor : nullptr);
    if (const auto sums = SumsOfProducts::of(layer.node(), inputs, layer.got.shape()))
      return find_lower_precision(*sums, layer.reference(), layer.got.values<float>(), layer.run.model,
                                  layer.threads);
  }
  return look_at_group(layer);
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const Tensor& got = layer.got;
  const bool judged = verdict.verdict != Verdict::missing && verdict.verdict != Verdict::identical;
  if (!judged || got.dtype() != DType::float32 || !std::isfinite(verdict.budget_used) ||
      verdict.metrics.nan + verdict.metrics.inf > 0 || (layer.in_group() && !layer.derived.continuous))
    return;
  if (static_cast<std::int64_t>(layer.reference().size()) != got.elements() ||
      !worth_a_look(layer.reference(), got.values<float>(), longest_sum(layer), layer.run.model))
    return;
  auto found = look_at(layer);
  if (!found) return;
  if (found->certain) verdict.verdict = Verdict::fault;
  if (verdict.verdict != Verdict::fault) verdict.verdict = Verdict::suspect;
  verdict.findings = {std::move(found->finding)};
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"long_sums", 20, judge}); }

}  // namespace driftscope::judges::long_sums
