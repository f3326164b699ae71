#include "core/convert_check/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/half.hpp"
#include "core/base/sort_stably.hpp"
#include "core/base/text.hpp"
#include "core/convert_check/explain_parts.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::convert {
namespace {

constexpr std::int64_t max_sorted = 1 << 20;

std::vector<NodeId> nodes_of(const Side& side, const std::string& value,
                             const std::vector<std::string_view>& paired) {
  const Graph& graph = *side.graph();
  const std::unordered_set<std::string_view> known(paired.begin(), paired.end());
  const auto id = graph.find_value(value);
  if (!id) return {};
  return side.nodes_between(*id, [&](ValueId one) { return known.contains(graph.values[one].name); });
}

bool same_operator(const Node& a, const Node& b) {
  const auto kind = [](std::string_view op) {
    if (op == "Gemm" || op == "MatMul" || op == "QLinearMatMul" || op == "MatMulInteger")
      return std::string_view("product");
    if (op == "QLinearConv" || op == "ConvInteger") return std::string_view("Conv");
    return op;
  };
  return kind(a.op_type) == kind(b.op_type);
}

/// The longest common sequence of operators.
Groups groups_of(const PartingLayer& layer) {
  std::vector<std::string_view> names_a;
  std::vector<std::string_view> names_b;
  for (const ValuePair& pair : layer.alignment.pairs) {
    names_a.push_back(pair.a);
    names_b.push_back(pair.b);
  }
  Groups groups{layer.a, layer.b, {}, {}, {}};
  const auto x = nodes_of(layer.a, layer.values.a, names_a);
  const auto y = nodes_of(layer.b, layer.values.b, names_b);
  const std::size_t width = y.size() + 1;
  std::vector<std::size_t> longest((x.size() + 1) * width, 0);
  for (std::size_t i = x.size(); i-- > 0;)
    for (std::size_t j = y.size(); j-- > 0;)
      longest[i * width + j] = same_operator(groups.node_a(x[i]), groups.node_b(y[j]))
                                   ? longest[(i + 1) * width + j + 1] + 1
                                   : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() || j < y.size()) {
    if (i < x.size() && j < y.size() && same_operator(groups.node_a(x[i]), groups.node_b(y[j])))
      groups.both.push_back({x[i++], y[j++]});
    else if (j == y.size() || (i < x.size() && longest[(i + 1) * width + j] >= longest[i * width + j + 1]))
      groups.only_a.push_back(x[i++]);
    else
      groups.only_b.push_back(y[j++]);
  }
  return groups;
}

/// B's values around the layer, as A's: what A's changed nodes are verified with.
Trace values_around(const PartingLayer& layer, const Graph& graph) {
  Trace made;
  std::vector<std::string_view> paired;
  for (const ValuePair& pair : layer.alignment.pairs) paired.push_back(pair.a);
  std::unordered_set<std::string_view> wanted = {layer.values.a};
  for (const ValueId input : graph.inputs) wanted.insert(graph.values[input].name);
  for (const NodeId id : nodes_of(layer.a, layer.values.a, paired))
    for (const ValueId read : graph.nodes[id].reads())
      if (read != no_value) wanted.insert(layer.a.graph()->values[read].name);
  for (const ValuePair& pair : layer.alignment.pairs) {
    if (!wanted.contains(pair.a)) continue;
    const Tensor& mine = *layer.a.find(pair.a)->tensor;
    const auto moved = restored(*layer.b.find(pair.b)->tensor, pair.order, mine.shape());
    if (!moved.ok()) continue;
    auto same = as_dtype(*moved, mine.dtype());
    if (same.ok()) made.tensors.push_back({pair.a, *std::move(same)});
  }
  return made;
}

/// Whether A with all changes computes what B did; nothing where one of them cannot be tried.
std::optional<bool> confirmed(const PartingLayer& layer, const Reasons& reasons, ThreadPool& threads) {
  if (!std::ranges::all_of(reasons, [](const Reason& one) { return static_cast<bool>(one.apply); }))
    return std::nullopt;
  const auto change = [&](Graph& graph) {
    for (const Reason& one : reasons) one.apply(graph);
  };
  const Graph& graph = *layer.a.graph();
  return driftscope::explains(change, graph, values_around(layer, graph), layer.values.a, threads);
}

/// Tries each reason alone, and all together where none explains the layer. Those that do come first, those
/// that surely do not last.
void confirm_each(const PartingLayer& layer, Reasons& reasons, ThreadPool& threads) {
  for (Reason& reason : reasons) reason.explanation.confirmed = confirmed(layer, {reason}, threads);
  const auto is = [](const Reason& one, std::optional<bool> what) {
    return one.explanation.confirmed == what;
  };
  const bool alone = std::ranges::any_of(reasons, [&](const Reason& one) { return is(one, true); });
  if (!alone && reasons.size() > 1 && confirmed(layer, reasons, threads) == true)
    for (Reason& reason : reasons) reason.explanation.together = true;
  sort_stably(reasons, [&](const Reason& one) { return is(one, true) ? 0 : is(one, {}) ? 1 : 2; });
}

bool is_another_order(const PartingLayer& layer) {
  const Tensor& a = *layer.a.find(layer.values.a)->tensor;
  const Tensor& b = *layer.b.find(layer.values.b)->tensor;
  if (a.elements() != b.elements() || a.elements() > max_sorted || a.elements() < 8) return false;
  auto x = numbers_of(a);
  auto y = numbers_of(b);
  std::ranges::sort(x);
  std::ranges::sort(y);
  const double close = 1e-5 * std::max(std::fabs(x.front()), std::fabs(x.back()));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::fabs(x[i] - y[i]) <= close)) return false;
  return true;
}

}  // namespace

std::string_view cause_name(Cause cause) {
  switch (cause) {
    case Cause::operator_missing: return "operator missing";
    case Cause::operator_added: return "operator added";
    case Cause::attribute: return "attribute";
    case Cause::padding: return "padding";
    case Cause::weights: return "weights";
    case Cause::layout: return "layout";
    case Cause::float16: return "float16";
    case Cause::quantized: return "quantized";
    case Cause::folded_epsilon: return "folded with another epsilon";
    case Cause::folded_wrong: return "folded wrong";
    case Cause::values_order: return "order of values";
    default: return "unknown";
  }
}

std::vector<Explanation> explain(const PartingLayer& layer, ThreadPool& threads) {
  Groups groups = groups_of(layer);
  Reasons reasons;
  if (find_folding(groups, reasons)) {
    // The normalization is in the weights, which differ for that reason.
    std::erase_if(groups.only_a,
                  [&](NodeId id) { return groups.node_a(id).op_type == "BatchNormalization"; });
    for (const NodePair& nodes : groups.both) find_attributes(groups, nodes, reasons);
  } else {
    for (const NodePair& nodes : groups.both) {
      find_attributes(groups, nodes, reasons);
      find_constants(groups, nodes, reasons);
    }
  }
  find_operators(groups, reasons);
  std::vector<Explanation> made;
  if (reasons.empty()) {
    Explanation unknown{0,
                        Cause::unknown,
                        layer.a.find(layer.values.a)->node,
                        layer.b.find(layer.values.b)->node,
                        "operators, attributes and constants are the same, but B's results are not",
                        {}};
    if (is_another_order(layer)) {
      unknown.cause = Cause::values_order;
      unknown.text = "the values are A's, in another order";
    }
    made.push_back(std::move(unknown));
    return made;
  }
  confirm_each(layer, reasons, threads);
  for (Reason& reason : reasons) made.push_back(std::move(reason.explanation));
  return made;
}

std::vector<Explanation> hidden_changes(const PartingLayer& layer) {
  const Groups groups = groups_of(layer);
  Reasons operators;
  find_operators(groups, operators);
  if (!operators.empty()) return {};
  Reasons reasons;
  // Shapes and axes may be written in other ways; weights are floating.
  const auto has_weights = [&](const NodePair& nodes) {
    return std::ranges::any_of(groups.node_a(nodes.a).inputs, [&](ValueId id) {
      const auto constant = groups.a.constant(id);
      return constant && is_floating(constant->dtype());
    });
  };
  for (const NodePair& nodes : groups.both)
    if (has_weights(nodes)) find_constants(groups, nodes, reasons);
  std::vector<Explanation> made;
  for (Reason& reason : reasons) made.push_back(std::move(reason.explanation));
  return made;
}

std::vector<Explanation> explain_without_original(const PartingLayer& layer) {
  std::vector<std::string_view> paired;
  for (const ValuePair& pair : layer.alignment.pairs) paired.push_back(pair.b);
  std::vector<Explanation> made;
  const Graph& graph = *layer.b.graph();
  for (const NodeId id : nodes_of(layer.b, layer.values.b, paired)) {
    const Node& node = graph.nodes[id];
    if (node.op_type == "QuantizeLinear" || node.op_type.starts_with("QLinear"))
      made.push_back(
          {0,
           Cause::quantized,
           "",
           node.name,
           fmt::format("{} ({}) of B rounds the values to integers", in_quotes(node.name), node.op_type),
           {}});
    for (const ValueId input : node.inputs) {
      const auto constant = layer.b.constant(input);
      if (!constant || !is_floating(constant->dtype()) || constant->elements() < 16) continue;
      const auto numbers = numbers_of(*constant);
      const bool narrow_numbers = std::ranges::all_of(
          numbers, [](double x) { return widen(float16_format, narrow(float16_format, x)) == x; });
      if (narrow_numbers)
        made.push_back(
            {0,
             Cause::float16,
             "",
             node.name,
             fmt::format("all {} elements of {} of B's {} ({}) are float16 numbers: it was rounded",
                         constant->elements(), in_quotes(graph.value_name(input)), in_quotes(node.name),
                         node.op_type),
             {}});
    }
  }
  if (made.empty())
    made.push_back(
        {0,
         Cause::unknown,
         layer.a.find(layer.values.a)->node,
         layer.b.find(layer.values.b)->node,
         "A is a trace without a model, so attributes and weights cannot be compared; name A's model "
         "for that",
         {}});
  return made;
}

}  // namespace driftscope::convert
