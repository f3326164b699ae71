#include "core/graph/build.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/graph/legacy.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::build_test {
namespace {

std::vector<std::string> node_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("BuildGraph_ResolvesNames") {
  const Graph graph = built(ModelBuilder("tiny")
                                .opset(13)
                                .input("x", DType::float32, {"N", 4})
                                .initializer("w", tensor<float>({4}, {1, 2, 3, 4}))
                                .node("Clip", {"x", "", "w"}, {"y", ""}, {integer("k", 3)})
                                .node("Relu", {"y"}, {"z"})
                                .value_info("y", DType::float32, {"N", 4})
                                .output("z", DType::float32, {"N", 4}));
  CHECK(graph.name == "tiny");
  REQUIRE(graph.inputs.size() == 1);
  CHECK(graph.value_name(graph.inputs[0]) == "x");
  const Node& clip = graph.nodes.at(0);
  CHECK(clip.name == "Clip_0");
  CHECK(clip.opset == 13);
  REQUIRE(clip.inputs.size() == 3);
  CHECK(clip.inputs[0] == graph.inputs[0]);
  CHECK(clip.inputs[1] == no_value);
  CHECK(graph.value_name(clip.inputs[1]) == "(omitted)");
  const Value& weight = graph.values.at(clip.inputs[2]);
  REQUIRE(weight.constant);
  CHECK(weight.static_shape() == Shape{4});
  CHECK(weight.producer == no_node);
  REQUIRE(clip.outputs.size() == 2);
  CHECK(clip.outputs[1] == no_value);
  const Value& y = graph.values.at(clip.outputs[0]);
  CHECK(y.producer == 0);
  CHECK(y.dtype == DType::float32);
  CHECK_FALSE(y.static_shape());
  REQUIRE(clip.attribute("k") != nullptr);
  CHECK(clip.attribute("absent") == nullptr);
  REQUIRE(graph.outputs.size() == 1);
  CHECK(graph.find_value("z") == graph.outputs[0]);
  CHECK_FALSE(graph.find_value("nobody"));
}

TEST_CASE("BuildGraph_NodesOutOfOrder_AreOrderedAndKeepFileOrderOtherwise") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1})
                                .node("Relu", {"b"}, {"c"})     // 0 needs 2
                                .node("Tanh", {"x"}, {"side"})  // 1
                                .node("Sigmoid", {"x"}, {"b"})  // 2
                                .node("Add", {"c", "side"}, {"y"})
                                .output("y"));
  CHECK(node_names(graph) == Names{"Tanh_1", "Sigmoid_2", "Relu_0", "Add_3"});
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const ValueId output : graph.nodes[i].outputs) CHECK(graph.values[output].producer == i);
}

TEST_CASE("BuildGraph_Cycle_NamesItsNodes") {
  const Error error = build_failure(ModelBuilder()
                                        .input("x", DType::float32, {1})
                                        .node("Relu", {"x"}, {"before"})
                                        .node("Add", {"before", "c"}, {"a"})
                                        .named("add")
                                        .node("Tanh", {"a"}, {"b"})
                                        .named("tanh")
                                        .node("Relu", {"b"}, {"c"})
                                        .named("relu")
                                        .node("Relu", {"c"}, {"after"})
                                        .output("after"));
  CHECK(error.kind == ErrorKind::bad_input);
  CHECK(error.message ==
        "graph: the graph has a cycle, so no node of it can run first: 'tanh' → 'relu' → 'add' → "
        "'tanh'");
}

TEST_CASE("BuildGraph_NodeThatNeedsItself_IsACycle") {
  const Error error = build_failure(ModelBuilder().node("Relu", {"a"}, {"a"}).output("a"));
  CHECK(holds(error.message, "'Relu_0' → 'Relu_0'"));
}

TEST_CASE("BuildGraph_DuplicateValueNames_AreRejected") {
  const auto one = [] {
    ModelBuilder builder;
    builder.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y");
    return builder;
  };
  CHECK(holds(build_failure(one().node("Tanh", {"x"}, {"y"})).message,
              "output of node 'Tanh_1': the name 'y' is already used by an output of node 'Relu_0'"));
  CHECK(holds(build_failure(one().node("Tanh", {"x"}, {"x"})).message, "a graph input"));
  CHECK(holds(build_failure(one().initializer("y", tensor<float>({1}, {0}))).message,
              "already used by an initializer"));
  CHECK(holds(build_failure(one().input("x", DType::float32, {1})).message, "'x' is listed twice"));
  const Tensor zero = tensor<float>({1}, {0});
  CHECK(holds(build_failure(one().initializer("w", zero).initializer("w", zero)).message,
              "initializer: the name 'w'"));
}

TEST_CASE("BuildGraph_MissingInput_NamesNodeAndValue") {
  const Error error =
      build_failure(ModelBuilder().node("Conv", {"x", "w"}, {"y"}).named("conv1").output("y"));
  CHECK(error.kind == ErrorKind::bad_input);
  CHECK(holds(error.message, "node 'conv1': value 'x' does not exist"));
}

TEST_CASE("BuildGraph_MissingOutput_IsNamed") {
  ModelBuilder builder;
  builder.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"});
  CHECK(holds(build_failure(builder).message, "no outputs"));
  CHECK(holds(build_failure(builder.output("z")).message, "graph output: value 'z'"));
}

TEST_CASE("BuildGraph_InitializerThatIsAnInput_IsAConstant") {
  const Graph graph = built(ModelBuilder()
                                .ir_version(3)
                                .input("x", DType::float32, {1})
                                .input("w", DType::float32, {1})
                                .initializer("w", tensor<float>({1}, {2}))
                                .node("Mul", {"x", "w"}, {"y"})
                                .output("y"));
  REQUIRE(graph.inputs.size() == 1);
  CHECK(graph.value_name(graph.inputs[0]) == "x");
  CHECK(graph.values[*graph.find_value("w")].constant);
}

TEST_CASE("BuildGraph_InitializerThatNeedNotBeAnInput_IsNoted") {
  const auto notes = [](std::int64_t ir) {
    return built(ModelBuilder()
                     .ir_version(ir)
                     .input("x", DType::float32, {1})
                     .input("w", DType::float32, {1})
                     .initializer("w", tensor<float>({1}, {2}))
                     .node("Mul", {"x", "w"}, {"y"})
                     .output("y"))
        .notes;
  };
  CHECK(notes(3).empty());
  REQUIRE(notes(4).size() == 1);
  CHECK(notes(4)[0].kind == NoteKind::overridable);
  CHECK(notes(4)[0].value == "w");
}

TEST_CASE("BuildGraph_DomainWithoutOpset_IsNoted") {
  const auto one = [](const std::string& domain) {
    ModelBuilder builder;
    builder.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}, {}, domain).output("y");
    return builder;
  };
  const Graph other = built(one("com.example"));
  REQUIRE(other.notes.size() == 1);
  CHECK(note_text(other.notes[0]) ==
        "domain 'com.example': the model does not say which opset it uses, read as opset 1");
  CHECK(built(one("").opset(0)).nodes[0].opset == max_known_opset);
  const Graph said = built(one("com.example").opset("com.example", 2));
  CHECK(said.nodes[0].opset == 2);
  CHECK(said.notes.empty());
}

TEST_CASE("BuildGraph_NamesThatStandForAnySize_AreUnknownSizesEach") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {"?", "?"})
                                .input("n", DType::float32, {"N", -7})
                                .node("MatMul", {"x", "n"}, {"y"})
                                .output("y", DType::float32, {"None", "N"}));
  const auto shape = [&](const char* name) { return *graph.values[*graph.find_value(name)].shape; };
  CHECK(shape("x") == SymbolicShape{{}, {}});
  CHECK(shape("n") == SymbolicShape{{-1, "N"}, {}});
  CHECK(shape("y") == SymbolicShape{{}, {-1, "N"}});
  CHECK(std::ranges::count(graph.notes, NoteKind::unnamed_dimension, &ModelNote::kind) == 2);
  CHECK(std::ranges::count(graph.notes, NoteKind::negative_dimension, &ModelNote::kind) == 1);
}

TEST_CASE("BuildGraph_OutputThatIsNoTensor_IsNotedAndNotAmongTheOutputs") {
  const auto with = [](bool tensor) {
    ModelBuilder builder;
    builder.input("x", DType::float32, {1})
        .node("Split", {"x"}, {"y", "words"}, {}, "ai.onnx.ml")
        .opset("ai.onnx.ml", 1)
        .output("words", DType::string, {1});
    if (tensor) builder.output("y", DType::float32, {1});
    return builder;
  };
  const Graph graph = built(with(true));
  REQUIRE(graph.outputs.size() == 1);
  CHECK(graph.value_name(graph.outputs[0]) == "y");
  REQUIRE(graph.notes.size() == 1);
  CHECK(note_text(graph.notes[0]) == "output 'words' (tensor of strings): not compared");
  CHECK(built(with(false)).outputs.empty());  // its inner values can still be compared
}

// As converters of scikit-learn end a classifier of labels that are strings.
TEST_CASE("BuildGraph_ZipMapAndStringLabels_LeaveTheProbabilitiesAsOutput") {
  std::string list;  // ValueInfoProto of a sequence
  protozero::pbf_writer info(list);
  info.add_string(1, "maps");
  {
    protozero::pbf_writer type(info, 2);
    type.add_message(4, std::string("\n\0", 2));
  }
  const Graph graph =
      built(ModelBuilder()
                .opset(17)
                .opset("ai.onnx.ml", 1)
                .input("x", DType::float32, {1, 2})
                .node("LinearClassifier", {"x"}, {"label", "p"},
                      {reals("coefficients", {1, 2, 3, 4}), reals("intercepts", {0, 0}),
                       texts("classlabels_strings", {"cat", "dog"})},
                      "ai.onnx.ml")
                .node("Cast", {"label"}, {"words"}, {integer("to", 8)})
                .node("ZipMap", {"p"}, {"maps"}, {texts("classlabels_strings", {"cat", "dog"})}, "ai.onnx.ml")
                .node("Relu", {"p"}, {"kept"})
                .output("words", DType::string, {1})
                .output("kept", DType::float32, {1, 2})
                .graph_field(12, list));
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].outputs[0] == no_value);
  CHECK(graph.nodes[1].name == "Relu_3");
  REQUIRE(graph.outputs.size() == 2);
  CHECK(graph.value_name(graph.outputs[1]) == "p");
  REQUIRE(graph.notes.size() == 2);
  CHECK(note_text(graph.notes[1]) ==
        "output 'maps' (sequence): not compared; the tensor that it presents, 'p', is");
}

TEST_CASE("BuildGraph_NodeOfAnOldFormOrWithAnInputThatCannotBeHeld_IsOpaque") {
  const Graph old = built(ModelBuilder()
                              .opset(4)
                              .input("x", DType::float32, {2})
                              .node("Reshape", {"x"}, {"y"}, {ints("shape", {1, 2})})
                              .output("y"));
  CHECK(holds(old.nodes[0].opaque, "node 'Reshape_0': Reshape has another form in opset 4"));
  std::string strings;  // TensorProto: two strings
  protozero::pbf_writer writer(strings);
  writer.add_int64(1, 2);
  writer.add_int32(2, 8);
  writer.add_bytes(6, "a");
  writer.add_bytes(6, "b");
  writer.add_string(8, "words");
  const Graph words = built(ModelBuilder()
                                .input("x", DType::float32, {2})
                                .graph_field(5, strings)
                                .node("Lookup", {"x", "words"}, {"y"})
                                .output("y"));
  CHECK(holds(words.nodes[0].opaque, "initializer 'words'"));
}

TEST_CASE("BuildGraph_NodeNames_AreUniqueAndNeverEmpty") {
  ModelBuilder builder;
  builder.input("x", DType::float32, {1});
  const Names given{"", "same", "same", "Relu_0", "Relu_5", ""};
  for (std::size_t i = 0; i < given.size(); ++i) {
    builder.node("Relu", {"x"}, {"y" + std::to_string(i)});
    if (!given[i].empty()) builder.named(given[i]);
  }
  builder.output("y0");
  CHECK(node_names(built(builder)) == Names{"Relu_0_2", "same", "Relu_2", "Relu_0", "Relu_5", "Relu_5_2"});
}

TEST_CASE("BuildGraph_NodeWithoutOperatorOrWithAnAttributeTwice_IsRejected") {
  CHECK(holds(build_failure(ModelBuilder().node("", {}, {"y"}).named("n").output("y")).message,
              "node 'n': it has no operator"));
  const Error error =
      build_failure(ModelBuilder().node("Pad", {}, {"y"}, {integer("a", 1), integer("a", 2)}).output("y"));
  CHECK(holds(error.message, "node 'Pad_0': attribute 'a' is given twice"));
}

TEST_CASE("BuildGraph_InputPassedThrough_IsAnOutput") {
  const Graph graph = built(ModelBuilder().input("x", DType::float32, {1}).output("x"));
  CHECK(graph.nodes.empty());
  CHECK(graph.outputs == graph.inputs);
}

}  // namespace driftscope::test::build_test
