// The part of the lowering that merges several nodes into one step: which node reads which, and which
// activation an operator can include.
// Compiled for size on the web (cmake/core.cmake).
#include <limits>

#include "core/graph/attributes.hpp"
#include "core/lowering/graph_lowering.hpp"

namespace driftscope::lowering {

std::optional<NodeId> GraphLowering::only_reader(ValueId id) const {
  if (!options_.fuse || is_output_[id] || readers_[id].size() != 1) return std::nullopt;
  return readers_[id][0];
}

std::optional<Clamp> GraphLowering::clamp_of(const Node& node) const {
  if (!node.domain.empty()) return std::nullopt;
  Clamp clamp;
  if (node.op_type == "Relu") {
    clamp.min = 0.0f;
    return clamp;
  }
  if (node.op_type != "Clip") return std::nullopt;
  clamp = {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
  if (node.opset < 11) {
    const auto min = float_attribute(node, "min", clamp.min);
    const auto max = float_attribute(node, "max", clamp.max);
    if (!min.ok() || !max.ok()) return std::nullopt;
    clamp = {*min, *max};
  } else {
    for (std::size_t i = 1; i <= 2; ++i) {
      if (!has_input(node, i)) continue;
      const Tensor* bound = constant(node.inputs[i]);
      if (bound == nullptr || bound->dtype() != DType::float32 || bound->elements() != 1) return std::nullopt;
      (i == 1 ? clamp.min : clamp.max) = bound->values<float>()[0];
    }
  }
  if (!(clamp.min < clamp.max)) return std::nullopt;  // NaN as well
  return clamp;
}

void GraphLowering::add_activation(Fusion& fusion) const {
  const auto next = only_reader(fusion.output);
  if (!next) return;
  const Node& reader = graph_.nodes[*next];
  if (reader.inputs.empty() || reader.inputs[0] != fusion.output) return;
  if (const auto clamp = clamp_of(reader)) {
    fusion.output = reader.outputs[0];
    fusion.nodes.push_back(*next);
    fusion.clamp = *clamp;
  }
}

Fusion GraphLowering::with_activation(const Node& node) const {
  Fusion fusion{.output = node.outputs[0], .nodes = {}, .clamp = {}};
  add_activation(fusion);
  return fusion;
}

Fusion GraphLowering::with_sum(const Node& node) const {
  Fusion fusion{.output = node.outputs[0], .nodes = {}, .clamp = {}};
  if (const auto next = only_reader(fusion.output)) {
    const Node& sum = graph_.nodes[*next];
    if (sum.domain.empty() && sum.op_type == "Add") {
      const ValueId other = sum.inputs[sum.inputs[0] == fusion.output ? 1 : 0];
      const bool same = is_float(fusion.output) && is_float(other) && is_float(sum.outputs[0]) &&
                        shape(other) == shape(fusion.output) && shape(sum.outputs[0]) == shape(other);
      if (same && !existing_[other].empty()) {
        fusion.output = sum.outputs[0];
        fusion.nodes.push_back(*next);
        fusion.addend = other;
      }
    }
  }
  add_activation(fusion);
  return fusion;
}

void GraphLowering::absorb(const Fusion& fusion) {
  for (const NodeId node : fusion.nodes) {
    absorbed_[node] = true;
    last_of_group_ = node;
  }
}

bool GraphLowering::defer(const Node& node) {
  const ValueId output = node.outputs[0];
  if (!options_.fuse || is_output_[output] || deferred_[output] == &node) return false;
  deferred_[output] = &node;
  return true;
}

}  // namespace driftscope::lowering
