#include <doctest/doctest.h>

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

}  // namespace driftscope::test::capture_filter_test
