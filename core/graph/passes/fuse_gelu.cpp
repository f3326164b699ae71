#include <cmath>

#include "core/graph/passes/passes.hpp"
#include "core/graph/passes/rewriter.hpp"

namespace driftscope {
namespace {

bool is_operator(const Node& node, std::string_view op_type) {
  return node.op_type == op_type && node.domain.empty();
}

// A single number equal to `wanted` within a float's precision, whose rank does not exceed that of `beside`:
// exporters write √2 and its inverse with seven digits or more.
bool is_number(const GraphRewriter& rewriter, ValueId id, ValueId beside, double wanted) {
  const Tensor* constant = rewriter.float_constant(id);
  if (constant == nullptr || constant->elements() != 1) return false;
  const auto& shape = rewriter.graph().values[beside].shape;
  if (!constant->shape().empty() && (!shape || constant->shape().size() > shape->size())) return false;
  const auto got = static_cast<double>(constant->values<float>()[0]);
  return std::fabs(got - wanted) <= 1e-6 * std::fabs(wanted);
}

// The other operand of a binary node of this type that has the operand `one`.
std::optional<ValueId> beside(const Node& node, std::string_view op_type, ValueId one) {
  if (!is_operator(node, op_type) || node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == one) return node.inputs[1];
  if (node.inputs[1] == one) return node.inputs[0];
  return std::nullopt;
}

// If the node computes value·wanted: the value.
std::optional<ValueId> scaled_by(const GraphRewriter& rewriter, const Node& node, double wanted) {
  if (!is_operator(node, "Mul") || node.inputs.size() != 2) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (is_number(rewriter, node.inputs[1 - i], node.inputs[i], wanted)) return node.inputs[i];
  return std::nullopt;
}

// x, if the node computes x/√2.
std::optional<ValueId> over_root_two(const GraphRewriter& rewriter, const Node& node) {
  if (is_operator(node, "Div") && node.inputs.size() == 2 &&
      is_number(rewriter, node.inputs[1], node.inputs[0], std::sqrt(2.0)))
    return node.inputs[0];
  return scaled_by(rewriter, node, std::sqrt(0.5));
}

struct Found {
  ValueId x = no_value;
  std::vector<NodeId> others;  // other than Erf; the last one makes the result
};

// ½·x·(1 + erf(x/√2)), in each order of the products.
std::optional<Found> find_gelu(const GraphRewriter& rewriter, NodeId erf) {
  const Graph& graph = rewriter.graph();
  const auto producer = [&](ValueId id) { return id == no_value ? no_node : graph.values[id].producer; };
  const auto only_reader_is = [&](ValueId id, NodeId reader) { return rewriter.only_reader(id) == reader; };

  const ValueId argument = rewriter.node(erf).inputs[0];
  const NodeId divide = producer(argument);
  if (divide == no_node || !only_reader_is(argument, erf)) return std::nullopt;
  const auto x = over_root_two(rewriter, rewriter.node(divide));
  if (!x) return std::nullopt;

  const auto add = rewriter.only_reader(rewriter.node(erf).outputs[0]);
  if (!add) return std::nullopt;
  const auto one = beside(rewriter.node(*add), "Add", rewriter.node(erf).outputs[0]);
  if (!one || !is_number(rewriter, *one, argument, 1.0)) return std::nullopt;
  const ValueId sum = rewriter.node(*add).outputs[0];
  const auto first = rewriter.only_reader(sum);
  const auto factor = first ? beside(rewriter.node(*first), "Mul", sum) : std::nullopt;
  if (!factor) return std::nullopt;
  Found found{*x, {divide, *add, *first}};

  // sum·(x·½)
  if (const NodeId half = producer(*factor); half != no_node && only_reader_is(*factor, *first) &&
                                             scaled_by(rewriter, rewriter.node(half), 0.5) == x) {
    found.others.insert(found.others.begin(), half);
    return found;
  }
  // (sum·x)·½ or (sum·½)·x
  const ValueId product = rewriter.node(*first).outputs[0];
  const auto second = rewriter.only_reader(product);
  const auto rest = second ? beside(rewriter.node(*second), "Mul", product) : std::nullopt;
  if (!rest) return std::nullopt;
  const bool by_x_first = *factor == *x && is_number(rewriter, *rest, product, 0.5);
  const bool by_half_first = *rest == *x && is_number(rewriter, *factor, sum, 0.5);
  if (!by_x_first && !by_half_first) return std::nullopt;
  found.others.push_back(*second);
  return found;
}

}  // namespace

Graph fuse_gelu(Graph graph) {
  GraphRewriter rewriter(std::move(graph));
  for (NodeId id = 0; id < rewriter.node_count(); ++id) {
    if (rewriter.removed(id) || !is_operator(rewriter.node(id), "Erf")) continue;
    const auto found = find_gelu(rewriter, id);
    if (!found) continue;
    const ValueId made = rewriter.node(found->others.back()).outputs[0];
    rewriter.set_input(id, 0, found->x);
    for (const NodeId other : found->others) rewriter.remove(other);
    rewriter.set_output(id, made);
    rewriter.set_operator(id, "Gelu", 20);
  }
  return rewriter.take();
}

}  // namespace driftscope
