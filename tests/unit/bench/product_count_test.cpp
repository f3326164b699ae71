// Counts of multiply-adds against manual ones.
#include <doctest/doctest.h>

#include "core/bench/product_count.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::product_count_test {
namespace {

std::optional<double> count(const ModelBuilder& model) {
  auto inferred = infer_shapes(built(model.bytes()));
  REQUIRE(inferred.ok());
  return count_products(*inferred);
}

Tensor zeros(Shape shape) {
  auto made = Tensor::make(DType::float32, std::move(shape), "zeros");
  REQUIRE(made.ok());
  return *std::move(made);
}

TEST_CASE("products: every output of a convolution is a sum over its group's taps") {
  ModelBuilder model("m");
  model.input("x", DType::float32, {2, 4, 8, 8})
      .initializer("w", zeros({6, 2, 3, 3}))
      .node("Conv", {"x", "w"}, {"y"}, {integer("group", 2), ints("strides", {2, 2})})
      .node("Relu", {"y"}, {"z"})
      .output("z");
  CHECK(*count(model) == 2.0 * (2 * 6 * 3 * 3) * (2 * 3 * 3));
}

TEST_CASE("products: every input of a transposed convolution meets its group's outputs and taps") {
  ModelBuilder model("m");
  model.input("x", DType::float32, {1, 4, 5, 5})
      .initializer("w", zeros({4, 3, 2, 2}))
      .node("ConvTranspose", {"x", "w"}, {"y"}, {integer("group", 2)})
      .output("y");
  CHECK(*count(model) == 2.0 * (4 * 5 * 5) * (3 * 2 * 2));
}

TEST_CASE("products: matrices, the left one transposed too") {
  ModelBuilder model("m");
  model.input("x", DType::float32, {7, 5})
      .initializer("w", zeros({7, 3}))
      .initializer("v", zeros({3, 11}))
      .node("Gemm", {"x", "w"}, {"y"}, {integer("transA", 1)})
      .node("MatMul", {"y", "v"}, {"z"})
      .output("z");
  CHECK(*count(model) == 2.0 * (5 * 3 * 7 + 5 * 11 * 3));
}

TEST_CASE("products: an LSTM uses every weight in each step of each sequence") {
  ModelBuilder model("m");
  model.input("x", DType::float32, {10, 2, 6})
      .initializer("w", zeros({1, 16, 6}))
      .initializer("r", zeros({1, 16, 4}))
      .node("LSTM", {"x", "w", "r"}, {"y"}, {integer("hidden_size", 4)})
      .output("y");
  CHECK(*count(model) == 2.0 * 10 * 2 * 16 * (6 + 4));
}

TEST_CASE("products: nothing is said of a model whose shapes are not bound") {
  ModelBuilder model("m");
  model.input("x", DType::float32, {"N", 5})
      .initializer("w", zeros({5, 3}))
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  CHECK_FALSE(count(model).has_value());
}

}  // namespace
}  // namespace driftscope::test::product_count_test
