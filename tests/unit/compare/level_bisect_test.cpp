#include "core/compare/level_bisect.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/report/bisect_view.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::level_bisect_test {
namespace {

Graph chain() {
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .node("Neg", {"x"}, {"a"})
      .named("first")
      .node("Relu", {"a"}, {"b"})
      .named("second")
      .node("Abs", {"b"}, {"y"})
      .named("third")
      .output("y");
  return built(model);
}

using Named = std::vector<std::pair<std::string, std::vector<float>>>;

LevelRun run(const std::string& level, const Named& values, Verdict verdict, ModelOutline outline = {}) {
  LevelRun result{.level = level, .target = "pc/ort:opt=" + level};
  result.trace.emplace();
  for (const auto& [name, elements] : values)
    result.trace->tensors.push_back(
        {name, tensor<float>({static_cast<std::int64_t>(elements.size())}, elements)});
  result.verification.emplace();
  result.verification->verdict = verdict;
  if (!outline.nodes.empty()) result.rewritten = std::move(outline);
  return result;
}

ModelOutline outline(std::vector<OutlineNode> nodes) { return {std::move(nodes), {"y"}}; }

const ModelOutline plain = outline({{"first", "Neg", "", {"x"}, {"a"}},
                                    {"second", "Relu", "", {"a"}, {"b"}},
                                    {"third", "Abs", "", {"b"}, {"y"}}});

}  // namespace

TEST_CASE("CompareOutlines_AFusedNode_ReplacesThoseBeforeIt") {
  const auto replaced = compare_outlines(plain, outline({{"fused 1", "NegRelu", "com.example", {"x"}, {"b"}},
                                                         {"third", "Abs", "", {"b"}, {"y"}}}));
  REQUIRE(replaced.size() == 1);
  CHECK(replaced[0].nodes == std::vector<NamedNode>{{"first", "Neg"}, {"second", "Relu"}});
  CHECK(replaced[0].by == std::vector<NamedNode>{{"fused 1", "com.example.NegRelu"}});
  CHECK(replaced[0].outputs == std::vector<std::string>{"b"});
}

TEST_CASE("CompareOutlines_AnotherLayout_IsOneReplacement_ThoughItsInnerValuesHaveOtherNames") {
  const auto replaced = compare_outlines(plain, outline({{"in", "Reorder", "", {"x"}, {"x_nchwc"}},
                                                         {"n", "Neg", "nchwc", {"x_nchwc"}, {"a_nchwc"}},
                                                         {"r", "Relu", "nchwc", {"a_nchwc"}, {"b_nchwc"}},
                                                         {"out", "Reorder", "", {"b_nchwc"}, {"b"}},
                                                         {"third", "Abs", "", {"b"}, {"y"}}}));
  REQUIRE(replaced.size() == 1);
  CHECK(replaced[0].by.size() == 4);
  CHECK(replaced[0].nodes.size() == 2);
}

TEST_CASE("CompareOutlines_Folded_HasNothingInItsPlace_AndTheSameModelHasNone") {
  const auto replaced = compare_outlines(
      plain, outline({{"second", "Relu", "", {"a"}, {"b"}}, {"third", "Abs", "", {"b"}, {"y"}}}));
  REQUIRE(replaced.size() == 1);
  CHECK(replaced[0].nodes == std::vector<NamedNode>{{"first", "Neg"}});
  CHECK(replaced[0].by.empty());
  CHECK(replaced[0].outputs == std::vector<std::string>{"a"});
  CHECK(compare_outlines(plain, plain).empty());
}

TEST_CASE("Bisect_FindsTheFirstLevelThatDiffers_AndWhatItRewrote") {
  const Graph graph = chain();
  const ModelOutline fused =
      outline({{"fused 1", "NegRelu", "com.example", {"x"}, {"b"}}, {"third", "Abs", "", {"b"}, {"y"}}});
  const std::vector<LevelRun> runs = {
      run("none", {{"a", {1, -2}}, {"b", {1, 0}}, {"y", {1, 0}}}, Verdict::identical, plain),
      run("basic", {{"a", {1, -2}}, {"b", {1, 0}}, {"y", {1, 0}}}, Verdict::identical, plain),
      run("extended", {{"b", {1.5f, 0}}, {"y", {1.5f, 0}}}, Verdict::fault, fused),
      run("all", {{"b", {1.5f, 0}}, {"y", {1.5f, 0}}}, Verdict::fault, fused)};
  const auto bisect = bisect_levels(graph, "opt", runs);
  REQUIRE_MESSAGE(bisect.ok(), bisect.error().message);
  CHECK(bisect->differs_at == 2);
  CHECK(bisect->worse_at == 2);
  REQUIRE(bisect->steps.size() == 1);
  const LevelStep& step = bisect->steps[0];
  CHECK(step.from == "basic");
  CHECK(step.value == "b");
  CHECK(step.node == "second");
  CHECK(step.vanished == std::vector<std::string>{"a"});
  REQUIRE(step.culprit);
  CHECK(step.replaced[*step.culprit].by[0].op == "com.example.NegRelu");
  const std::string text = bisect_text(*bisect);
  CHECK(text.find("rewritten there: first (Neg), second (Relu) → fused 1 (com.example.NegRelu)") !=
        std::string::npos);
  const auto json = parse_json(bisect_json(*bisect, "abc"));
  CHECK(json["differs_at"] == "extended");
  CHECK(json["verdict_worse_at"] == "extended");
  CHECK(json["steps"][0]["first"]["value"] == "b");
  CHECK(json["levels"][1]["differs"] == false);
}

TEST_CASE("Bisect_SameBitsEverywhere_SaysSo_AFailedLevelIsKept") {
  const Graph graph = chain();
  LevelRun failed{.level = "basic", .target = "pc/ort:opt=basic"};
  failed.error = unsupported("it says no");
  const std::vector<LevelRun> runs = {run("none", {{"y", {1, 0}}}, Verdict::identical), failed,
                                      run("all", {{"y", {1, 0}}}, Verdict::identical)};
  const auto bisect = bisect_levels(graph, "opt", runs);
  REQUIRE(bisect.ok());
  CHECK_FALSE(bisect->differs_at);
  CHECK(bisect->steps.empty());
  CHECK(bisect_text(*bisect).find("no opt changes a bit of the outputs") != std::string::npos);
  CHECK(bisect_text(*bisect).find("it says no") != std::string::npos);
  CHECK_FALSE(bisect_levels(graph, "opt", std::vector<LevelRun>{failed}).ok());
}

}  // namespace driftscope::test::level_bisect_test
