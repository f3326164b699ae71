#include <doctest/doctest.h>

#include "core/graph/control_flow.hpp"
#include "core/trace/capture_filter.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::capture_filter_test {
namespace {

using Names = std::vector<std::string>;

// x → conv1 → a → relu1 → b → conv2 → c → relu2 → y
Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .node("Neg", {"x"}, {"a"})
      .named("conv1")
      .node("Relu", {"a"}, {"b"})
      .named("relu1")
      .node("Neg", {"b"}, {"c"})
      .named("conv2")
      .node("Relu", {"c"}, {"y"})
      .named("relu2")
      .output("y");
  return built(model);
}

Names chosen(const CaptureFilter& filter) {
  const auto values = chosen_values(graph(), filter);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  return *values;
}

std::string rejection(const CaptureFilter& filter) {
  const auto values = chosen_values(graph(), filter);
  REQUIRE(!values.ok());
  return values.error().message;
}

}  // namespace

TEST_CASE("Glob_StarsAndQuestionMarks") {
  CHECK(glob_matches("conv*", "conv1"));
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("*/attn/*/q", "layer3/attn/self/q"));
  CHECK(glob_matches("a*b*c", "axxbyybzc"));
  CHECK(glob_matches("conv?", "conv1"));
  CHECK_FALSE(glob_matches("conv?", "conv12"));
  CHECK_FALSE(glob_matches("conv", "conv1"));
  CHECK_FALSE(glob_matches("*b", "abc"));
  CHECK_FALSE(glob_matches("", "a"));
}

TEST_CASE("CaptureFilter_KeepsOutputsAndInputsOfChosenNodes") {
  CHECK(chosen({.nodes = {"conv2"}, .ops = {}, .range = ""}) == Names{"b", "c"});
  CHECK(chosen({.nodes = {"conv*"}, .ops = {}, .range = ""}) == Names{"a", "b", "c"});
  CHECK(chosen({.nodes = {}, .ops = {"Relu"}, .range = ""}) == Names{"a", "b", "c", "y"});
}

TEST_CASE("CaptureFilter_Ranges_ByNameOrPlaceAndOpenEnded") {
  CHECK(chosen({.nodes = {}, .ops = {}, .range = "relu1..conv2"}) == Names{"a", "b", "c"});
  CHECK(chosen({.nodes = {}, .ops = {}, .range = "1..2"}) == Names{"a", "b", "c"});
  CHECK(chosen({.nodes = {}, .ops = {}, .range = "..0"}) == Names{"a"});
  CHECK(chosen({.nodes = {}, .ops = {}, .range = "relu2.."}) == Names{"c", "y"});
}

TEST_CASE("CaptureFilter_SeveralConditions_MustAllHold") {
  CHECK(chosen({.nodes = {"*2"}, .ops = {"Relu"}, .range = "1.."}) == Names{"c", "y"});
  CHECK(rejection({.nodes = {"conv*"}, .ops = {"Relu"}, .range = ""}).find("Neg, Relu") != std::string::npos);
}

TEST_CASE("CaptureFilter_MalformedOrUnknownRange_SaysWhatThereIs") {
  CHECK(rejection({.nodes = {}, .ops = {}, .range = "conv1"}).find("A..B") != std::string::npos);
  CHECK(rejection({.nodes = {}, .ops = {}, .range = "conv1..fc"}).find("'fc'") != std::string::npos);
  CHECK(rejection({.nodes = {}, .ops = {}, .range = "0..4"}).find("4 nodes") != std::string::npos);
  CHECK(rejection({.nodes = {}, .ops = {}, .range = "conv2..conv1"}).find("before") != std::string::npos);
}

TEST_CASE("CaptureFilter_InsideSubgraphs_NamesAnyIteration") {
  const auto squash = ModelBuilder("squash").node("Tanh", {"v"}, {"b"}).named("squash").output("b");
  const auto add = ModelBuilder("add").node("Add", {"v", "x"}, {"a"}).named("add").output("a");
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {}).input("v", DType::float32, {2});
  body.node("If", {"go"}, {"next"})
      .named("choice")
      .graph_attribute("then_branch", squash.graph_message())
      .graph_attribute("else_branch", add.graph_message());
  body.output("go").output("next");
  ModelBuilder model;
  model.input("m", DType::int64, {}).input("x", DType::float32, {2});
  model.node("Neg", {"x"}, {"start"});
  model.node("Loop", {"m", "", "start"}, {"y"}).named("loop").graph_attribute("body", body.graph_message());
  const Graph graph = built(model.output("y"));
  const auto names = [&](const CaptureFilter& filter) {
    const auto values = chosen_values(graph, filter);
    REQUIRE_MESSAGE(values.ok(), values.error().message);
    for (const std::string& name : *values) CHECK(has_value_inside(graph, name));
    return *values;
  };
  const Names tanh = {"loop[*]/choice[then]/b", "loop[*]/v"};
  CHECK(names({.nodes = {}, .ops = {"Tanh"}, .range = ""}) == tanh);
  CHECK(names({.nodes = {"loop[3]/choice[then]/*"}, .ops = {}, .range = ""}) == tanh);
  CHECK(names({.nodes = {"*/add"}, .ops = {}, .range = ""}) == Names{"loop[*]/choice[else]/a", "loop[*]/v"});
  CHECK(names({.nodes = {"loop"}, .ops = {}, .range = ""}) == Names{"start", "y"});
  const auto none = chosen_values(graph, {.nodes = {"loop[*]/nothing"}, .ops = {}, .range = ""});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find(
            "operators Loop, Neg; inside its subgraphs, as loop[3]/NAME: Add, If, Tanh") !=
        std::string::npos);
  CHECK_FALSE(has_value_inside(graph, "loop[3]/choice[other]/b"));
  CHECK_FALSE(has_value_inside(graph, "loop[x]/v"));
  CHECK_FALSE(has_value_inside(graph, "loop[]/v"));
  CHECK_FALSE(has_value_inside(graph, "loop/v"));
}

}  // namespace driftscope::test::capture_filter_test
