#include <doctest/doctest.h>

#include "core/runtime/bind_inputs.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::bind_inputs_test {
namespace {

Graph two_inputs() {
  ModelBuilder model;
  model.input("a", DType::float32, {"N", 2})
      .input("b", DType::float32, {"N", 2})
      .node("Add", {"a", "b"}, {"y"})
      .output("y");
  return built(model);
}

Tensor some() { return tensor<float>({1, 2}, {1, 2}); }

std::string error_of(const NamedInputs& inputs) {
  const auto bound = bind_inputs(two_inputs(), inputs);
  REQUIRE(!bound.ok());
  return bound.error().message;
}

}  // namespace

TEST_CASE("BindInputs_AnyOrder_ComesOutInTheGraphs") {
  const Tensor other = tensor<float>({1, 2}, {3, 4});
  const auto bound = bind_inputs(two_inputs(), {{"b", other}, {"a", some()}});
  REQUIRE(bound.ok());
  CHECK(bound->inputs[0].values<float>()[0] == 1.0f);
  CHECK(bound->inputs[1].values<float>()[0] == 3.0f);
  CHECK(bound->graph->values[bound->graph->outputs[0]].static_shape() == Shape{1, 2});
}

TEST_CASE("BindInputs_WhatIsWrong_IsNamed") {
  CHECK(error_of({{"a", some()}}).find("\"b\" is missing") != std::string::npos);
  CHECK(error_of({{"a", some()}, {"b", some()}, {"c", some()}}).find("\"c\"") != std::string::npos);
  CHECK(error_of({{"a", some()}, {"a", some()}}).find("twice") != std::string::npos);
  CHECK(error_of({{"a", some()}, {"b", tensor<std::int64_t>({1, 2}, {1, 2})}}) ==
        "input b: expected float32, got int64");
  CHECK(error_of({{"a", some()}, {"b", tensor<float>({2}, {1, 2})}}) == "input b: expected shape Nx2, got 2");
  CHECK(error_of({{"", some()}}).find("no input named") != std::string::npos);
}

TEST_CASE("BindInputs_OneUnnamedTensor_FitsTheOnlyInput") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(bind_inputs(built(model), {{"", some()}}).ok());
}

TEST_CASE("BindInputs_OneElementForAScalarAndTheOtherWayRound_IsTakenAndNoted") {
  ModelBuilder model;
  model.input("a", DType::float32, {})
      .input("b", DType::float32, {1})
      .node("Add", {"a", "b"}, {"y"})
      .output("y", DType::float32, {2});
  const Graph graph = built(model);
  const auto bound = bind_inputs(graph, {{"a", tensor<float>({1}, {2})}, {"b", tensor<float>({}, {3})}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  CHECK(bound->inputs[0].shape().empty());
  CHECK(bound->inputs[1].shape() == Shape{1});
  CHECK(bound->inputs[1].values<float>()[0] == 3.0f);
  // The notes are these inputs', not the model's own.
  REQUIRE(bound->graph->notes.size() == 3);
  CHECK(note_text(bound->graph->notes[0]) == "input 'a': shape 1 given, taken as scalar");
  CHECK(bound->graph->notes[2].kind == NoteKind::declared_shape);
  CHECK(!bind_inputs(graph, {{"a", tensor<float>({2}, {2, 3})}, {"b", tensor<float>({}, {3})}}).ok());
}

TEST_CASE("SeededInputs_SameSeed_SameBits") {
  const Graph graph = two_inputs();
  const auto once = seeded_inputs(graph, 42);
  const auto again = seeded_inputs(graph, 42);
  const auto other = seeded_inputs(graph, 43);
  REQUIRE((once.ok() && again.ok() && other.ok()));
  REQUIRE(once->size() == 2);
  CHECK((*once)[0].tensor.shape() == Shape{1, 2});
  const auto first = [](const NamedInputs& inputs) { return inputs[0].tensor.values<float>()[0]; };
  CHECK(first(*once) == first(*again));
  CHECK(first(*once) != first(*other));
  // The same on every host: this value is part of what a seed means.
  CHECK(first(*once) == -0x1.c9cbf00000000p-1f);
  CHECK(bind_inputs(graph, *once).ok());
}

TEST_CASE("SeededInputs_EveryNumericType_IsFilled") {
  for (const DType dtype :
       {DType::float64, DType::float16, DType::bfloat16, DType::boolean, DType::int8, DType::uint8,
        DType::int16, DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64}) {
    ModelBuilder model;
    model.input("x", dtype, {64}).node("Identity", {"x"}, {"y"}).output("y");
    const auto inputs = seeded_inputs(built(model), 1);
    REQUIRE(inputs.ok());
    bool any = false;
    for (const std::byte b : (*inputs)[0].tensor.bytes()) any = any || b != std::byte{0};
    CHECK(any);
  }
}

}  // namespace driftscope::test::bind_inputs_test
