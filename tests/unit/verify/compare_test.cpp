#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/results/view_json.hpp"
#include "core/verify/compare.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::compare_test {
namespace {

Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {2, 2})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Softmax", {"a"}, {"y"})
      .named("second")
      .output("y");
  return built(model);
}

Trace trace_with(std::vector<float> a, std::vector<float> y) {
  Trace trace;
  trace.target = "pc/strict";
  trace.tensors = {{"x", tensor<float>({2, 2}, {1, 2, 3, 4})},
                   {"a", tensor<float>({2, 2}, a)},
                   {"y", tensor<float>({2, 2}, y)}};
  trace.nodes = {{"first", "Relu", {"a"}, {900, 100, 300, 200}}, {"second", "Softmax", {"y"}, {50}}};
  trace.memory = {{0, 10, "process_pss"}, {5, 30, "process_pss"}, {9, 20, "process_pss"}};
  return trace;
}

const std::vector<float> a = {1, 2, 3, 4};
const std::vector<float> y = {0.25f, 0.75f, 0.75f, 0.25f};

}  // namespace

TEST_CASE("Compare_SameTraces_HaveNoDivergence") {
  const auto result = compare(graph(), trace_with(a, y), trace_with(a, y));
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(!result->first_divergence);
  REQUIRE(result->layers.size() == 2);
  CHECK(result->layers[0].node == "first");
  CHECK(result->layers[0].left_ns == 250);  // of the later half
  CHECK(result->layers[1].right_ns == 50);
  CHECK(result->output.agree);
  CHECK(result->output.top1_left == 1);
  CHECK(result->peak_bytes == 30);
  CHECK(result->peak_kind == "process_pss");
}

TEST_CASE("Compare_FirstDifferingBit_IsTheFirstDivergence") {
  const auto result = compare(graph(), trace_with(a, y), trace_with(a, {0.25f, 0.75f, 0.75f, 0.2500001f}));
  REQUIRE(result.ok());
  CHECK(result->first_divergence == "second");
  CHECK(result->layers[1].metrics.different_elements == 1);
  CHECK(result->layers[1].kl > 0.0);
  CHECK(result->output.agree);
}

TEST_CASE("Compare_OtherClassInAnySample_IsNoAgreement") {
  const auto result = compare(graph(), trace_with(a, y), trace_with(a, {0.25f, 0.75f, 0.25f, 0.75f}));
  REQUIRE(result.ok());
  CHECK(!result->output.agree);
  CHECK(result->output.top1_right == 1);
}

TEST_CASE("Compare_LayerOnOneSideOnly_SaysSo") {
  Trace right = trace_with(a, y);
  std::erase_if(right.tensors, [](const NamedTensor& t) { return t.name == "a"; });
  const auto result = compare(graph(), trace_with(a, y), right);
  REQUIRE(result.ok());
  CHECK(result->layers[0].reason == "not recorded on the right");
  CHECK(!result->layers[0].recorded);
  CHECK(result->layers[0].shape == Shape{2, 2});
  CHECK(!result->first_divergence);
}

TEST_CASE("Compare_OtherShape_IsADivergence") {
  Trace right = trace_with(a, y);
  right.tensors[1].tensor = tensor<float>({4}, a);
  const auto result = compare(graph(), trace_with(a, y), right);
  REQUIRE(result.ok());
  CHECK(result->first_divergence == "first");
  CHECK(result->layers[0].reason.find("expected shape 2x2") != std::string::npos);
}

TEST_CASE("Compare_NothingInCommonOtherModelOrInput_IsAnError") {
  Trace empty;
  CHECK(!compare(graph(), trace_with(a, y), empty).ok());
  Trace left = trace_with(a, y), right = trace_with(a, y);
  left.model_sha256 = "aa";
  right.model_sha256 = "bb";
  CHECK(!compare(graph(), left, right).ok());
  right.model_sha256 = "aa";
  right.tensors[0].tensor = tensor<float>({2, 2}, {9, 2, 3, 4});
  const auto result = compare(graph(), left, right);
  REQUIRE(!result.ok());
  CHECK(result.error().message.find("different inputs") != std::string::npos);
}

TEST_CASE("SteadyTime_LeavesOutTheFirstRun") {
  CHECK(steady_time_ns({"n", "op", {}, {}}) == 0);
  CHECK(steady_time_ns({"n", "op", {}, {70}}) == 70);
  CHECK(steady_time_ns({"n", "op", {}, {70, 10, 20}}) == 15);
}

TEST_CASE("CompareJson_HasEveryKeyOfTheFormat") {
  const auto result = compare(graph(), trace_with(a, y), trace_with(a, y));
  REQUIRE(result.ok());
  Verification verification;
  verification.verdict = Verdict::identical;
  ComparisonView view;
  view.left.target = "pc/strict";
  view.left.verification = verification;
  view.right.resize(2);
  view.right[0].target = "chrome/strict";
  view.right[0].verification = verification;
  view.right[0].comparison = *result;
  view.right[1].target = "firefox/strict";
  view.right[1].error = bad_input("no browser");
  const auto json = parse_json(view_json(view));
  CHECK(json["format"] == "driftscope-compare-1");
  CHECK(json["left"]["target"] == "pc/strict");
  CHECK(json["left"]["verify"]["verdict"] == "identical");
  const auto& first = json["right"][0];
  CHECK(first["first_divergence"].is_null());
  for (const char* key : {"node", "output", "max_abs", "max_rel", "max_ulp", "cosine", "sqnr_db", "kl",
                          "different_elements", "elements", "left_ns", "right_ns", "verdict"}) {
    CAPTURE(key);
    CHECK(first["layers"][0].contains(key));
  }
  CHECK(first["output"]["agree"] == true);
  CHECK(first["memory"]["peak_bytes"] == 30);
  CHECK(json["right"][1]["error"] == "no browser");
}

}  // namespace driftscope::test::compare_test
