// LayerNormalization written in parts, as exporters do until opset 16:
//   d = x − ReduceMean(x);  y = d ÷ √(ReduceMean(d²) + ε) · γ + β
// Runtimes fuse it into one operator, whose variance may come from one pass (E[x²] − mean²) or Welford's
// recurrence: then it has the errors of that operator, not of the parts.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::layer_normalization {
namespace {

/// Looks at the nodes of one layer's group, from the end.
class Parts {
 public:
  explicit Parts(const LayerCase& layer) : layer_(layer) {}

  /// The operator that the parts are; nothing where they are none.
  [[nodiscard]] std::optional<Node> fused() const {
    ValueId scale = no_value;
    ValueId shift = no_value;
    const Node* node = &layer_.node();
    if (is(node, "Add") && !made_by(node->inputs[0], "ReduceMean") && !made_by(node->inputs[1], "ReduceMean"))
      if (const auto split = split_off(*node, {"Mul", "Div"})) {
        shift = split->second;
        node = split->first;
      }
    if (is(node, "Mul"))
      if (const auto split = split_off(*node, {"Div"})) {
        scale = split->second;
        node = split->first;
      }
    if (!is(node, "Div") || node->inputs.size() != 2) return std::nullopt;
    return standardization(*node, scale, shift);
  }

 private:
  [[nodiscard]] static bool is(const Node* node, std::string_view op) {
    return node != nullptr && node->op_type == op && node->domain.empty();
  }
  /// The node of the group that makes the value; null for others.
  [[nodiscard]] const Node* maker(ValueId value) const {
    if (value == no_value) return nullptr;
    const NodeId id = layer_.graph.values[value].producer;
    const auto& group = layer_.derived.group;
    return std::ranges::find(group, id) == group.end() ? nullptr : &layer_.graph.nodes[id];
  }
  [[nodiscard]] bool made_by(ValueId value, std::string_view op) const { return is(maker(value), op); }

  /// Of a binary node: the operand that one of these operators of the group makes, and the other operand.
  [[nodiscard]] std::optional<std::pair<const Node*, ValueId>> split_off(
      const Node& node, std::initializer_list<std::string_view> ops) const {
    for (std::size_t i = 0; node.inputs.size() == 2 && i < 2; ++i)
      for (const std::string_view op : ops)
        if (made_by(node.inputs[i], op)) return std::pair(maker(node.inputs[i]), node.inputs[1 - i]);
    return std::nullopt;
  }

  /// The first of the axes that a mean is taken over, if these are the last ones, and are kept.
  [[nodiscard]] std::optional<std::int64_t> mean_axis(const Node& mean) const {
    std::vector<std::int64_t> axes;
    if (mean.attribute("axes") != nullptr) {
      const auto given = ints_attribute(mean, "axes", {});
      if (given.ok()) axes = *given;
    } else if (mean.inputs.size() == 2 && mean.inputs[1] != no_value) {
      const auto given = layer_.derivation.known_value(mean.inputs[1]);
      for (std::int64_t i = 0; given && i < given->elements(); ++i)
        axes.push_back(static_cast<std::int64_t>(number_at(*given, static_cast<std::size_t>(i))));
    }
    const auto keeps = int_attribute(mean, "keepdims", 1);
    const auto rank = static_cast<std::int64_t>(layer_.got.rank());
    if (axes.empty() || !keeps.ok() || *keeps != 1) return std::nullopt;
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::ranges::sort(axes);
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != rank - static_cast<std::int64_t>(axes.size() - i)) return std::nullopt;
    return axes.front();
  }

  /// x, of x − ReduceMean(x); `axis` is set, or has to be the same.
  [[nodiscard]] ValueId deviation_of(ValueId value, std::optional<std::int64_t>& axis) const {
    const Node* const sub = maker(value);
    if (!is(sub, "Sub") || sub->inputs.size() != 2) return no_value;
    const Node* const mean = maker(sub->inputs[1]);
    if (!is(mean, "ReduceMean") || mean->inputs[0] != sub->inputs[0]) return no_value;
    const auto found = mean_axis(*mean);
    if (!found || (axis && axis != found)) return no_value;
    axis = found;
    return sub->inputs[0];
  }

  [[nodiscard]] std::optional<double> number(ValueId value) const {
    const auto tensor = layer_.derivation.known_value(value);
    if (!tensor || tensor->elements() != 1 || !is_floating(tensor->dtype())) return std::nullopt;
    return number_at(*tensor, 0);
  }

  /// The value that is squared: by Pow, or as a product with itself.
  [[nodiscard]] ValueId squared(ValueId value) const {
    const Node* const node = maker(value);
    if (is(node, "Mul") && node->inputs[0] == node->inputs[1]) return node->inputs[0];
    if (is(node, "Pow") && number(node->inputs[1]) == 2.0) return node->inputs[0];
    return no_value;
  }

  [[nodiscard]] std::optional<Node> standardization(const Node& divide, ValueId scale, ValueId shift) const {
    std::optional<std::int64_t> axis;
    const ValueId x = deviation_of(divide.inputs[0], axis);
    const Node* const root = maker(divide.inputs[1]);
    if (x == no_value || !is(root, "Sqrt")) return std::nullopt;
    const Node* const sum = maker(root->inputs[0]);
    if (!is(sum, "Add")) return std::nullopt;
    const auto variance = split_off(*sum, {"ReduceMean"});
    if (!variance || mean_axis(*variance->first) != axis) return std::nullopt;
    const auto epsilon = number(variance->second);
    if (!epsilon || deviation_of(squared(variance->first->inputs[0]), axis) != x) return std::nullopt;
    Node fused;
    fused.name = layer_.node().name;
    fused.op_type = "LayerNormalization";
    fused.opset = 17;
    // LayerNormalization has a scale always.
    if (scale == no_value) return std::nullopt;
    fused.inputs = {x, scale};
    if (shift != no_value) fused.inputs.push_back(shift);
    fused.outputs = {layer_.value()};
    fused.attributes = {{"axis", *axis}, {"epsilon", static_cast<float>(*epsilon)}};
    return fused;
  }

  const LayerCase& layer_;
};

std::vector<Candidate> as_one(const LayerCase& layer) {
  std::vector<Candidate> candidates;
  if (layer.in_group())
    if (auto fused = Parts(layer).fused()) candidates.push_back({.node = std::move(fused)});
  return candidates;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "layer-normalization-as-one",
             .name = "one LayerNormalization",
             .operators = {"ReduceMean"},
             .candidates = as_one,
             .fuses = true});
}

}  // namespace driftscope::variants::layer_normalization
