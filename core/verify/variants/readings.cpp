// Points where widely used runtimes interpret the ONNX specification in two ways.
// Compiled for size on the web (cmake/core.cmake).
#include "core/graph/attributes.hpp"
#include "core/ops/shared/recurrent.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::readings {
namespace {

// "clip … is applied to the input of activations": ONNX Runtime does not apply it to C, the input of h.
std::optional<Node> cell_not_clipped(const Node& node) {
  if (node.attribute("clip") == nullptr) return std::nullopt;
  Node other = node;
  other.attributes.push_back({std::string(clips_cell_attribute), std::int64_t{0}});
  return other;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "lstm-clip-without-cell",
             .name = "an LSTM whose clip leaves the cell state alone",
             .operators = {"LSTM"},
             .candidates = with_node(cell_not_clipped)});
}

}  // namespace driftscope::variants::readings
