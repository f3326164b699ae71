// Sizes that the user gives.
#include "core/inputs/input_sizes.hpp"

#include <doctest/doctest.h>

#include "unit/support/model_builder.hpp"

namespace driftscope::test::input_sizes_test {
namespace {

Graph sound_and_mask() {
  ModelBuilder model;
  model.input("sound", DType::float32, {"batch", "time"})
      .input("mask", DType::float32, {"batch", "time"})
      .node("Mul", {"sound", "mask"}, {"y"})
      .output("y", DType::float32, {"batch", "time"});
  return built(model);
}

Graph picture() {
  ModelBuilder model;
  model.input("x", DType::float32, {"N", 3, "", ""}).node("Relu", {"x"}, {"y"}).output("y");
  return built(model);
}

std::string shape_of(const Result<Graph>& graph, std::size_t input) {
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return shape_text(*graph->values[graph->inputs[input]].shape);
}

Result<Graph> with(const Graph& graph, const std::vector<std::string>& specs) {
  return with_input_sizes(graph, specs);
}

std::string failure(const Graph& graph, const std::vector<std::string>& specs) {
  const auto result = with(graph, specs);
  REQUIRE_MESSAGE(!result.ok(), "accepted");
  return result.error().message;
}

}  // namespace

TEST_CASE("InputSizes_Dim_IsSetWhereverTheModelNamesIt") {
  const auto graph = with(sound_and_mask(), {"dim:time=16000", "a.npy"});
  CHECK(shape_of(graph, 0) == "batchx16000");
  CHECK(shape_of(graph, 1) == "batchx16000");
  CHECK(shape_text(*graph->values[graph->outputs[0]].shape) == "batchx16000");
}

TEST_CASE("InputSizes_Shape_OfOneInputSetsItsNamesInOthers") {
  const auto graph = with(sound_and_mask(), {"shape:mask=2x?"});
  CHECK(shape_of(graph, 0) == "2xtime");
  CHECK(shape_of(graph, 1) == "2xtime");
}

TEST_CASE("InputSizes_Shape_NeedsNoNameForASingleInput") {
  CHECK(shape_of(with(picture(), {"shape:1x3x?x320"}), 0) == "1x3x?x320");
  CHECK(failure(sound_and_mask(), {"shape:1x2"}) ==
        "--input-shape 1x2: the model has 2 inputs (sound, mask); say which one: --input-shape NAME=1x2");
}

TEST_CASE("InputSizes_Shape_OfAnInputWithoutAnyIsTaken") {
  ModelBuilder model;
  model.input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y");
  Graph graph = built(model);
  graph.values[graph.inputs[0]].shape.reset();
  CHECK(shape_of(with(graph, {"shape:x=4x?"}), 0) == "4x?");
  CHECK(shape_of(with(graph, {"shape:x=scalar"}), 0) == "scalar");
}

TEST_CASE("InputSizes_WhatTheModelDoesNotHave_IsNamed") {
  CHECK(failure(sound_and_mask(), {"dim:tiem=8"}) ==
        "--dim tiem=8: no input has an open size of this name; its names are 'batch', 'time'");
  CHECK(failure(picture(), {"shape:y=1x3x8x8"}) ==
        "--input-shape y=1x3x8x8: the model has no input 'y'; its inputs are x");
  CHECK(failure(picture(), {"shape:1x4x8x8"}) == "--input-shape 1x4x8x8: input 'x' is Nx3x?x? in the model");
  CHECK(failure(picture(), {"shape:1x3x8"}) == "--input-shape 1x3x8: input 'x' is Nx3x?x? in the model");
}

TEST_CASE("InputSizes_MalformedAndContradictory_AreErrors") {
  CHECK(failure(picture(), {"dim:N"}).find("as in time=16000") != std::string::npos);
  CHECK(failure(picture(), {"dim:N=-1"}).find("as in time=16000") != std::string::npos);
  CHECK(failure(picture(), {"dim:N=99999999999999999999"}).find("as in time=16000") != std::string::npos);
  CHECK(failure(picture(), {"shape:1x3x8x"}).find("'' is no size") != std::string::npos);
  CHECK(failure(picture(), {"shape:1x3xhx8"}).find("'h' is no size") != std::string::npos);
  CHECK(failure(picture(), {"dim:N=1", "dim:N=2"}) == "--dim N=2: 'N' has a size already");
  CHECK(failure(sound_and_mask(), {"shape:sound=2x8", "shape:mask=2x9"}).find("mask") != std::string::npos);
}

TEST_CASE("InputSizes_QuestionMark_NamesNoSize") {
  ModelBuilder model;
  model.input("x", DType::float32, {"?", "?"}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(shape_of(with(built(model), {"shape:2x3"}), 0) == "2x3");
  CHECK(failure(built(model), {"dim:?=3"}).find("it names none") != std::string::npos);
}

}  // namespace driftscope::test::input_sizes_test
