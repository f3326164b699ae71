// A part of a model alone, and the files of a report.
#include "core/repro/excerpt.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/dataset/npy.hpp"
#include "core/eval/evaluate.hpp"
#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/platform/platform.hpp"
#include "core/repro/report_files.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::excerpt_test {
namespace {

/// Relu, Conv with weights and a bias, Relu.
struct Net {
  Graph graph;
  Trace trace;

  explicit Net(bool faulty) {
    Rng rng(5);
    const Tensor x = random_tensor(rng, {1, 3, 6, 6});
    graph = built(ModelBuilder()
                      .input("image", DType::float32, {1, 3, 6, 6})
                      .initializer("secret_weights", random_tensor(rng, {4, 3, 3, 3}))
                      .initializer("secret_bias", random_tensor(rng, {4}))
                      .node("Relu", {"image"}, {"a"})
                      .node("Conv", {"a", "secret_weights", "secret_bias"}, {"b"})
                      .node("Relu", {"b"}, {"c"})
                      .output("c"));
    ThreadPool threads(1);
    std::vector<Tensor> values(graph.values.size());
    trace.tensors.push_back({"image", x});
    values[*graph.find_value("image")] = x;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<const Tensor*> read;
      for (const ValueId id : graph.nodes[i].reads())
        read.push_back(graph.values[id].constant ? &*graph.values[id].constant : &values[id]);
      auto outputs = evaluate_strict(graph.nodes[i], read, threads);
      REQUIRE(outputs.ok());
      if (i == 1 && faulty) outputs->front().mutable_values<float>()[7] += 1.0f;
      const ValueId y = graph.nodes[i].outputs[0];
      values[y] = outputs->front();
      trace.tensors.push_back({graph.values[y].name, outputs->front()});
    }
    trace.target = "chrome/ort-webgpu";
  }
};

Result<Excerpt> alone(const Net& net, const std::string& node) {
  ThreadPool threads(1);
  return excerpt_of(net.graph, TraceView(net.trace), node, threads);
}

std::string text_of(const std::vector<repro::File>& files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &repro::File::name);
  REQUIRE(found != files.end());
  return {reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size()};
}

Result<std::vector<repro::File>> files_for(const Excerpt& one, const repro::Facts& facts,
                                           const std::optional<ParameterTable>& table = {}) {
  ThreadPool threads(1);
  return repro::report_files(one, facts, table, threads);
}

repro::Facts facts() {
  return {.target = "chrome/ort-webgpu",
          .host = "chrome",
          .engine = "ort-webgpu",
          .module = "ort.webgpu.bundle.min.mjs",
          .version = "1.30.0",
          .browser = "Chromium 1 <b>",
          .device = "SwiftShader",
          .system = "Linux"};
}

}  // namespace

TEST_CASE("Excerpt_OfANetwork_HasItsWeightsAndRecordedInput") {
  const Net net(true);
  const std::string conv = net.graph.nodes[1].name;
  const auto one = alone(net, conv);
  REQUIRE(one.ok());
  REQUIRE(one->graph.nodes.size() == 1);
  CHECK(one->node().name == "n0");
  REQUIRE(one->inputs.size() == 1);
  CHECK(one->inputs[0].name == "x0");
  CHECK(std::ranges::equal(one->inputs[0].tensor.bytes(), net.trace.find("a")->bytes()));
  CHECK(one->verdict.verdict == Verdict::fault);
  CHECK(one->verdict.node == conv);
  for (const Value& value : one->graph.values) CHECK(value.name.find("secret") == std::string::npos);
  // The expected result is that of the definition, not what was recorded.
  const auto expected = one->expected.values<double>();
  const auto got = one->got.tensor.values<float>();
  const auto bound = one->bound.values<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK((std::abs(static_cast<double>(got[i]) - expected[i]) <= bound[i]) == (i != 7));
  }
}

TEST_CASE("Excerpt_WhatIsMissing_IsSaid") {
  Net net(true);
  const std::string conv = net.graph.nodes[1].name;
  CHECK(alone(net, "nothing").error().message.find("no node 'nothing'") != std::string::npos);
  std::erase_if(net.trace.tensors, [](const NamedTensor& one) { return one.name == "a"; });
  const auto without = alone(net, conv);
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().message.find("'a', which the trace does not hold") != std::string::npos);
}

// As exporters write axes: a node holds them, which no runtime records.
TEST_CASE("Excerpt_OfANodeThatReadsAConstantNode_HasItsValueAsAWeight") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {2, 3})
                                .node("Constant", {}, {"axes"}, {{"value", tensor<std::int64_t>({1}, {1})}})
                                .node("Identity", {"axes"}, {"same_axes"})
                                .node("ReduceSum", {"x", "same_axes"}, {"y"})
                                .named("sum")
                                .output("y"));
  Trace trace;
  trace.tensors = {{"x", tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {"y", tensor<float>({2, 1}, {6, 99})}};
  ThreadPool threads(1);
  const auto one = excerpt_of(graph, TraceView(trace), "sum", threads);
  REQUIRE_MESSAGE(one.ok(), one.error().message);
  REQUIRE(one->graph.nodes.size() == 1);
  CHECK(one->inputs.size() == 1);
  CHECK(one->verdict.verdict == Verdict::fault);
  const Value& axes = one->graph.values[one->node().inputs[1]];
  REQUIRE(axes.constant);
  CHECK(axes.constant->values<std::int64_t>()[0] == 1);
}

TEST_CASE("ReportFiles_ForOnnxRuntime_OpenAndSayWhatIsWrong") {
  const Net net(true);
  const auto one = alone(net, net.graph.nodes[1].name);
  REQUIRE(one.ok());
  const auto files = files_for(*one, facts());
  REQUIRE(files.ok());
  // The model is one that opens, and gives what is expected.
  const auto model = std::ranges::find(*files, "model.onnx", &repro::File::name);
  REQUIRE(model != files->end());
  const auto read = read_onnx(std::span<const std::byte>(model->bytes));
  REQUIRE(read.ok());
  const auto graph = build_graph(*read);
  REQUIRE(graph.ok());
  CHECK(graph->nodes.size() == 1);
  Trace trace;
  trace.tensors = {one->inputs[0], one->got};
  ThreadPool threads(1);
  const auto verification = verify(*graph, "", trace, threads);
  REQUIRE(verification.ok());
  CHECK(verification->verdict == Verdict::fault);

  const auto array = std::ranges::find(*files, "x0.npy", &repro::File::name);
  REQUIRE(array != files->end());
  const auto input = read_npy(array->bytes);
  REQUIRE(input.ok());
  CHECK(input->shape() == one->inputs[0].tensor.shape());

  const std::string page = text_of(*files, "index.html");
  CHECK(page.find("./node_modules/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs") != std::string::npos);
  CHECK(page.find("executionProviders: [\"webgpu\"]") != std::string::npos);
  CHECK(page.find("x0: new ort.Tensor(\"float32\", (await load(\"x0.npy\")).data, [1, 3, 6, 6])") !=
        std::string::npos);
  CHECK(text_of(*files, "package.json").find("\"onnxruntime-web\": \"1.30.0\"") != std::string::npos);
  CHECK(text_of(*files, "repro.py").find("{\"x0\": np.load(\"x0.npy\")}") != std::string::npos);
  const std::string issue = text_of(*files, "issue.md");
  CHECK(issue.find("Conv gives a wrong result") != std::string::npos);
  CHECK(issue.find("1 of 64 elements are wrong") != std::string::npos);
  CHECK(issue.find("Chromium 1 <b>") != std::string::npos);
  for (const repro::File& file : *files) {
    const std::string text = text_of(*files, file.name);
    CAPTURE(file.name);
    CHECK(text.find("secret") == std::string::npos);
    CHECK(text.find("riftscope") == std::string::npos);
  }
}

TEST_CASE("ReportFiles_OfOwnShaders_HoldTheCallsAndNothingElse") {
  const Net net(true);
  const auto one = alone(net, net.graph.nodes[1].name);
  REQUIRE(one.ok());
  repro::Facts own = facts();
  own.engine = "webgpu";
  own.target = "chrome/webgpu";
  own.version.clear();
  CHECK_FALSE(files_for(*one, own).ok());  // nothing is known of the calls
  own.calls = "program(1, \"</script><b>\", `code`);\n";
  const auto files = files_for(*one, own);
  REQUIRE_MESSAGE(files.ok(), files.error().message);
  const std::string page = text_of(*files, "index.html");
  CHECK(page.find("program(1, \"<\\/script><b>\", `code`);") != std::string::npos);
  std::size_t ends = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1))
    ++ends;
  CHECK(ends == 2);
  CHECK(page.find("on WebGPU</title>") != std::string::npos);
  for (const repro::File& file : *files)
    CHECK(text_of(*files, file.name).find("riftscope") == std::string::npos);
}

TEST_CASE("ReportFiles_OfAnotherRuntime_AreRefusedWithTheOnesThereAre") {
  const Net net(true);
  const auto one = alone(net, net.graph.nodes[1].name);
  REQUIRE(one.ok());
  repro::Facts other = facts();
  other.engine = "strict";
  const auto files = files_for(*one, other);
  REQUIRE_FALSE(files.ok());
  CHECK(files.error().message.find("ort, ort-webgpu, ort-webgl, webgpu, webgl, tfjs-cpu") !=
        std::string::npos);
}

TEST_CASE("Disclosed_WithAndWithoutValues_IsListed") {
  const Net net(true);
  const auto one = alone(net, net.graph.nodes[1].name);
  REQUIRE(one.ok());
  const auto lines = repro::disclosed(*one, false);
  CHECK(std::ranges::find(lines, "weights: w0: float32 4x3x3x3") != lines.end());
  CHECK(std::ranges::find(lines, "recorded values: x0: float32 1x3x6x6") != lines.end());
  const auto anonymous = repro::disclosed(*one, true);
  CHECK(std::ranges::find(anonymous, "sizes and root mean square of w1: float32 4") != anonymous.end());
}

}  // namespace driftscope::test::excerpt_test
