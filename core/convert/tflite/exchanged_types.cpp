#include "core/convert/tflite/exchanged_types.hpp"

#include <algorithm>

namespace driftscope::tflite {
namespace {

bool is_exchanged(DType dtype) {
  return dtype == DType::float32 || dtype == DType::int32 || dtype == DType::uint8;
}

DType carrier(DType dtype) { return is_floating(dtype) ? DType::float32 : DType::int32; }

tf::Node cast(std::string name, const std::string& from, DType from_type, DType to_type) {
  return {std::move(name), "Cast", {from}, {{"SrcT", from_type}, {"DstT", to_type}}, {}};
}

// The outside sees another tensor, which takes the place of `inner` among inputs or outputs.
std::string other_tensor(tf::Lowered& lowered, const std::string& inner, std::string_view suffix) {
  tf::TensorInfo info = lowered.graph.tensors.at(inner);
  info.dtype = carrier(info.dtype);
  info.quantization = {};
  const std::string outer = lowered.graph.unused_name(inner + std::string(suffix));
  for (auto& [name, place] : lowered.values)
    if (place.name == inner) {
      place.name = outer;
      place.dtype = info.dtype;
    }
  lowered.graph.tensors[outer] = std::move(info);
  return outer;
}

bool is_quantized_int8(const tf::TensorInfo& info) {
  return info.dtype == DType::int8 && info.quantization.scales.size() == 1;
}

// Accelerators keep quantized values as real numbers, and their CAST of these to int32 is 0 everywhere; one
// quantized type as another they have. Returns the tensor of uint8.
std::string as_uint8(tf::Lowered& lowered, const std::string& inner) {
  constexpr std::int64_t offset = 128;
  tf::TensorInfo info = lowered.graph.tensors.at(inner);
  info.dtype = DType::uint8;
  for (std::int64_t& zero : info.quantization.zero_points) zero += offset;
  std::string outer = lowered.graph.unused_name(inner + "/uint8");
  for (auto& [name, place] : lowered.values)
    if (place.name == inner) {
      place.name = outer;
      place.dtype = info.dtype;
      place.offset = offset;
    }
  lowered.graph.tensors[outer] = std::move(info);
  lowered.graph.nodes.push_back({outer, "QuantizeV2", {inner}, {}, {}});
  return outer;
}

}  // namespace

void exchange_plain_types(tf::Lowered& lowered) {
  tf::TfGraph& graph = lowered.graph;
  std::vector<tf::Node> nodes;
  for (std::string& input : graph.inputs) {
    const DType dtype = graph.tensors.at(input).dtype;
    if (is_exchanged(dtype)) continue;
    const bool is_output =
        std::find(graph.outputs.begin(), graph.outputs.end(), input) != graph.outputs.end();
    const std::string inner = input;
    input = other_tensor(lowered, inner, "/in");
    if (is_output) std::replace(graph.outputs.begin(), graph.outputs.end(), inner, input);
    nodes.push_back(cast(inner, input, carrier(dtype), dtype));
  }
  graph.nodes.insert(graph.nodes.begin(), nodes.begin(), nodes.end());
  std::map<std::string, std::string> outer;
  for (std::string& output : graph.outputs) {
    const DType dtype = graph.tensors.at(output).dtype;
    if (is_exchanged(dtype)) continue;
    const auto [found, is_new] = outer.try_emplace(output);
    if (is_new && is_quantized_int8(graph.tensors.at(output))) {
      found->second = as_uint8(lowered, output);
    } else if (is_new) {
      const std::string inner = output;
      found->second = other_tensor(lowered, inner, "/out");
      graph.nodes.push_back(cast(found->second, inner, dtype, carrier(dtype)));
    }
    output = found->second;
  }
}

}  // namespace driftscope::tflite
