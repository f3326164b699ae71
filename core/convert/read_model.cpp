#include "core/convert/read_model.hpp"

#include "core/convert/tf/to_onnx.hpp"
#include "core/convert/tfjs/reader/read.hpp"
#include "core/convert/tflite/reader/read.hpp"

namespace driftscope::convert {

Result<std::optional<ForeignModel>> read_foreign_model(std::span<const std::byte> bytes,
                                                       const FilesBeside& files) {
  ForeignModel made;
  tf::TfGraph graph;
  if (driftscope::tflite::is_tflite(bytes)) {
    made.kind = "TensorFlow Lite";
    DRIFTSCOPE_TRY(graph, driftscope::tflite::read(bytes));
  } else if (const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
             tfjs::is_tfjs_model(text)) {
    made.kind = "TensorFlow.js";
    const auto counted = [&](const std::string& name) {
      auto loaded = files(name);
      if (loaded.ok()) made.weight_bytes += loaded->size();
      return loaded;
    };
    DRIFTSCOPE_TRY(graph, tfjs::read_graph_model(text, counted));
  } else {
    return std::optional<ForeignModel>();
  }
  auto model = tf::to_onnx(graph);
  if (!model.ok()) return in_context(std::move(model).error(), made.kind + " model");
  made.model = *std::move(model);
  made.values.insert(graph.inputs.begin(), graph.inputs.end());
  for (const tf::Node& node : graph.nodes) made.values.insert(node.name);
  for (const auto& [name, info] : graph.tensors) made.values.insert(name);
  return std::optional(std::move(made));
}

}  // namespace driftscope::convert
