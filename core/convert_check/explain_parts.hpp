// The parts of an explanation. Clients: the files explain*.cpp only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/convert_check/explain.hpp"

namespace driftscope::convert {

/// The nodes of both sides that make a pair of values from other pairs.
struct NodePair {
  NodeId a = no_node;
  NodeId b = no_node;
};
struct Groups {
  const Side& a;
  const Side& b;
  std::vector<NodePair> both;  ///< the same kind of operator
  std::vector<NodeId> only_a;
  std::vector<NodeId> only_b;

  [[nodiscard]] const Node& node_a(NodeId id) const { return a.graph()->nodes[id]; }
  [[nodiscard]] const Node& node_b(NodeId id) const { return b.graph()->nodes[id]; }
};

/// What was found, and how A's graph is changed into what B does.
struct Reason {
  Explanation explanation;
  std::function<void(Graph&)> apply = {};
};
using Reasons = std::vector<Reason>;

void find_operators(const Groups& groups, Reasons& reasons);
void find_attributes(const Groups& groups, const NodePair& nodes, Reasons& reasons);
/// Strides, dilations and pads of windows as they work out, since pads are written in several ways. Returns
/// whether they were compared.
bool find_window(const Groups& groups, const NodePair& nodes, Reasons& reasons);
/// "'conv1' (Conv)".
[[nodiscard]] std::string label(const Node& node);
void find_constants(const Groups& groups, const NodePair& nodes, Reasons& reasons);
/// A BatchNormalization of A that B has in the weights of the node before it. Returns whether there is one:
/// the weights then differ for that reason.
bool find_folding(const Groups& groups, Reasons& reasons);

/// Weights as [in, out] (products) or as they are; and back.
[[nodiscard]] Tensor plain_weights(const Node& node, std::size_t input, const Tensor& tensor);

/// Gives input `input` of the node another constant.
[[nodiscard]] std::function<void(Graph&)> with_constant(NodeId node, std::size_t input, Tensor constant);

}  // namespace driftscope::convert
