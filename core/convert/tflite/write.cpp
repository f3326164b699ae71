#include "core/convert/tflite/write.hpp"

#include <fmt/format.h>

#include <set>

#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite {
namespace {

// Offsets in a file have 31 bits; beside the constants there are tables for every tensor and operator.
constexpr std::size_t max_file_bytes = (std::size_t{1} << 31) - 1;
constexpr std::size_t bytes_per_tensor = 512;

Result<std::size_t> file_bytes(const tf::TfGraph& graph) {
  std::size_t sum = (graph.tensors.size() + 4 * graph.nodes.size()) * bytes_per_tensor;
  for (const auto& [name, constant] : graph.constants) {
    sum += constant.byte_size();
    if (sum > max_file_bytes)
      return limit_error("the constants are larger than the 2 GiB that a .tflite file can hold");
  }
  return sum;
}

Status write_node(Builder& builder, const tf::Node& node) {
  const auto found = operator_table().find(node.op);
  if (found == operator_table().end()) return unsupported(fmt::format("it lacks the operator {}", node.op));
  if (node.inputs.empty() && node.op != "Range")
    return internal_error(fmt::format("{} has no inputs", node.op));
  return found->second(builder, node);
}

// Names as the signature has them. An output that no operator computes is copied.
std::vector<std::pair<std::string, TensorIndex>> outputs_of(Builder& builder, const tf::TfGraph& graph) {
  const std::set<std::string> inputs(graph.inputs.begin(), graph.inputs.end());
  std::set<std::string> seen;
  std::vector<std::pair<std::string, TensorIndex>> outputs;
  for (const std::string& name : graph.outputs) {
    if (!seen.insert(name).second) continue;
    const TensorIndex tensor = builder.tensor(name);
    if (!inputs.contains(name) && builder.constant_value(name) == nullptr) {
      outputs.emplace_back(name, tensor);
      continue;
    }
    const tf::TensorInfo& info = builder.info(name);
    if (builder.constant_value(name) != nullptr) {
      const TensorIndex copy = builder.add_computed(name + "/copy", info);
      builder.add_copy_of_constant(tensor, copy, info.dtype);
      outputs.emplace_back(name, copy);
      continue;
    }
    const std::vector<std::int32_t> shape(info.shape.begin(), info.shape.end());
    const TensorIndex target = builder.add_indices(name + "/shape", shape);
    const TensorIndex copy = builder.add_computed(name + "/copy", info);
    const auto options = fb::CreateReshapeOptionsDirect(builder.tables(), &shape);
    builder.add({fb::BuiltinOperator::RESHAPE, {tensor, target}, {copy}, Builder::options(options)});
    outputs.emplace_back(name, copy);
  }
  return outputs;
}

}  // namespace

Result<std::vector<std::byte>> write(const tf::TfGraph& graph,
                                     const std::map<std::string, std::string>& metadata,
                                     const char* description) {
  DRIFTSCOPE_TRY(const std::size_t bytes, file_bytes(graph));
  Builder builder(graph, bytes);
  for (const tf::Node& node : graph.nodes)
    if (Status written = write_node(builder, node); !written.ok())
      return in_context(written.error(), fmt::format("node {} in TensorFlow Lite",
                                                     node.source.empty() ? node.name : node.source));
  return builder.finish(outputs_of(builder, graph), metadata, description);
}

}  // namespace driftscope::tflite
