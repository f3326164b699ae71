// A product with packed weights without the zero points that the model gives: what ONNX Runtime's CPU kernel
// of MatMulNBits computes where g_idx is given, too (seen in 1.32).
// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/variant.hpp"

namespace driftscope::variants::zero_points_missing {
namespace {

std::optional<Node> without_zero_points(const Node& node) {
  if (node.inputs.size() < 4 || node.inputs[3] == no_value) return std::nullopt;
  Node other = node;
  other.inputs[3] = no_value;
  return other;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "parameter",
             .id = "zero_points_missing",
             .name = "the zero points left out",
             .operators = {"com.microsoft.MatMulNBits"},
             .candidates = with_node(without_zero_points)});
}

}  // namespace driftscope::variants::zero_points_missing
