// Compiled for size on the web (cmake/core.cmake).
#include "core/model/onnx_writer.hpp"

#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>
#include <string>

#include "core/base/text.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope {
namespace onnx_writing {
namespace {

using Writer = protozero::pbf_writer;

// Field numbers and AttributeProto's kinds are those of onnx.proto.
constexpr std::int32_t kind_float = 1, kind_int = 2, kind_string = 3, kind_tensor = 4, kind_graph = 5,
                       kind_floats = 6, kind_ints = 7, kind_strings = 8;

Result<std::string> graph_message(const ModelGraph& graph);

std::string tensor_message(const std::string& name, const Tensor& tensor) {
  std::string message;
  Writer writer(message);
  for (const std::int64_t size : tensor.shape()) writer.add_int64(1, size);
  writer.add_int32(2, static_cast<std::int32_t>(tensor.dtype()));
  if (!name.empty()) writer.add_string(8, name);
  writer.add_bytes(9, reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return message;
}

struct AttributeWriter {
  Writer& writer;

  Status operator()(float value) const {
    writer.add_float(2, value);
    return kind(kind_float);
  }
  Status operator()(std::int64_t value) const {
    writer.add_int64(3, value);
    return kind(kind_int);
  }
  Status operator()(const std::string& value) const {
    writer.add_bytes(4, value);
    return kind(kind_string);
  }
  Status operator()(const Tensor& value) const {
    writer.add_message(5, tensor_message("", value));
    return kind(kind_tensor);
  }
  Status operator()(const std::shared_ptr<const ModelGraph>& value) const {
    DRIFTSCOPE_TRY(const std::string message, graph_message(*value));
    writer.add_message(6, message);
    return kind(kind_graph);
  }
  Status operator()(const std::vector<float>& values) const {
    writer.add_packed_float(7, values.begin(), values.end());
    return kind(kind_floats);
  }
  Status operator()(const std::vector<std::int64_t>& values) const {
    writer.add_packed_int64(8, values.begin(), values.end());
    return kind(kind_ints);
  }
  Status operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) writer.add_bytes(9, value);
    return kind(kind_strings);
  }
  template <class Other>
  Status operator()(const Other&) const {
    return unsupported("an attribute of this kind cannot be written");
  }
  [[nodiscard]] Status kind(std::int32_t number) const {
    writer.add_int32(20, number);
    return {};
  }
};

Result<std::string> node_message(const ModelNode& node) {
  std::string message;
  Writer writer(message);
  for (const std::string& input : node.inputs) writer.add_string(1, input);
  for (const std::string& output : node.outputs) writer.add_string(2, output);
  if (!node.name.empty()) writer.add_string(3, node.name);
  writer.add_string(4, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    std::string part;
    Writer part_writer(part);
    part_writer.add_string(1, attribute.name);
    auto status = std::visit(AttributeWriter{part_writer}, attribute.value);
    if (!status.ok())
      return in_context(std::move(status).error(), fmt::format("node {}, attribute {}", in_quotes(node.name),
                                                               in_quotes(attribute.name)));
    writer.add_message(5, part);
  }
  if (!node.domain.empty()) writer.add_string(7, node.domain);
  return message;
}

std::string value_message(const ValueInfo& value) {
  std::string message;
  Writer writer(message);
  writer.add_string(1, value.name);
  if (value.dtype == DType::undefined) return message;
  std::string type;
  Writer tensor_type(type);
  tensor_type.add_int32(1, static_cast<std::int32_t>(value.dtype));
  if (value.shape) {
    std::string shape;
    Writer shape_writer(shape);
    for (const Dimension& dimension : *value.shape) {
      std::string one;
      Writer dimension_writer(one);
      if (dimension.known()) dimension_writer.add_int64(1, dimension.size);
      if (!dimension.known() && !dimension.symbol.empty()) dimension_writer.add_string(2, dimension.symbol);
      shape_writer.add_message(1, one);
    }
    tensor_type.add_message(2, shape);
  }
  std::string whole;
  Writer(whole).add_message(1, type);
  writer.add_message(2, whole);
  return message;
}

Result<std::string> graph_message(const ModelGraph& graph) {
  if (!graph.unsupported_initializers.empty())
    return unsupported(fmt::format("initializer {}: {}", in_quotes(graph.unsupported_initializers[0].name),
                                   graph.unsupported_initializers[0].reason));
  std::string message;
  Writer writer(message);
  for (const ModelNode& node : graph.nodes) {
    DRIFTSCOPE_TRY(const std::string part, node_message(node));
    writer.add_message(1, part);
  }
  writer.add_string(2, graph.name);
  std::size_t bytes = 0;
  for (const NamedTensor& one : graph.initializers) {
    bytes += one.tensor.byte_size();
    if (bytes > max_protobuf_bytes)
      return limit_error("the weights are larger than 2 GiB, the limit of protobuf");
    writer.add_message(5, tensor_message(one.name, one.tensor));
  }
  for (const ValueInfo& value : graph.inputs) writer.add_message(11, value_message(value));
  for (const ValueInfo& value : graph.outputs) writer.add_message(12, value_message(value));
  for (const ValueInfo& value : graph.value_infos) writer.add_message(13, value_message(value));
  return message;
}

}  // namespace
}  // namespace onnx_writing

Result<std::vector<std::byte>> write_onnx(const Model& model) {
  using namespace onnx_writing;
  DRIFTSCOPE_TRY(const std::string graph, graph_message(model.graph));
  if (graph.size() > max_protobuf_bytes - 4096)
    return limit_error("the model is larger than 2 GiB, the limit of protobuf");
  std::string message;
  Writer writer(message);
  writer.add_int64(1, model.ir_version);
  if (!model.producer.empty()) writer.add_string(2, model.producer);
  writer.add_message(7, graph);
  for (const auto& [domain, version] : model.opsets) {
    std::string opset;
    Writer opset_writer(opset);
    if (!domain.empty()) opset_writer.add_string(1, domain);
    opset_writer.add_int64(2, version);
    writer.add_message(8, opset);
  }
  const auto bytes = std::as_bytes(std::span(message));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace driftscope
