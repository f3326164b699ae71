// Outputs of nothing but NaN are said, although every layer is right for its inputs.
#include "core/verify/nonfinite.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/platform/platform.hpp"
#include "core/report/tables.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::nonfinite_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Tensor three(float a, float b, float c) { return tensor<float>({1, 3}, {a, b, c}); }

/// Log makes NaN of a negative number, Relu and Neg pass it on.
ModelBuilder through_log() {
  return ModelBuilder()
      .input("x", DType::float32, {1, 3})
      .node("Relu", {"x"}, {"r"})
      .node("Log", {"x"}, {"l"})
      .named("log")
      .node("Neg", {"l"}, {"y"})
      .named("last")
      .output("y")
      .output("r");
}

}  // namespace

TEST_CASE("Nonfinite_EveryElementOfAnOutput_IsSaidWithTheNodeWhereItBegins") {
  const Verification verification = verified(through_log(), {{"x", three(-1, -2, -3)},
                                                             {"r", three(0, 0, 0)},
                                                             {"l", three(nan, nan, nan)},
                                                             {"y", three(nan, nan, nan)}});
  CHECK(verification.verdict == Verdict::identical);
  REQUIRE(verification.nonfinite.size() == 1);
  CHECK(verification.nonfinite[0].output == "y");
  CHECK(verification.nonfinite[0].nan == 3);
  CHECK(nonfinite_text(verification) == "all 3 elements of y are NaN (first at log)");
  const std::string table = verify_table(verification, {}, "run.safetensors");
  CHECK(table.find("= identical, 3 NaN") != std::string::npos);
  CHECK(table.find("\nall 3 elements of y are NaN (first at log)\n") != std::string::npos);
}

TEST_CASE("Nonfinite_SomeElements_AreCounted") {
  const Verification verification =
      verified(through_log(), {{"x", three(-1, 0, 1)}, {"r", three(0, 0, 1)}, {"y", three(nan, inf, -0.0f)}});
  CHECK(nonfinite_text(verification) == "1 of 3 elements of y is NaN and 1 infinite");
  CHECK(nonfinite_text(verified(through_log(), {{"x", three(1, 1, 1)}, {"y", three(-0.0f, -0.0f, -0.0f)}}))
            .empty());
}

TEST_CASE("Nonfinite_OfTheInput_IsSaidToBeginThere") {
  const Verification verification =
      verified(through_log(), {{"x", three(nan, 1, 1)}, {"r", three(nan, 1, 1)}, {"l", three(nan, 0, 0)}});
  CHECK(nonfinite_text(verification) == "1 of 3 elements of r is NaN (first in the input x)");
}

// The infinities of a mask are meant; what is left of them at the end is not.
TEST_CASE("Nonfinite_ConstantMask_IsNoBeginning") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {1, 3})
                                 .initializer("mask", three(-inf, -inf, -inf))
                                 .node("Add", {"x", "mask"}, {"masked"})
                                 .named("add")
                                 .node("Softmax", {"masked"}, {"y"})
                                 .named("softmax")
                                 .output("y");
  const Verification hidden = verified(
      model, {{"x", three(1, 2, 3)}, {"masked", three(-inf, -inf, -inf)}, {"y", three(nan, nan, nan)}});
  CHECK(nonfinite_text(hidden) == "all 3 elements of y are NaN (first at add)");
}

// NaN of a layer that nothing judges count as well.
TEST_CASE("Nonfinite_OfAnUnknownOperator_IsSaid") {
  const ModelBuilder model =
      ModelBuilder().input("x", DType::float32, {1, 3}).node("Frobnicate", {"x"}, {"y"}).output("y");
  const Verification verification = verified(model, {{"x", three(1, 2, 3)}, {"y", three(nan, 1, 1)}});
  CHECK(verification.verdict == Verdict::unjudged);
  CHECK(nonfinite_text(verification) == "1 of 3 elements of y is NaN");
}

}  // namespace driftscope::test::nonfinite_test
