#include "core/model/onnx_reader.hpp"

#include <doctest/doctest.h>

#include "core/base/sha256.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::onnx_reader_test {
namespace {

Model read(const ModelBuilder& builder) {
  auto model = read_onnx(builder.bytes());
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  return *std::move(model);
}

Error failure(const std::vector<std::byte>& bytes) {
  const auto model = read_onnx(bytes);
  REQUIRE_MESSAGE(!model.ok(), "the model was accepted");
  return model.error();
}
Error failure(const ModelBuilder& builder) { return failure(builder.bytes()); }

/// A graph with one identity node.
ModelBuilder identity() {
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", 3, ""}).node("Identity", {"x"}, {"y"}).output("y");
  return builder;
}

template <class T>
const T& value(const ModelNode& node, std::size_t i) {
  REQUIRE(std::holds_alternative<T>(node.attributes.at(i).value));
  return std::get<T>(node.attributes.at(i).value);
}

}  // namespace

TEST_CASE("ReadOnnx_KeepsNamesTypesAndOrder") {
  auto builder = identity();
  builder.node("Add", {"y", ""}, {"z", ""}, {}, "com.example").named("sum");
  builder.producer("pytorch", "2.4").opset("com.example", 3).value_info("z", DType::int64, {7});
  const Model model = read(builder);
  CHECK(model.ir_version == 8);
  CHECK(model.producer == "pytorch 2.4");
  CHECK(model.opsets == std::map<std::string, std::int64_t>{{"", 21}, {"com.example", 3}});
  CHECK(model.sha256 == sha256_hex(builder.bytes()));
  CHECK(model.graph.name == "test");
  REQUIRE(model.graph.nodes.size() == 2);
  CHECK(model.graph.nodes[0].op_type == "Identity");
  CHECK(model.graph.nodes[0].name.empty());
  const ModelNode& sum = model.graph.nodes[1];
  CHECK(sum.name == "sum");
  CHECK(sum.domain == "com.example");
  CHECK(sum.inputs == std::vector<std::string>{"y", ""});
  CHECK(sum.outputs == std::vector<std::string>{"z", ""});
  REQUIRE(model.graph.inputs.size() == 1);
  CHECK(model.graph.inputs[0].dtype == DType::float32);
  REQUIRE(model.graph.inputs[0].shape);
  CHECK(*model.graph.inputs[0].shape == SymbolicShape{{-1, "N"}, {3, ""}, {-1, ""}});
  CHECK(shape_text(*model.graph.inputs[0].shape) == "Nx3x?");
  REQUIRE(model.graph.outputs.size() == 1);
  CHECK_FALSE(model.graph.outputs[0].shape);
  CHECK(model.graph.outputs[0].dtype == DType::undefined);
  REQUIRE(model.graph.value_infos.size() == 1);
  CHECK(model.graph.value_infos[0].dtype == DType::int64);
}

TEST_CASE("ReadOnnx_ReadsEveryKindOfAttribute") {
  const Tensor weights = tensor<float>({2}, {1.5f, -2.0f});
  ModelBuilder body("body");
  body.node("Relu", {"a"}, {"b"}).output("b");
  ModelBuilder builder;
  builder
      .node("Test", {}, {"y"},
            {real("f", 0.25f),
             integer("i", -7),
             text("s", "same\xff"),
             tensor_attribute("t", weights),
             reals("fs", {1.0f, -2.5f}),
             ints("is", {-1, INT64_MAX}),
             texts("ss", {"", "b"}),
             {"ts", std::vector<Tensor>{weights}}})
      .graph_attribute("g", body.graph_message())
      .output("y");
  const Model model = read(builder);
  const ModelNode& node = model.graph.nodes.at(0);
  CHECK(value<float>(node, 0) == 0.25f);
  CHECK(value<std::int64_t>(node, 1) == -7);
  CHECK(value<std::string>(node, 2) == "same\xff");  // bytes, not text
  CHECK(value<Tensor>(node, 3).values<float>()[1] == -2.0f);
  CHECK(value<std::vector<float>>(node, 4) == std::vector<float>{1.0f, -2.5f});
  CHECK(value<std::vector<std::int64_t>>(node, 5) == std::vector<std::int64_t>{-1, INT64_MAX});
  CHECK(value<std::vector<std::string>>(node, 6) == std::vector<std::string>{"", "b"});
  CHECK(value<std::vector<Tensor>>(node, 7).at(0).elements() == 2);
  const auto& graph = value<std::shared_ptr<const ModelGraph>>(node, 8);
  CHECK(graph->name == "body");
  CHECK(graph->nodes.at(0).op_type == "Relu");
}

TEST_CASE("ReadOnnx_PackedIntegersOfAnAttributeAreTheSame") {
  std::string attribute;
  protozero::pbf_writer writer(attribute);
  writer.add_string(1, "pads");
  const std::vector<std::int64_t> pads{1, -2, 300};
  writer.add_packed_int64(8, pads.begin(), pads.end());
  writer.add_int64(20, 7);
  std::string node;
  protozero::pbf_writer(node).add_string(4, "Pad");
  protozero::pbf_writer(node).add_message(5, attribute);
  const Model model = read(ModelBuilder().graph_field(1, node));
  CHECK(value<std::vector<std::int64_t>>(model.graph.nodes.at(0), 0) == pads);
}

TEST_CASE("ReadOnnx_AiOnnxIsTheOnnxDomain") {
  ModelBuilder builder;
  builder.opset(0).opset("ai.onnx", 13).node("Relu", {"x"}, {"y"}, {}, "ai.onnx");
  const Model model = read(builder);
  CHECK(model.opsets == std::map<std::string, std::int64_t>{{"", 13}});
  CHECK(model.graph.nodes[0].domain.empty());
}

TEST_CASE("ReadOnnx_OpsetThatIsNone_IsRejectedAndLaterOnesAreNot") {
  for (const std::int64_t version : {1, 21, 22, 99}) CHECK(read_onnx(identity().opset(version).bytes()).ok());
  const Error error = failure(identity().opset(-1));
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(holds(error.message, "opset -1"));
}

TEST_CASE("ReadOnnx_TwoOpsetsForOneDomain_TheLastCountsAndIsNoted") {
  const Model model = read(identity().opset("ai.onnx", 13));
  CHECK(model.opsets.at("") == 13);
  REQUIRE(model.notes.size() == 1);
  CHECK(note_text(model.notes[0]) ==
        "domain 'ai.onnx' is imported as opset 21 and as opset 13, read as the last");
}

TEST_CASE("ReadOnnx_IrVersionBefore3_IsRejected") {
  CHECK(read_onnx(identity().ir_version(3).bytes()).ok());
  const Error error = failure(identity().ir_version(2));
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(holds(error.message, "IR version 2"));
}

TEST_CASE("ReadOnnx_NoModelAtAll_SaysSo") {
  CHECK(holds(failure(std::vector<std::byte>{}).message, "empty"));
  CHECK(holds(failure(bytes_of("\x08\x08")).message, "no graph"));
  CHECK_FALSE(read_onnx(bytes_of("<!DOCTYPE html><html>")).ok());
}

TEST_CASE("ReadOnnx_AnotherKindOfFile_IsNamed") {
  const std::pair<std::string_view, const char*> files[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 123\n", "git lfs pull"},
      {std::string_view("PK\x03\x04\x14\0\0\0", 8), "ZIP archive"},
      {std::string_view("\x1c\0\0\0TFL3\x14\0", 10), "TensorFlow Lite"},
      {std::string_view("\x40\0\0\0\0\0\0\0{\"x\":", 13), "safetensors"},
      {"<!DOCTYPE html><title>Sign in</title>", "HTML page"},
      {"weights to follow\n", "not an ONNX model but a text file"}};
  for (const auto& [text, words] : files) {
    CAPTURE(words);
    const auto file = bytes_of(text);
    CHECK(holds(failure(file).message, words));
    const auto deferred = read_onnx(source_of(file), no_external_data(), Weights::deferred);
    REQUIRE_FALSE(deferred.ok());
    CHECK(holds(deferred.error().message, words));
  }
  // A damaged model is still recognised as one.
  auto damaged = identity().bytes();
  damaged.resize(damaged.size() - 3);
  CHECK_FALSE(holds(failure(damaged).message, "not an ONNX model but"));
}

TEST_CASE("ReadOnnx_SparseTensors_CannotBeHeldAndAreNamed") {
  std::string sparse;
  protozero::pbf_writer(sparse).add_message(1, tensor_message("w", tensor<float>({1}, {2})));
  const Model model = read(identity().graph_field(15, sparse));
  REQUIRE(model.graph.unsupported_initializers.size() == 1);
  CHECK(model.graph.unsupported_initializers[0].name == "w");
  CHECK(holds(model.graph.unsupported_initializers[0].reason, "sparse"));
}

TEST_CASE("ReadOnnx_InputThatIsASequence_IsRefusedByName") {
  std::string info;
  protozero::pbf_writer writer(info);
  writer.add_string(1, "list");
  {
    protozero::pbf_writer type(writer, 2);
    type.add_message(4, std::string());
  }
  const Error error = failure(identity().graph_field(11, info));
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK(holds(error.message, "'list'"));
  CHECK(holds(error.message, "sequence"));
  CHECK(read_onnx(identity().graph_field(13, info).bytes()).ok());  // an inner value may have such a type
}

TEST_CASE("ReadOnnx_OutputThatIsASequence_IsSetApart") {
  std::string info;
  protozero::pbf_writer writer(info);
  writer.add_string(1, "list");
  {
    protozero::pbf_writer type(writer, 2);
    type.add_message(4, std::string());
  }
  const Model model = read(identity().graph_field(12, info).output("words", DType::string, {2}));
  REQUIRE(model.graph.other_outputs.size() == 2);
  CHECK(model.graph.other_outputs[0].name == "list");
  CHECK(model.graph.other_outputs[0].reason == "sequence");
  CHECK(model.graph.other_outputs[1].reason == "tensor of strings");
  CHECK(model.graph.outputs.size() == 1);
}

TEST_CASE("ReadOnnx_DamageIsLocated") {
  // Node 1 with an attribute whose integer list is cut.
  std::string attribute;
  protozero::pbf_writer(attribute).add_string(1, "pads");
  attribute += "\x42\x05\x01";  // field 8, five bytes, one there
  std::string node;
  protozero::pbf_writer(node).add_string(3, "mine");
  protozero::pbf_writer(node).add_string(4, "Pad");
  protozero::pbf_writer(node).add_message(5, attribute);
  // The builder writes its own nodes first.
  const std::string message = failure(identity().graph_field(1, node)).message;
  CHECK(message ==
        "model: graph: node 1 'mine' ('Pad'): attribute 'pads': truncated protobuf message: the file "
        "is truncated or damaged");
}

TEST_CASE("ReadOnnx_LengthsBeyond32Bits_AreNotTakenModulo") {
  // Field 2 (producer_name): 2^32 + 5 is 5 modulo 2^32; 2^31 + 5 is negative as a 32-bit number.
  for (const std::string& length :
       {std::string("\x85\x80\x80\x80\x10", 5), std::string("\x85\x80\x80\x80\x08", 5)}) {
    const std::string message = "\x12" + length + "hello" + identity().message();
    CHECK(holds(failure(bytes_of(message)).message, "truncated"));
    CHECK_FALSE(read_onnx(bytes_of("\x9a\x06" + length + "hello")).ok());  // an unknown field
  }
}

TEST_CASE("ReadOnnx_WrongWireTypes_AreRejected") {
  std::string node;
  protozero::pbf_writer(node).add_int64(4, 1);  // op_type as a number
  CHECK(holds(failure(identity().graph_field(1, node)).message, "not of the type"));
  std::string number;
  protozero::pbf_writer(number).add_string(1, "eight");  // ir_version as text
  CHECK_FALSE(read_onnx(bytes_of(number)).ok());
  std::string real_as_integer = attribute_message(integer("i", 1));
  protozero::pbf_writer(real_as_integer).add_int64(2, 1);  // f
  std::string other;
  protozero::pbf_writer(other).add_message(5, real_as_integer);
  CHECK_FALSE(read_onnx(identity().graph_field(1, other).bytes()).ok());
}

TEST_CASE("ReadOnnx_NamesThatCannotBeShown_AreRejected") {
  const Error error = failure(identity().node("Relu", {"\xff"}, {"z"}));
  CHECK(holds(error.message, "the name '\\xff' is not UTF-8"));
  // A terminal would interpret it.
  CHECK(holds(failure(identity().node("Relu", {"\x1b[2J"}, {"z"})).message, "'\\x1b[2J'"));
  CHECK(read(identity().producer("pytorch", "\xff")).producer == "(unreadable)");
}

TEST_CASE("ReadOnnx_SubgraphsNestedTooDeeply_AreRejected") {
  const auto nested = [](int depth) {
    std::string body = ModelBuilder("inner").node("Relu", {"a"}, {"b"}).graph_message();
    for (int i = 0; i < depth; ++i)
      body = ModelBuilder().node("If", {"c"}, {"d"}).graph_attribute("then_branch", body).graph_message();
    std::string model;
    protozero::pbf_writer writer(model);
    writer.add_int64(1, 8);
    writer.add_message(7, body);
    return bytes_of(model);
  };
  CHECK(read_onnx(nested(16)).ok());
  const Error error = failure(nested(17));
  CHECK(error.kind == ErrorKind::limit);
  CHECK(holds(error.message, "limit of 16"));
  CHECK(failure(nested(200)).kind == ErrorKind::limit);
}

TEST_CASE("ReadOnnx_AttributeWithoutTypeOrValue_IsRejected") {
  const auto model_with = [](const std::string& attribute) {
    std::string node;
    protozero::pbf_writer(node).add_message(5, attribute);
    return identity().graph_field(1, node);
  };
  std::string named;
  protozero::pbf_writer(named).add_string(1, "axis");
  CHECK(holds(failure(model_with(named)).message, "'axis': its type is 0"));
  protozero::pbf_writer(named).add_int64(20, 4);
  CHECK(holds(failure(model_with(named)).message, "it has none"));
  std::string nameless;
  protozero::pbf_writer(nameless).add_int64(20, 2);
  CHECK(holds(failure(model_with(nameless)).message, "no name"));
}

TEST_CASE("ReadOnnx_TwoGraphs_AreRejected") {
  CHECK(holds(failure(identity().model_field(7, "")).message, "two graphs"));
}

TEST_CASE("ReadOnnx_DeclaredShapes_AreChecked") {
  const auto declared = [](std::int64_t size, std::size_t rank) {
    std::string dimension;
    protozero::pbf_writer(dimension).add_int64(1, size);
    std::string info;
    protozero::pbf_writer writer(info);
    writer.add_string(1, "v");
    protozero::pbf_writer type(writer, 2);
    protozero::pbf_writer tensor_type(type, 1);
    tensor_type.add_int32(1, 1);
    protozero::pbf_writer shape(tensor_type, 2);
    for (std::size_t i = 0; i < rank; ++i) shape.add_message(1, dimension);
    shape.commit();
    tensor_type.commit();
    type.commit();
    return identity().graph_field(13, info);
  };
  CHECK(read(declared(4, 32)).graph.value_infos.at(0).shape->size() == 32);
  CHECK(read(declared(-1, 1)).graph.value_infos.at(0).shape->at(0) == Dimension{});
  CHECK_FALSE(read(declared(-2, 1)).graph.value_infos.at(0).shape->at(0).known());
  CHECK(failure(declared(4, 33)).kind == ErrorKind::limit);
}

}  // namespace driftscope::test::onnx_reader_test
