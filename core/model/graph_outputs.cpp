// Compiled for size on the web (cmake/core.cmake).
#include "core/model/graph_outputs.hpp"

#include <array>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "core/model/onnx_fields.hpp"
#include "core/model/onnx_parts.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/protobuf_fields.hpp"

namespace driftscope {
namespace {

/// A ModelProto, split at its graph.
struct AroundGraph {
  std::string_view before;
  std::string_view graph;  ///< the GraphProto, without tag and length
  std::string_view after;
};

/// Needed since read_fields does not report where a field begins.
Result<AroundGraph> cut_at_graph(std::span<const std::byte> model) {
  const std::string_view whole(reinterpret_cast<const char*>(model.data()), model.size());
  std::optional<AroundGraph> found;
  try {
    protozero::pbf_reader reader(whole.data(), whole.size());
    while (true) {
      const std::size_t begin = whole.size() - reader.data().size();
      if (!reader.next()) break;
      Field field(reader);
      if (field.tag() == onnx_field::model_graph) {
        if (found) return bad_input("model: it contains two graphs");
        const std::string_view graph = field.bytes();
        found = {whole.substr(0, begin), graph, whole.substr(whole.size() - reader.data().size())};
      }
      field.skip_if_unread();
    }
  } catch (const protozero::exception& exception) {
    return in_context(protobuf_error(exception), "model");
  }
  if (!found) return bad_input("model: it contains no graph: this is not an ONNX model");
  return *found;
}

// A TypeProto.
std::string type_message(const OutputType& type) {
  std::string shape;
  for (const std::int64_t size : type.shape) {
    std::string dimension;
    protozero::pbf_writer(dimension).add_int64(onnx_field::dimension_value, size);
    protozero::pbf_writer(shape).add_message(onnx_field::shape_dimension, dimension);
  }
  std::int32_t element = 0;
  for (std::int32_t number = 1; number < 64 && element == 0; ++number)
    if (dtype_from_onnx(number) == type.dtype) element = number;
  std::string tensor;
  protozero::pbf_writer writer(tensor);
  writer.add_int32(onnx_field::type_tensor_element, element);
  writer.add_message(onnx_field::type_tensor_shape, shape);
  std::string message;
  protozero::pbf_writer(message).add_message(onnx_field::type_tensor, tensor);
  return message;
}

Result<OutlineNode> outline_node(std::string_view message) {
  OutlineNode node;
  DRIFTSCOPE_CHECK(read_fields(message, [&](Field& field) -> Status {
    switch (field.tag()) {
      case 1: return read_name(field, node.inputs.emplace_back());
      case 2: return read_name(field, node.outputs.emplace_back());
      case 3: return read_name(field, node.name);
      case 4: return read_name(field, node.op_type);
      case 7: return read_name(field, node.domain);
      default: return {};
    }
  }));
  return node;
}

}  // namespace

Result<ModelOutline> outline_model(std::span<const std::byte> model) {
  DRIFTSCOPE_TRY(const AroundGraph parts, cut_at_graph(model));
  ModelOutline outline;
  DRIFTSCOPE_CHECK(read_fields(parts.graph, [&](Field& field) -> Status {
    if (field.tag() == onnx_field::graph_node) {
      DRIFTSCOPE_TRY(OutlineNode node, outline_node(field.bytes()));
      outline.nodes.push_back(std::move(node));
    } else if (field.tag() == onnx_field::graph_output) {
      std::string other_type;
      DRIFTSCOPE_TRY(ValueInfo info, read_value_info(field.bytes(), other_type));
      outline.outputs.push_back(std::move(info.name));
    }
    return {};
  }));
  return outline;
}

Result<std::vector<std::byte>> with_graph_outputs(std::span<const std::byte> model,
                                                  std::span<const std::string> names,
                                                  const std::map<std::string, OutputType>& types) {
  DRIFTSCOPE_TRY(const AroundGraph parts, cut_at_graph(model));
  std::string outputs;
  for (const std::string& name : names) {
    std::string info;
    protozero::pbf_writer(info).add_string(onnx_field::value_info_name, name);
    if (const auto type = types.find(name); type != types.end())
      protozero::pbf_writer(info).add_message(onnx_field::value_info_type, type_message(type->second));
    protozero::pbf_writer(outputs).add_message(onnx_field::graph_output, info);
  }
  std::string head;  // tag and length of the graph
  protozero::add_varint_to_buffer(
      &head, protozero::tag_and_type(onnx_field::model_graph, protozero::pbf_wire_type::length_delimited));
  protozero::add_varint_to_buffer(&head, parts.graph.size() + outputs.size());
  std::size_t size = 0;
  const std::array<std::string_view, 5> pieces = {parts.before, head, parts.graph, outputs, parts.after};
  for (const std::string_view piece : pieces) size += piece.size();
  if (size > max_protobuf_bytes) return protobuf_too_large("the model with its values as outputs");
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const std::string_view piece : pieces) {
    const auto more = std::as_bytes(std::span(piece));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

}  // namespace driftscope
