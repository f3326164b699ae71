#include "unit/support/model_builder.hpp"

namespace driftscope::test {
namespace {

// Field numbers of onnx.proto.
void write_value(protozero::pbf_writer& writer, std::monostate) { writer.add_int64(20, 0); }
void write_value(protozero::pbf_writer& writer, float value) {
  writer.add_float(2, value);
  writer.add_int64(20, 1);
}
void write_value(protozero::pbf_writer& writer, std::int64_t value) {
  writer.add_int64(3, value);
  writer.add_int64(20, 2);
}
void write_value(protozero::pbf_writer& writer, const std::string& value) {
  writer.add_bytes(4, value);
  writer.add_int64(20, 3);
}
void write_value(protozero::pbf_writer& writer, const Tensor& value) {
  writer.add_message(5, tensor_message("", value));
  writer.add_int64(20, 4);
}
void write_value(protozero::pbf_writer& writer, const std::vector<float>& values) {
  for (const float value : values) writer.add_float(7, value);  // unpacked, as proto2 has it
  writer.add_int64(20, 6);
}
void write_value(protozero::pbf_writer& writer, const std::vector<std::int64_t>& values) {
  for (const std::int64_t value : values) writer.add_int64(8, value);
  writer.add_int64(20, 7);
}
void write_value(protozero::pbf_writer& writer, const std::vector<std::string>& values) {
  for (const std::string& value : values) writer.add_bytes(9, value);
  writer.add_int64(20, 8);
}
void write_value(protozero::pbf_writer& writer, const std::vector<Tensor>& values) {
  for (const Tensor& value : values) writer.add_message(10, tensor_message("", value));
  writer.add_int64(20, 9);
}
void write_value(protozero::pbf_writer&, const std::shared_ptr<const ModelGraph>&) {
  FAIL("write graphs with ModelBuilder::graph_attribute");
}
void write_value(protozero::pbf_writer&, const std::vector<std::shared_ptr<const ModelGraph>>&) {
  FAIL("lists of graphs are not written");
}

}  // namespace

std::string tensor_message(const std::string& name, const Tensor& tensor) {
  std::string out;
  protozero::pbf_writer writer(out);
  for (const std::int64_t size : tensor.shape()) writer.add_int64(1, size);
  writer.add_int32(2, static_cast<std::int32_t>(tensor.dtype()));
  if (!name.empty()) writer.add_string(8, name);
  const auto bytes = tensor.bytes();
  writer.add_bytes(9, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out;
}

std::string attribute_message(const Attribute& attribute) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_string(1, attribute.name);
  std::visit([&](const auto& value) { write_value(writer, value); }, attribute.value);
  if (!attribute.reference.empty()) writer.add_string(21, attribute.reference);
  return out;
}

std::string value_info_message(const std::string& name, DType dtype, const std::vector<Dim>* dims) {
  std::string out;
  protozero::pbf_writer info(out);
  info.add_string(1, name);
  protozero::pbf_writer type(info, 2);
  protozero::pbf_writer tensor_type(type, 1);
  tensor_type.add_int32(1, static_cast<std::int32_t>(dtype));
  if (dims == nullptr) return tensor_type.commit(), type.commit(), out;
  std::string shape;  // of a scalar empty, and there all the same
  for (const Dim& dim : *dims) {
    std::string dimension;  // empty: unknown; protozero would leave out an empty nested writer
    if (dim.size >= 0 || dim.size < -1)
      protozero::pbf_writer(dimension).add_int64(1, dim.size);
    else if (!dim.symbol.empty())
      protozero::pbf_writer(dimension).add_string(2, dim.symbol);
    protozero::pbf_writer(shape).add_message(1, dimension);
  }
  tensor_type.add_message(2, shape);
  tensor_type.commit();
  type.commit();
  return out;
}

std::vector<std::byte> bytes_of(std::string_view message) {
  const auto view = std::as_bytes(std::span(message));
  return {view.begin(), view.end()};
}

ModelBuilder& ModelBuilder::opset(std::int64_t version) {
  onnx_opset_ = version;
  return *this;
}

ModelBuilder& ModelBuilder::opset(const std::string& domain, std::int64_t version) {
  protozero::pbf_writer model(model_);
  protozero::pbf_writer opset(model, 8);
  opset.add_string(1, domain);
  opset.add_int64(2, version);
  return *this;
}

ModelBuilder& ModelBuilder::ir_version(std::int64_t version) {
  ir_version_ = version;
  return *this;
}

ModelBuilder& ModelBuilder::producer(std::string name, std::string version) {
  producer_name_ = std::move(name);
  producer_version_ = std::move(version);
  return *this;
}

ModelBuilder& ModelBuilder::graph_field(std::uint32_t tag, const std::string& message) {
  protozero::pbf_writer(graph_).add_message(tag, message);
  return *this;
}

ModelBuilder& ModelBuilder::model_field(std::uint32_t tag, const std::string& message) {
  protozero::pbf_writer(model_).add_message(tag, message);
  return *this;
}

ModelBuilder& ModelBuilder::input(const std::string& name, DType dtype, const std::vector<Dim>& dims) {
  return graph_field(11, value_info_message(name, dtype, &dims));
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  std::string info;
  protozero::pbf_writer(info).add_string(1, name);
  return graph_field(12, info);
}

ModelBuilder& ModelBuilder::output(const std::string& name, DType dtype, const std::vector<Dim>& dims) {
  return graph_field(12, value_info_message(name, dtype, &dims));
}

ModelBuilder& ModelBuilder::value_info(const std::string& name, DType dtype, const std::vector<Dim>& dims) {
  return graph_field(13, value_info_message(name, dtype, &dims));
}

ModelBuilder& ModelBuilder::initializer(const std::string& name, const Tensor& tensor) {
  return graph_field(5, tensor_message(name, tensor));
}

ModelBuilder& ModelBuilder::node(const std::string& op_type, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::vector<Attribute>& attributes, const std::string& domain) {
  protozero::pbf_writer writer(nodes_.emplace_back());
  for (const std::string& input : inputs) writer.add_string(1, input);
  for (const std::string& output : outputs) writer.add_string(2, output);
  writer.add_string(4, op_type);
  for (const Attribute& attribute : attributes) writer.add_message(5, attribute_message(attribute));
  if (!domain.empty()) writer.add_string(7, domain);
  return *this;
}

ModelBuilder& ModelBuilder::named(const std::string& node_name) {
  protozero::pbf_writer(nodes_.back()).add_string(3, node_name);
  return *this;
}

ModelBuilder& ModelBuilder::graph_attribute(const std::string& name, const std::string& body) {
  protozero::pbf_writer node(nodes_.back());
  protozero::pbf_writer attribute(node, 5);
  attribute.add_string(1, name);
  attribute.add_message(6, body);
  attribute.add_int64(20, 5);
  return *this;
}

std::string ModelBuilder::graph_message() const {
  std::string out;
  protozero::pbf_writer writer(out);
  for (const std::string& node : nodes_) writer.add_message(1, node);
  writer.add_string(2, name_);
  return out + graph_;
}

std::string ModelBuilder::function_message(const std::string& domain, const std::vector<std::string>& inputs,
                                           const std::vector<std::string>& outputs,
                                           const std::vector<Attribute>& defaults) const {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_string(1, name_);
  for (const std::string& input : inputs) writer.add_string(4, input);
  for (const std::string& output : outputs) writer.add_string(5, output);
  for (const std::string& node : nodes_) writer.add_message(7, node);
  {
    protozero::pbf_writer opset(writer, 9);
    opset.add_string(1, "");
    opset.add_int64(2, onnx_opset_);
  }
  writer.add_string(10, domain);
  for (const Attribute& attribute : defaults) writer.add_message(11, attribute_message(attribute));
  return out;
}

std::string ModelBuilder::message() const {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_int64(1, ir_version_);
  if (!producer_name_.empty()) writer.add_string(2, producer_name_);
  if (!producer_version_.empty()) writer.add_string(3, producer_version_);
  writer.add_message(7, graph_message());
  if (onnx_opset_ != 0) {
    protozero::pbf_writer opset(writer, 8);
    opset.add_string(1, "");
    opset.add_int64(2, onnx_opset_);
  }
  return out + model_;
}

}  // namespace driftscope::test
