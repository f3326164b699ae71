// Writes ONNX models for tests, byte for byte as a file would hold them, so that tests of every layer
// go through the real reader. Clients: tests. It checks nothing: broken models are needed too.
//
//   const std::vector<std::byte> bytes =
//       ModelBuilder("tiny")
//           .input("x", DType::float32, {"N", 1, 28, 28})          // a text is a symbolic dimension
//           .initializer("w", tensor<float>({6, 1, 5, 5}, weights))
//           .node("Conv", {"x", "w"}, {"y"}, {ints("pads", {2, 2, 2, 2}), integer("group", 1)})
//           .node("Relu", {"y"}, {"z"}).named("my_relu")            // names the node before it
//           .output("z")
//           .bytes();
//   const Graph graph = built(bytes);       // read_onnx + build_graph; fails the test on an error
//
// The opset is 21 unless .opset(N) says otherwise, the IR version 8.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope::test {

/// A size, a symbol ("N"), or unknown ("").
struct Dim {
  Dim(std::int64_t s) : size(s) {}   // NOLINT: implicit
  Dim(int s) : size(s) {}            // NOLINT: implicit
  Dim(const char* s) : symbol(s) {}  // NOLINT: implicit
  std::int64_t size = -1;
  std::string symbol;
};

/// A tensor from values; their number must be that of the shape.
template <class T>
Tensor tensor(Shape shape, const std::vector<T>& values) {
  auto made = Tensor::from_values<T>(std::move(shape), values);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

// Attributes. The name says the ONNX kind.
inline Attribute integer(std::string name, std::int64_t value) { return {std::move(name), value}; }
inline Attribute real(std::string name, float value) { return {std::move(name), value}; }
inline Attribute text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }
inline Attribute ints(std::string name, std::vector<std::int64_t> value) {
  return {std::move(name), std::move(value)};
}
inline Attribute reals(std::string name, std::vector<float> value) {
  return {std::move(name), std::move(value)};
}
inline Attribute texts(std::string name, std::vector<std::string> value) {
  return {std::move(name), std::move(value)};
}
/// In the body of a function: the value of the function's attribute `of`.
inline Attribute reference(std::string name, std::string of) { return {std::move(name), {}, std::move(of)}; }
inline Attribute tensor_attribute(std::string name, Tensor value) {
  return {std::move(name), std::move(value)};
}

/// TensorProto with raw_data.
std::string tensor_message(const std::string& name, const Tensor& tensor);
/// AttributeProto; graphs are written through graph_attribute below.
std::string attribute_message(const Attribute& attribute);
/// ValueInfoProto of a tensor; without `dims` even the rank is unknown.
std::string value_info_message(const std::string& name, DType dtype, const std::vector<Dim>* dims);
/// A message as the bytes of a file.
std::vector<std::byte> bytes_of(std::string_view message);

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string graph_name = "test") : name_(std::move(graph_name)) {}

  /// Version of the ONNX domain; 0 leaves opset_import out.
  ModelBuilder& opset(std::int64_t version);
  ModelBuilder& opset(const std::string& domain, std::int64_t version);
  ModelBuilder& ir_version(std::int64_t version);
  ModelBuilder& producer(std::string name, std::string version);

  ModelBuilder& input(const std::string& name, DType dtype, const std::vector<Dim>& dims);
  ModelBuilder& output(const std::string& name);  ///< of unknown type
  ModelBuilder& output(const std::string& name, DType dtype, const std::vector<Dim>& dims);
  ModelBuilder& value_info(const std::string& name, DType dtype, const std::vector<Dim>& dims);
  ModelBuilder& initializer(const std::string& name, const Tensor& tensor);

  /// "" in inputs and outputs is an omitted one.
  ModelBuilder& node(const std::string& op_type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes = {},
                     const std::string& domain = "");
  ModelBuilder& named(const std::string& node_name);
  /// A graph attribute of the node before it; `body` is graph_message() of another builder.
  ModelBuilder& graph_attribute(const std::string& name, const std::string& body);

  // Any other field, by number and bytes: of the GraphProto, of the ModelProto.
  ModelBuilder& graph_field(std::uint32_t tag, const std::string& message);
  ModelBuilder& model_field(std::uint32_t tag, const std::string& message);

  [[nodiscard]] std::string graph_message() const;
  /// FunctionProto of the nodes, named as the graph; for model_field(25, …).
  [[nodiscard]] std::string function_message(const std::string& domain,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& outputs,
                                             const std::vector<Attribute>& defaults = {}) const;
  [[nodiscard]] std::string message() const;
  [[nodiscard]] std::vector<std::byte> bytes() const { return bytes_of(message()); }

 private:
  std::string name_;
  std::int64_t ir_version_ = 8;
  std::int64_t onnx_opset_ = 21;
  std::string producer_name_;
  std::string producer_version_;
  std::string graph_;  // fields of the GraphProto except nodes
  std::vector<std::string> nodes_;
  std::string model_;  // further fields of the ModelProto
};

/// The graph of these bytes; fails the test with the error's message.
[[nodiscard]] inline Graph built(std::span<const std::byte> bytes) {
  const auto model = read_onnx(bytes);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  auto graph = build_graph(*model);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}
[[nodiscard]] inline Graph built(const ModelBuilder& builder) { return built(builder.bytes()); }

/// The error message of reading and building; fails the test when there is none.
[[nodiscard]] inline Error build_failure(std::span<const std::byte> bytes) {
  const auto model = read_onnx(bytes);
  if (!model.ok()) return model.error();
  const auto graph = build_graph(*model);
  REQUIRE_MESSAGE(!graph.ok(), "the model was accepted");
  return graph.error();
}
[[nodiscard]] inline Error build_failure(const ModelBuilder& builder) {
  return build_failure(builder.bytes());
}

}  // namespace driftscope::test
