#include "core/convert/tflite/captured_copies.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace driftscope::tflite {
namespace {

std::set<std::string, std::less<>> read_by_nodes(const tf::TfGraph& graph) {
  std::set<std::string, std::less<>> names;
  for (const tf::Node& node : graph.nodes) names.insert(node.inputs.begin(), node.inputs.end());
  return names;
}

Result<std::string> add_one(tf::TfGraph& graph) {
  constexpr std::array<float, 1> one = {1.0F};
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<float>({}, one));
  std::string name = graph.unused_name("captured/one");
  graph.tensors[name] = {DType::float32, {}, {}};
  graph.constants[name] = std::move(tensor);
  return name;
}

}  // namespace

Status copy_captured(tf::Lowered& lowered, const std::vector<std::string>& captured) {
  tf::TfGraph& graph = lowered.graph;
  const auto read = read_by_nodes(graph);
  std::map<std::string, std::string> copies;  // of a tensor: several of our values may be one
  std::string one;
  for (const std::string& name : captured) {
    const auto place = lowered.values.find(name);
    if (place == lowered.values.end()) continue;
    const std::string original = place->second.name;
    const tf::TensorInfo info = graph.tensors.at(original);
    if (info.dtype != DType::float32 || !read.contains(original) || graph.constants.contains(original))
      continue;
    const auto [copy, is_new] = copies.try_emplace(original);
    if (is_new) {
      if (one.empty()) {
        DRIFTSCOPE_TRY(one, add_one(graph));
      }
      copy->second = graph.unused_name(original + "/captured");
      graph.tensors[copy->second] = info;
      graph.nodes.push_back({copy->second, "Mul", {original, one}, {{"T", DType::float32}}, {}});
      std::replace(graph.outputs.begin(), graph.outputs.end(), original, copy->second);
    }
    place->second.name = copy->second;
  }
  return {};
}

}  // namespace driftscope::tflite
