// What the user gave beside what the model wants.
#include "core/inputs/fit_inputs.hpp"

#include <doctest/doctest.h>

#include "unit/support/model_builder.hpp"

namespace driftscope::test::fit_inputs_test {
namespace {

Graph three() {
  ModelBuilder model;
  model.input("image", DType::float32, {"N", 2})
      .input("rate", DType::int64, {})
      .input("length", DType::int64, {1})
      .node("Identity", {"image"}, {"y"})
      .output("y");
  return built(model);
}

Tensor image() { return tensor<float>({1, 2}, {1, 2}); }
Tensor number(Shape shape) { return tensor<std::int64_t>(std::move(shape), {7}); }

std::string failure(NamedInputs inputs) {
  const auto fitted = fit_inputs(three(), std::move(inputs));
  REQUIRE_MESSAGE(!fitted.ok(), "accepted");
  return fitted.error().message;
}

}  // namespace

TEST_CASE("FitInputs_OneElement_IsAScalarOrAVectorAsTheModelHasIt") {
  const auto fitted =
      fit_inputs(three(), {{"image", image()}, {"rate", number({1})}, {"length", number({})}});
  REQUIRE_MESSAGE(fitted.ok(), fitted.error().message);
  CHECK((*fitted)[1].tensor.shape() == Shape{});
  CHECK((*fitted)[2].tensor.shape() == Shape{1});
  CHECK((*fitted)[1].tensor.values<std::int64_t>()[0] == 7);
  CHECK(bind_inputs(three(), *fitted).ok());
}

TEST_CASE("FitInputs_OtherRanks_StayWrong") {
  const auto fitted =
      fit_inputs(three(), {{"image", image()}, {"rate", number({1, 1})}, {"length", number({})}});
  REQUIRE(fitted.ok());
  CHECK((*fitted)[1].tensor.shape() == Shape{1, 1});
  CHECK_FALSE(bind_inputs(three(), *fitted).ok());
}

TEST_CASE("FitInputs_AnUnnamedTensorOfSeveralInputs_SaysWhichAreMissing") {
  CHECK(failure({{"", image()}}) ==
        "which input is the float32 1x2? The model has several: say it, as in --input image=FILE. Not given "
        "yet:\n  image (float32 Nx2)\n  rate (int64 scalar)\n  length (int64 1)");
  CHECK(failure({{"image", image()}, {"", number({1})}}).find("--input length=FILE") != std::string::npos);
}

TEST_CASE("FitInputs_MissingInputs_AreListedWithTypeAndShape") {
  CHECK(
      failure({{"rate", number({})}}) ==
      "2 of 3 inputs missing:\n  image (float32 Nx2)\n  length (int64 1)\nGive each with --input NAME=FILE, "
      "or add --input seed:42, which makes those that are missing");
}

TEST_CASE("FitInputs_TheOnlyInput_NeedsNoName") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2}).node("Relu", {"x"}, {"y"}).output("y");
  const auto fitted = fit_inputs(built(model), {{"", image()}});
  REQUIRE(fitted.ok());
  CHECK((*fitted)[0].name == "x");
}

}  // namespace driftscope::test::fit_inputs_test
