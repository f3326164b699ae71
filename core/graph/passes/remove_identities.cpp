#include "core/graph/passes/passes.hpp"
#include "core/graph/passes/rewriter.hpp"

namespace driftscope {
namespace {

bool passes_through(const GraphRewriter& rewriter, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == no_value) return false;
  if (node.outputs[0] == no_value) return false;
  if (node.op_type == "Identity") return true;
  if (node.op_type != "Dropout") return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;  // the mask
  if (node.inputs.size() < 3 || node.inputs[2] == no_value) return true;
  const auto& training = rewriter.graph().values[node.inputs[2]].constant;
  return training && training->elements() == 1 && training->bytes()[0] == std::byte{0};
}

}  // namespace

Graph remove_identities(Graph graph) {
  GraphRewriter rewriter(std::move(graph));
  for (NodeId id = 0; id < rewriter.node_count(); ++id) {
    const Node& node = rewriter.node(id);
    if (!passes_through(rewriter, node) || rewriter.is_output(node.outputs[0])) continue;
    const ValueId from = node.outputs[0];
    const ValueId to = node.inputs[0];
    rewriter.replace_reads(from, to);
    rewriter.remove(id);
  }
  return rewriter.take();
}

}  // namespace driftscope
