#include "core/engines/litert_webnn/conversion.hpp"

#include <set>

#include "core/convert/tflite/to_tflite.hpp"

namespace driftscope::litert {
namespace {

bool is_fused(const Node& node) { return node.op_type == "Relu" || node.op_type == "Clip"; }

std::set<std::string, std::less<>> fused_away(const Graph& graph) {
  std::set<std::string, std::less<>> names;
  for (const Node& node : graph.nodes) {
    const ValueId read = node.inputs.empty() ? no_value : node.inputs[0];
    if (!is_fused(node) || read == no_value || graph.values[read].producer == no_node) continue;
    const Node& producer = graph.nodes[graph.values[read].producer];
    if (producer.op_type == "Conv" || producer.op_type == "ConvTranspose")
      names.insert(graph.values[read].name);
  }
  return names;
}

}  // namespace

Result<convert::ConvertedModel> to_webnn(const Graph& graph, const convert::ConvertOptions& options) {
  const auto fused = fused_away(graph);
  convert::ConvertOptions kept = options;
  std::erase_if(kept.captured, [&](const std::string& name) { return fused.contains(name); });
  DRIFTSCOPE_TRY(convert::ConvertedModel model, tflite::to_litert(graph, kept));
  for (const std::string& name : options.captured)
    if (fused.contains(name)) {
      model.values.erase(name);
      model.without[name] =
          "Chromium 153's WebNN did not finish graphs that return a convolution before its activation";
    }
  return model;
}

}  // namespace driftscope::litert
