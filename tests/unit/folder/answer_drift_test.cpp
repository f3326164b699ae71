#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/convert_check/layout.hpp"
#include "core/folder/answer_drift.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::answer_drift_test {
namespace {

Graph graph_with(DType input, const std::string& output) {
  Graph graph;
  Value x;
  x.name = "x";
  x.dtype = input;
  Value y;
  y.name = output;
  graph.values.push_back(x);
  graph.values.push_back(y);
  graph.inputs = {0};
  graph.outputs = {1};
  return graph;
}

NamedInputs outputs(const std::string& name, const std::vector<float>& values) {
  return {{name, tensor<float>({1, static_cast<std::int64_t>(values.size())}, values)}};
}

}  // namespace

TEST_CASE("AnswerDrift_IsAShareOfTheLargestElement") {
  const Graph graph = graph_with(DType::float32, "logits");
  const auto drift =
      answer_drift(graph, outputs("logits", {0.001f, -8.0f, 4.0f}), outputs("logits", {2.001f, -8.0f, 4.0f}));
  REQUIRE(drift.ok());
  CHECK(drift->drift == doctest::Approx(0.25));
  CHECK(drift->output == "logits");
  CHECK(same_answer(drift->agreement) == std::optional(true));
  const auto other = answer_drift(graph, outputs("logits", {0, 1, 2}), outputs("logits", {0, 3, 2}));
  REQUIRE(other.ok());
  CHECK(same_answer(other->agreement) == std::optional(false));
}

TEST_CASE("AnswerDrift_Float16Outputs_NaN_AndOtherShapes") {
  const Graph graph = graph_with(DType::float32, "logits");
  const NamedInputs want = outputs("logits", {1.0f, 2.0f});
  const auto half = convert::as_dtype(tensor<float>({1, 2}, {1.0f, 2.5f}), DType::float16);
  REQUIRE(half.ok());
  const auto drift = answer_drift(graph, want, {{"logits", *half}});
  REQUIRE(drift.ok());
  CHECK(drift->drift == doctest::Approx(0.25));
  const auto nan =
      answer_drift(graph, want, outputs("logits", {1.0f, std::numeric_limits<float>::quiet_NaN()}));
  REQUIRE(nan.ok());
  CHECK_FALSE(nan->drift <= 1e9);
  CHECK_FALSE(answer_drift(graph, want, outputs("logits", {1.0f})).ok());
  CHECK_FALSE(answer_drift(graph, want, {}).ok());
}

TEST_CASE("InputsOfVariant_AreConvertedAndSaid") {
  const NamedInputs reference = {{"x", tensor<float>({2}, {1.5f, -2.0f})},
                                 {"mask", tensor<float>({1}, {1.0f})}};
  const auto made = inputs_of_variant(graph_with(DType::float16, "y"), reference);
  REQUIRE(made.ok());
  REQUIRE(made->tensors.size() == 1);
  CHECK(made->tensors[0].tensor.dtype() == DType::float16);
  CHECK(made->tensors[0].tensor.values<std::uint16_t>()[0] == 0x3e00);
  CHECK(made->changes == std::vector<std::string>{"x as float16", "mask left out, it has no such input"});
  CHECK_FALSE(inputs_of_variant(graph_with(DType::int64, "y"), reference).ok());
  CHECK_FALSE(inputs_of_variant(graph_with(DType::float32, "y"), {}).ok());
}

}  // namespace driftscope::test::answer_drift_test
