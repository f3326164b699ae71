// Checks that need runs, on results made by hand: what each finds, and that it is silent where nothing is
// wrong.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/half.hpp"
#include "core/deploy/deploy_check.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::deploy_run_checks_test {
namespace {

Tensor floats(std::vector<float> values) {
  auto tensor = Tensor::from_values<float>({static_cast<std::int64_t>(values.size())}, values);
  REQUIRE(tensor.ok());
  return *std::move(tensor);
}

DeployModel small_model() {
  auto graph = infer_shapes(built(ModelBuilder()
                                      .input("x", DType::float32, {4})
                                      .node("Exp", {"x"}, {"a"})
                                      .named("grow")
                                      .node("Reciprocal", {"a"}, {"y"})
                                      .named("hide")
                                      .output("y")));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return {.name = "net.onnx", .graph = *std::move(graph)};
}

std::vector<DeployFinding> found(std::string_view check, const DeployRuns& runs) {
  const DeployModel model = small_model();
  DeployContext context;
  context.model = &model;
  context.runs = &runs;
  const DeployCheck* const one = deploy_check_table().find(check);
  REQUIRE(one != nullptr);
  auto findings = one->find(context);
  context.runs = nullptr;
  CHECK(one->find(context).empty());  // without --run nothing is known
  return findings;
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

ElementRange range(double largest, std::int64_t infinite = 0, DType dtype = DType::float32) {
  return {.dtype = dtype, .largest = largest, .infinite = infinite, .elements = 4};
}

TEST_CASE("RangeOf_FloatsAndHalves_LargestFiniteAndTheOthersCounted") {
  const float nan = std::nanf("");
  const auto seen = range_of(floats({-3.0f, 2.0f, nan, HUGE_VALF, -HUGE_VALF, nan}));
  REQUIRE(seen.has_value());
  CHECK(seen->largest == 3.0);
  CHECK(seen->nan == 2);
  CHECK(seen->infinite == 2);
  CHECK(seen->elements == 6);
  CHECK(not_finite_text(*seen) == "2 NaN and 2 infinite of 6 elements");
  const std::vector<std::uint16_t> halves = {narrow(float16_format, 65504.0), narrow(float16_format, 1e6)};
  const auto half = range_of(*Tensor::from_bytes(DType::float16, {2}, std::as_bytes(std::span(halves))));
  REQUIRE(half.has_value());
  CHECK(half->largest == 65504.0);
  CHECK(half->infinite == 1);
  CHECK(not_finite_text(*half) == "1 infinite of 2 elements");
  const std::vector<std::int64_t> whole = {1};
  CHECK_FALSE(range_of(*Tensor::from_values<std::int64_t>({1}, whole)).has_value());
}

TEST_CASE("LayerRanges_InputsOfALayer_FiniteOrNot") {
  const DeployModel model = small_model();
  const auto layers = layer_ranges(model.graph, {{"x", range(1)}, {"a", range(2, 1)}, {"y", range(3, 1)}});
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].node == "grow");
  CHECK(layers[0].finite_inputs);
  CHECK(layers[1].value == "y");
  CHECK_FALSE(layers[1].finite_inputs);
  CHECK(layer_ranges(model.graph, {{"y", range(3)}}).size() == 1);  // what was not recorded is left out
}

TEST_CASE("LayerRanges_InfiniteConstant_IsNoFiniteInput") {
  auto graph = infer_shapes(built(ModelBuilder()
                                      .input("x", DType::float32, {1})
                                      .initializer("mask", floats({-HUGE_VALF}))
                                      .node("Add", {"x", "mask"}, {"y"})
                                      .output("y")));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const auto layers = layer_ranges(*graph, {{"x", range(1)}, {"y", range(0, 1)}});
  REQUIRE(layers.size() == 1);
  CHECK_FALSE(layers[0].finite_inputs);
}

TEST_CASE("DeployCheck_Overflow_InfinityOfFiniteNumbers") {
  DeployRuns runs{.input = "seed:42"};
  runs.layers = {{"grow", "a", range(2, 1), true}, {"hide", "y", range(1), false}};
  runs.outputs = {{"y", range(1)}};
  const auto hidden = found("overflow", runs);
  REQUIRE(hidden.size() == 1);
  CHECK(hidden[0].severity == DeploySeverity::warning);
  CHECK(hidden[0].where == "grow");
  CHECK(says(hidden[0].shows, "a later one hides it"));
  CHECK(says(hidden[0].why, "a (float32) has 1 infinite of 4 elements"));
  runs.outputs = {{"y", range(1, 1)}};
  CHECK(found("overflow", runs)[0].severity == DeploySeverity::error);
  runs.layers[0].finite_inputs = false;  // passed on, not made
  CHECK(found("overflow", runs).empty());
}

TEST_CASE("DeployCheck_Overflow_WithoutRanges_SaysThatNothingIsKnown") {
  DeployRuns runs{.input = "seed:42"};
  CHECK(found("overflow", runs).empty());
  runs.no_layers = "node 'm': no kernel for Magic";
  const auto findings = found("overflow", runs);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == DeploySeverity::note);
  CHECK(says(findings[0].why, "no kernel for Magic"));
}

TEST_CASE("DeployCheck_Overflow_LimitOfHalves") {
  DeployRuns runs{.input = "seed:42"};
  const auto of = [&runs](double largest, DType dtype) {
    runs.layers = {{"first", "a", range(1, 0, dtype), true}, {"grow", "y", range(largest, 0, dtype), true}};
    return found("overflow", runs);
  };
  CHECK(of(65504.0 / 4, DType::float16).empty());
  const auto near = of(16400, DType::float16);
  REQUIRE(near.size() == 1);
  CHECK(near[0].severity == DeploySeverity::warning);
  CHECK(near[0].where == "grow");
  CHECK(of(65519, DType::float32).empty());
  const auto beyond = of(65520, DType::float32);
  REQUIRE(beyond.size() == 1);
  CHECK(beyond[0].severity == DeploySeverity::note);
  CHECK(beyond[0].count == 1);
  CHECK(of(1e30, DType::float64).empty());
}

TEST_CASE("DeployCheck_Runs_FailuresAndAnswersThatAreNoNumbers") {
  DeployRuns runs{.input = "seed:42", .outputs = {{"y", range(1)}}};
  runs.targets = {{.target = "chrome/fast", .outputs = {{"y", range(1)}}},
                  {.target = "chrome/webgpu", .failure = missing_error("no adapter")},
                  {.target = "pc/ort", .failure = unsupported("no kernel for Magic")},
                  {.target = "chrome/webgl", .outputs = {{"y", range(1, 3)}}}};
  const auto findings = found("runs", runs);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].severity == DeploySeverity::warning);
  CHECK(findings[0].why == "no adapter");
  CHECK(findings[1].severity == DeploySeverity::error);
  CHECK(findings[1].targets == std::vector<std::string>{"pc/ort"});
  CHECK(findings[2].severity == DeploySeverity::error);
  CHECK(findings[2].where == "y");
  CHECK(says(findings[2].why, "3 infinite of 4 elements"));
  runs.outputs = {{"y", range(1, 3)}};  // then it is the model's, and `overflow` says it
  CHECK(found("runs", runs).size() == 2);
}

TEST_CASE("DeployCheck_MemoryGrowth_OnlyWhereItIsProven") {
  MemorySeries series{.kind = "wasm_heap", .exact = true};
  for (int run = 1; run <= 60; ++run) {
    series.runs.push_back(run);
    series.bytes.push_back(1e6 + 1e5 * run);
  }
  DeployRuns runs{.input = "seed:42"};
  runs.targets = {{.target = "chrome/fast", .memory = MemoryOverRuns{.runs = 60, .series = {series}}}};
  const auto findings = found("memory_growth", runs);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].targets == std::vector<std::string>{"chrome/fast"});
  for (double& bytes : runs.targets[0].memory->series[0].bytes) bytes = 1e6;
  CHECK(found("memory_growth", runs).empty());
  runs.targets[0].memory.reset();
  CHECK(found("memory_growth", runs).empty());
}

/// Runs nothing, and calls an interface of the browser.
class ApiEngine final : public Engine {
 public:
  explicit ApiEngine(std::string api) {
    info_.name = "api";
    info_.browser_api = std::move(api);
  }
  [[nodiscard]] const EngineInfo& info() const override { return info_; }
  [[nodiscard]] Availability available() const override { return {}; }
  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& /*node*/) const override {
    return {};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(
      std::shared_ptr<const Graph> /*graph*/, const EngineOptions& /*options*/) const override {
    return internal_error("it runs nothing");
  }

 private:
  EngineInfo info_;
};

TEST_CASE("DeployCheck_BrowserApi_WhereNothingRunsWithoutIt") {
  const DeployModel model = small_model();
  const ApiEngine webgpu("WebGPU");
  const ApiEngine anywhere("");
  DeployContext context;
  context.model = &model;
  context.targets = {{.name = "chrome/webgpu", .host = "chrome", .engine = &webgpu},
                     {.name = "pc/strict", .host = "pc", .engine = &anywhere}};
  const DeployCheck* const check = deploy_check_table().find("browser_api");
  REQUIRE(check != nullptr);
  const auto findings = check->find(context);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].shows == "nothing runs for visitors without WebGPU");
  CHECK(findings[0].targets == std::vector<std::string>{"chrome/webgpu"});
  const ApiEngine webgl("WebGL");  // who lacks one of them may have the other
  context.targets.push_back({.name = "chrome/webgl", .host = "chrome", .engine = &webgl});
  REQUIRE(check->find(context).size() == 1);
  CHECK(check->find(context)[0].shows == "nothing runs for visitors without WebGL and WebGPU");
  context.targets.push_back({.name = "chrome/fast", .host = "chrome", .engine = &anywhere});
  CHECK(check->find(context).empty());
  context.targets = {{.name = "pc/strict", .host = "pc", .engine = &anywhere}};
  CHECK(check->find(context).empty());
}

}  // namespace
}  // namespace driftscope::test::deploy_run_checks_test
