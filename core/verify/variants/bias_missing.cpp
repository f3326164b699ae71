// A sum of products without the bias that the model gives it.
#include "core/verify/variant.hpp"

namespace driftscope::variants::bias_missing {
namespace {

std::optional<Node> without_bias(const Node& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == no_value) return std::nullopt;
  Node other = node;
  other.inputs[2] = no_value;
  return other;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "parameter",
             .id = "bias_missing",
             .name = "the bias left out",
             .operators = {"Conv", "ConvTranspose", "Gemm"},
             .candidates = with_node(without_bias)});
}

}  // namespace driftscope::variants::bias_missing
