#include "core/verify/judge.hpp"

namespace driftscope {

const DerivationInputs* LayerCase::known_inputs() const {
  if (!read_inputs) read_inputs.emplace(derivation.known_inputs(id));
  return *read_inputs ? &**read_inputs : nullptr;
}

LayerVerdict judged(const LayerCase& layer) {
  LayerVerdict verdict;
  verdict.node = layer.node().name;
  verdict.op = layer.node().op_type;
  verdict.output = layer.graph.values[layer.value()].name;
  verdict.shape = layer.got.shape();
  for (const NodeId member : layer.derived.group) verdict.group.push_back(layer.graph.nodes[member].name);
  for (const Judge& judge : judge_table().judges()) judge.judge(layer, verdict);
  // The value is there and nothing tells whether it is right.
  if (!layer.derived.reason.empty()) verdict.verdict = Verdict::unjudged;
  return verdict;
}

}  // namespace driftscope
