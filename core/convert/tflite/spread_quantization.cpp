#include "core/convert/tflite/spread_quantization.hpp"

#include <set>

namespace driftscope::tflite {

void spread_quantization(tf::TfGraph& graph) {
  static const std::set<std::string_view> movers = {"MaxPool", "Reshape",      "Transpose", "Identity", "Squeeze",
                                                    "Slice",   "StridedSlice", "Pad",       "ExpandDims"};
  for (bool changed = true; changed;) {
    changed = false;
    for (const tf::Node& node : graph.nodes) {
      if (!movers.contains(node.op)) continue;
      tf::TensorInfo& from = graph.tensors.at(node.inputs[0]);
      tf::TensorInfo& to = graph.tensors.at(node.name);
      if (from.dtype != to.dtype || from.quantization.scales.size() == to.quantization.scales.size()) continue;
      if (from.quantization.scales.size() > 1 || to.quantization.scales.size() > 1) continue;
      (to.quantization.scales.empty() ? to : from).quantization =
          to.quantization.scales.empty() ? from.quantization : to.quantization;
      changed = true;
    }
  }
}

}  // namespace driftscope::tflite
