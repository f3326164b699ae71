#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/convert/read_model.hpp"
#include "core/convert/tfjs/reader/parts.hpp"
#include "tests/unit/convert/read_back.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test {
namespace {

convert::ConvertedModel converted(const Graph& graph) {
  const auto inputs = seeded_inputs(graph, 7);
  REQUIRE(inputs.ok());
  const auto bound = bind_inputs(graph, *inputs);
  REQUIRE(bound.ok());
  auto model = convert::tfjs::convert(*bound->graph, {});
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  return *std::move(model);
}

Graph read_back(const convert::ConvertedModel& model) {
  const auto graph = convert::tfjs::read_graph_model(text_of(model.files[0].bytes), files_of(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return as_onnx(*graph);
}

/// Another model.json of the small network.
nlohmann::json small_model_json(const convert::ConvertedModel& model) {
  return parse_json(text_of(model.files[0].bytes));
}

Error failure(const nlohmann::json& json, const convert::ConvertedModel& model) {
  const auto graph = convert::tfjs::read_graph_model(json_text(json), files_of(model));
  REQUIRE_FALSE(graph.ok());
  return graph.error();
}

}  // namespace

TEST_CASE("TfjsReader_SmallNetwork_ComputesWhatTheOriginalDoes") {
  const Graph graph = inferred(small_network());
  const convert::Check check = check_against(graph, read_back(converted(graph)));
  expect_same(check, 1);
  CHECK(check.layers.size() >= 6);
}

TEST_CASE("TfjsReader_Models_ComputeWhatTheOriginalsDo" * doctest::test_suite("slow")) {
  for (const char* name : {"lenet5", "textcnn", "resnet20", "unet"}) {
    CAPTURE(name);
    auto graph = infer_shapes(built(repository_file(std::string("assets/models/") + name + ".onnx")));
    REQUIRE(graph.ok());
    expect_same(check_against(*graph, read_back(converted(*graph))), 1);
  }
}

TEST_CASE("TfjsReader_QuantizedWeights_AreTheNumbersTheyStandFor") {
  const std::string text = R"({"format":"graph-model","modelTopology":{"node":[
    {"name":"x","op":"Placeholder",
     "attr":{"dtype":{"type":"DT_FLOAT"},"shape":{"shape":{"dim":[{"size":"2"}]}}}},
    {"name":"a","op":"Const"},{"name":"b","op":"Const"},{"name":"c","op":"Const"},
    {"name":"s","op":"AddV2","input":["x","a"]},{"name":"t","op":"AddV2","input":["s:0","b"]},
    {"name":"y","op":"AddV2","input":["t","c","^a"]}]},
    "weightsManifest":[{"paths":["w.bin"],"weights":[
      {"name":"a","shape":[2],"dtype":"float32","quantization":{"dtype":"uint8","scale":0.5,"min":-1}},
      {"name":"b","shape":[2],"dtype":"float32",
       "quantization":{"dtype":"float16","original_dtype":"float32"}},
      {"name":"c","shape":[2],"dtype":"float32","quantization":{"dtype":"uint16","scale":0.25,"min":0}}]}]})";
  const auto files = [](const std::string&) -> Result<std::vector<std::byte>> {
    return bytes_of(std::string("\x02\x04\x00\x3c\x00\xc0\x04\x00\x00\x01", 10));
  };
  const auto graph = convert::tfjs::read_graph_model(text, files);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const auto values = [&](const char* name) {
    const auto span = graph->constants.at(name).values<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  CHECK(values("a") == std::vector<float>{0.0f, 1.0f});
  CHECK(values("b") == std::vector<float>{1.0f, -2.0f});
  CHECK(values("c") == std::vector<float>{1.0f, 64.0f});
  const RunModel run = run_model(as_onnx(*graph), {{"x", tensor<float>({2}, {0.0f, 0.0f})}});
  CHECK(run.trace.find("y")->values<float>()[1] == 63.0f);
}

TEST_CASE("TfjsReader_BadModels_SayWhatIsWrong") {
  const convert::ConvertedModel model = converted(inferred(small_network()));
  auto json = small_model_json(model);
  json["weightsManifest"][0]["paths"][0] = "../secret";
  CHECK(failure(json, model).message.find("secret") != std::string::npos);
  json = small_model_json(model);
  json["weightsManifest"][0]["weights"][0]["shape"] = {1 << 14, 1 << 10};
  CHECK(failure(json, model).message.find("bytes are needed") != std::string::npos);
  json = small_model_json(model);
  json["modelTopology"]["node"].back()["input"][0] = "nobody";
  CHECK(failure(json, model).message.find("nobody") != std::string::npos);
  json = small_model_json(model);
  json["modelTopology"]["model_config"] = "keras";
  CHECK(failure(json, model).message.find("layers model") != std::string::npos);
}

// A kind whose content is of another type.
TEST_CASE("TfjsReader_AttributesOfOtherTypes_AreErrorsOrAbsent") {
  for (const char* text : {R"({"b": 5})", R"({"b": "true"})", R"({"list": 1})", R"({"else": 1})", R"({})"}) {
    CAPTURE(text);
    const auto attribute = convert::tfjs::attribute_in(parse_json(text));
    REQUIRE(attribute.ok());
    CHECK(!*attribute);
  }
  for (const char* text :
       {R"(5)", R"({"i": "x"})", R"({"f": "x"})", R"({"s": "?"})", R"({"shape": {"dim": [{"size": "-2"}]}})",
        R"({"shape": {"dim": [{"size": "2147483648"}]}})"}) {
    CAPTURE(text);
    CHECK(!convert::tfjs::attribute_in(parse_json(text)).ok());
  }
  const auto largest =
      convert::tfjs::attribute_in(parse_json(R"({"shape": {"dim": [{"size": "2147483647"}, {}]}})"));
  REQUIRE(largest.ok());
  CHECK(std::get<tf::ShapeAttribute>(**largest).shape == Shape{2147483647, -1});
}

/// A graph of Placeholder x (int32), constants c of int32, and the nodes given as JSON; read and run.
Result<Graph> graph_of(const std::string& x_size, const std::vector<std::int32_t>& constants,
                       const std::string& nodes) {
  std::string text = R"({"format":"graph-model","modelTopology":{"node":[{"name":"x","op":"Placeholder",
    "attr":{"dtype":{"type":"DT_INT32"},"shape":{"shape":{"dim":[)" +
                     x_size + "]}}}}";
  std::string weights;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    text += R"(,{"name":")" + name + R"(","op":"Const"})";
    weights += (i == 0 ? "" : ",") + (R"({"name":")" + name + R"(","shape":[],"dtype":"int32"})");
  }
  text += nodes + R"(]},"weightsManifest":[{"paths":["w.bin"],"weights":[)" + weights + "]}]}";
  const auto files = [&](const std::string&) -> Result<std::vector<std::byte>> {
    const auto bytes = std::as_bytes(std::span(constants));
    return std::vector(bytes.begin(), bytes.end());
  };
  DRIFTSCOPE_TRY(const tf::TfGraph graph, convert::tfjs::read_graph_model(text, files));
  DRIFTSCOPE_TRY(const Model model, tf::to_onnx(graph));
  return build_graph(model);
}

std::vector<float> results(const std::string& x_size, const std::vector<std::int32_t>& constants,
                           const std::string& nodes, const Tensor& x) {
  const auto graph = graph_of(x_size, constants, nodes);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const RunModel run = run_model(*graph, {{"x", x}});
  const auto values = run.trace.find("y")->values<float>();
  return {values.begin(), values.end()};
}

TEST_CASE("TfjsReader_ScalarIndex_GetsNoAxisByOneHot") {
  const auto graph = graph_of("", {5, 1, 0}, R"(,{"name":"y","op":"OneHot","input":["x","c0","c1","c2"]})");
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const RunModel run = run_model(*graph, {{"x", tensor<std::int32_t>({}, {3})}});
  const Tensor& y = *run.trace.find("y");
  CHECK(y.shape() == Shape{5});
  CHECK(y.values<std::int32_t>()[3] == 1);
}

// By 0 it is 0, whatever is divided; integers are divided towards −∞.
TEST_CASE("TfjsReader_DivNoNan_IsZeroWhereTheDivisorIs") {
  const std::string size = R"({"size":"4"})";
  const Tensor x = tensor<std::int32_t>({4}, {7, 0, -7, 3});
  const auto quotients = [&](std::int32_t divisor) {
    const auto graph = graph_of(size, {divisor}, R"(,{"name":"y","op":"DivNoNan","input":["x","c0"]})");
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    const RunModel run = run_model(*graph, {{"x", x}});
    const auto values = run.trace.find("y")->values<std::int32_t>();
    return std::vector<std::int32_t>(values.begin(), values.end());
  };
  CHECK(quotients(2) == std::vector<std::int32_t>{3, 0, -4, 1});
  CHECK(quotients(0) == std::vector<std::int32_t>{0, 0, 0, 0});
  const std::string real = R"(,{"name":"a","op":"Cast","input":["x"],"attr":{"DstT":{"type":"DT_FLOAT"}}},
    {"name":"b","op":"Cast","input":["c0"],"attr":{"DstT":{"type":"DT_FLOAT"}}},
    {"name":"y","op":"DivNoNan","input":["a","b"]})";
  CHECK(results(size, {2}, real, x) == std::vector<float>{3.5f, 0, -3.5f, 1.5f});
  CHECK(results(size, {0}, real, x) == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("TfjsReader_AveragesOfIntegers_AreFloat32") {
  CHECK(results(R"({"size":"2"})", {0}, R"(,{"name":"y","op":"Mean","input":["x","c0"]})",
                tensor<std::int32_t>({2}, {1, 2})) == std::vector<float>{1.5f});
}

TEST_CASE("TfjsReader_NumbersThatAreNoSizes_AreRefused" * doctest::test_suite("slow")) {
  const std::string size = R"({"size":"2"})";
  for (const char* axes : {"1000000000", "-1"}) {
    const auto graph = graph_of(size, {1},
                                R"(,{"name":"y","op":"Select","input":["x","x","x"],"attr":
                                {"condition_axes_after":{"i":")" +
                                    std::string(axes) + "\"}}}");
    REQUIRE_FALSE(graph.ok());
    CHECK(graph.error().kind == ErrorKind::bad_input);
  }
  CHECK_FALSE(graph_of(R"({"size":"4294967296"})", {}, "").ok());
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += R"(,{"name":"u)" + std::to_string(i) +
            R"(","op":"Unpack","input":["x"],"attr":{"num":{"i":"65536"}}})";
  const auto unpacked = graph_of(size, {}, many);
  REQUIRE_FALSE(unpacked.ok());
  CHECK(unpacked.error().kind == ErrorKind::limit);
}

TEST_CASE("TfjsReader_BlocksWithoutASize_AreRefused") {
  const std::string size = R"({"size":"1"},{"size":"2"},{"size":"2"},{"size":"4"})";
  const auto blocks = [&](const std::string& attributes) {
    return graph_of(size, {}, R"(,{"name":"y","op":"DepthToSpace","input":["x"])" + attributes + "}");
  };
  const auto without = blocks("");
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().message.find("block_size: 0") != std::string::npos);
  CHECK(blocks(R"(,"attr":{"block_size":{"i":"1"}})").ok());
  CHECK(blocks(R"(,"attr":{"block_size":{"i":"2"}})").ok());
}

TEST_CASE("TfjsReader_DamagedModels_AreErrorsAtMost" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(20261);
  SEED_INFO(seed);
  Rng rng(seed);
  const convert::ConvertedModel model = converted(inferred(small_network()));
  for (int i = 0; i < repetitions(400); ++i) {
    const auto damaged = mutated(model.files[0].bytes, rng);
    const auto graph = convert::tfjs::read_graph_model(text_of(damaged), files_of(model));
    if (!graph.ok()) continue;
    const auto onnx = tf::to_onnx(*graph);
    if (!onnx.ok()) continue;
    auto built_graph = build_graph(*onnx);
    if (built_graph.ok()) (void)infer_shapes(*std::move(built_graph));
  }
}

}  // namespace driftscope::test
