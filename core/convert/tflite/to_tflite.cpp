#include "core/convert/tflite/to_tflite.hpp"

#include <nlohmann/json.hpp>

#include "core/convert/tf/from_onnx.hpp"
#include "core/convert/tflite/exchanged_types.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/write.hpp"

namespace driftscope::tflite {
namespace {

std::string values_json(const tf::Lowered& lowered) {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, place] : lowered.values) {
    nlohmann::json& entry = values[name] = {{"tensor", place.name}};
    if (!place.order.empty()) entry["order"] = place.order;
  }
  return values.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<convert::ConvertedModel> converted(tf::Lowered lowered) {
  DRIFTSCOPE_TRY(std::vector<std::byte> bytes,
                 write(lowered.graph, {{"driftscope.values", values_json(lowered)}}));
  convert::ConvertedModel model;
  model.files.push_back({"model.tflite", std::move(bytes)});
  model.values = std::move(lowered.values);
  model.without = std::move(lowered.without);
  model.facts = std::move(lowered.facts);
  return model;
}

}  // namespace

const tf::Dialect& dialect() {
  static const tf::Dialect made = {
      .name = "TensorFlow Lite",
      .explicit_paddings = true,
      .fully_connected = true,
      .quantized = true,
      .int64 = false,
      .max_rank = 6,
      .has = [](std::string_view op) { return operator_table().contains(op); },
  };
  return made;
}

Result<convert::ConvertedModel> to_tflite(const Graph& graph, const convert::ConvertOptions& options) {
  DRIFTSCOPE_TRY(tf::Lowered lowered, tf::from_onnx(graph, options, dialect()));
  return converted(std::move(lowered));
}

Result<convert::ConvertedModel> to_litert(const Graph& graph, const convert::ConvertOptions& options) {
  DRIFTSCOPE_TRY(tf::Lowered lowered, tf::from_onnx(graph, options, dialect()));
  exchange_plain_types(lowered);
  return converted(std::move(lowered));
}

}  // namespace driftscope::tflite
