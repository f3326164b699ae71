#include "core/convert/tflite/to_tflite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/convert/tf/branches.hpp"
#include "core/convert/tf/from_onnx.hpp"
#include "core/convert/tflite/captured_copies.hpp"
#include "core/convert/tflite/exchanged_types.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/signed_values.hpp"
#include "core/convert/tflite/spread_quantization.hpp"
#include "core/convert/tflite/write.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/passes/passes.hpp"

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

bool exists(const Graph& graph, std::string_view name) {
  const auto id = graph.find_value(name);
  if (!id) return false;
  const Value& value = graph.values[*id];
  return value.producer != no_node || value.constant ||
         std::find(graph.inputs.begin(), graph.inputs.end(), *id) != graph.inputs.end();
}

// TensorFlow Lite has Gelu, but no Erf: the nodes that exporters write of it become one again.
Result<tf::Lowered> lowered(const Graph& graph, const convert::ConvertOptions& options) {
  DRIFTSCOPE_TRY(Graph believed, with_declared_shapes(graph));
  DRIFTSCOPE_TRY(tf::FlatGraph flat, tf::without_branches(std::move(believed)));
  DRIFTSCOPE_TRY(SignedGraph with_signs, signed_values(fuse_gelu(std::move(flat.graph))));
  const Graph& fused = with_signs.graph;
  convert::ConvertOptions kept{{}, options.options};
  std::vector<std::string> gone;
  for (const std::string& name : options.captured)
    (exists(fused, name) || !graph.find_value(name) ? kept.captured : gone).push_back(name);
  DRIFTSCOPE_TRY(tf::Lowered made, tf::from_onnx(fused, kept, dialect()));
  if (!flat.both.empty()) made.facts["both_branches"] = fmt::format("{}", fmt::join(flat.both, ", "));
  spread_quantization(made.graph);
  restore_shifted(made, with_signs.shifted);
  for (const std::string& name : gone)
    made.without[name] = "it is inside a Gelu, which is a single operator in TensorFlow Lite";
  return made;
}

Result<convert::ConvertedModel> converted(tf::Lowered lowered, const convert::ConvertOptions& options) {
  std::vector<std::byte> bytes;
  if (options.says_origin) {
    DRIFTSCOPE_TRY(bytes, write(lowered.graph, {{"driftscope.values", values_json(lowered)}}));
  } else {
    DRIFTSCOPE_TRY(bytes, write(lowered.graph, {}, "Converted from ONNX"));
  }
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
  DRIFTSCOPE_TRY(tf::Lowered made, lowered(graph, options));
  return converted(std::move(made), options);
}

Result<convert::ConvertedModel> to_litert(const Graph& graph, const convert::ConvertOptions& options) {
  DRIFTSCOPE_TRY(tf::Lowered made, lowered(graph, options));
  exchange_plain_types(made);
  return converted(std::move(made), options);
}

Result<convert::ConvertedModel> to_accelerator(const Graph& graph, const convert::ConvertOptions& options) {
  DRIFTSCOPE_TRY(tf::Lowered made, lowered(graph, options));
  DRIFTSCOPE_CHECK(copy_captured(made, options.captured));
  exchange_plain_types(made);
  return converted(std::move(made), options);
}

}  // namespace driftscope::tflite
