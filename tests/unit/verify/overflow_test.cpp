// Layers that overflow are said even where a later layer hides it and every layer is right for its inputs.
#include "core/verify/overflow.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/report/tables.hpp"
#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::overflow_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The squares of large numbers overflow float16, and their reciprocals are right again: 0.
ModelBuilder through_squares() {
  return ModelBuilder()
      .input("x", DType::float16, {2})
      .node("Mul", {"x", "x"}, {"square"})
      .named("mul")
      .node("Reciprocal", {"square"}, {"y"})
      .named("last")
      .output("y");
}

Verification squares(double x) {
  const double square = x * x > 65504.0 ? inf : x * x;
  return verified(through_squares(), {{"x", halves({2}, {x, 1.0})},
                                      {"square", halves({2}, {square, 1.0})},
                                      {"y", halves({2}, {1.0 / square, 1.0})}});
}

}  // namespace

TEST_CASE("Overflow_ThatALaterLayerHides_IsSaidWithItsLayer") {
  const Verification verification = squares(300.0);
  CHECK(verification.verdict == Verdict::identical);
  CHECK(verification.nonfinite.empty());
  REQUIRE(verification.overflows.size() == 1);
  CHECK(verification.overflows[0].node == "mul");
  CHECK(verification.overflows[0].inf == 1);
  CHECK(verification.overflows[0].elements == 2);
  const std::string text =
      "1 of 2 elements of square is infinite, made of finite numbers at mul (Mul, float16), and later layers "
      "hide it";
  CHECK(overflow_text(verification) == text);
  CHECK(hidden_overflow(verification) == "overflow of float16 at mul is hidden");
  CHECK(verify_table(verification, {}, "run.safetensors").find(text) != std::string::npos);
}

TEST_CASE("Overflow_NearTheLimitOfFloat16_IsSaid") {
  const Verification near = squares(200.0);
  REQUIRE(near.overflows.size() == 1);
  CHECK(near.overflows[0].largest == 40000.0);
  CHECK(overflow_text(near) == "square comes to 40000 of 65504 at mul (float16)");
  CHECK(hidden_overflow(near).empty());
  CHECK(squares(127.0).overflows.empty());  // 16129 is below a quarter of 65504
  CHECK_FALSE(squares(128.0).overflows.empty());
}

TEST_CASE("Overflow_OfSeveralLayers_NamesTheFirstAndCountsTheOthers") {
  Verification verification;
  verification.overflows = {{"a", "Mul", "x", "float16", 0, 1, 4, 8.0},
                            {"b", "Add", "y", "float16", 0, 0, 4, 30000.0},
                            {"c", "Mul", "z", "float16", 2, 0, 4, 8.0}};
  CHECK(overflow_text(verification) ==
        "1 of 4 elements of x is infinite, made of finite numbers at a (Mul, float16), and later layers hide "
        "it; "
        "1 more layer does so; y comes to 30000 of 65504 at b (float16)");
}

TEST_CASE("Overflow_OfAnInputThatIsInfinite_IsNotTheLayers") {
  const Verification verification = verified(
      through_squares(),
      {{"x", halves({2}, {inf, 1.0})}, {"square", halves({2}, {inf, 1.0})}, {"y", halves({2}, {0.0, 1.0})}});
  CHECK(verification.overflows.empty());
}

TEST_CASE("Overflow_WhereItsInputWasNotRecorded_IsJudgedByWhatThatWasComputedFrom") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {2})
                                 .node("Neg", {"x"}, {"n"})
                                 .node("Exp", {"n"}, {"e"})
                                 .named("exp")
                                 .node("Reciprocal", {"e"}, {"y"})
                                 .output("y");
  const auto run = [&](float x, float e) {
    return verified(model, {{"x", tensor<float>({2}, {x, 0.0F})},
                            {"e", tensor<float>({2}, {e, 1.0F})},
                            {"y", tensor<float>({2}, {1.0F / e, 1.0F})}});
  };
  const auto infinite = std::numeric_limits<float>::infinity();
  const Verification made = run(-100.0F, infinite);
  REQUIRE(made.overflows.size() == 1);
  CHECK(made.overflows[0].node == "exp");
  CHECK(hidden_overflow(made).empty());  // float32: masks are made this way
  CHECK(run(-infinite, infinite).overflows.empty());
}

TEST_CASE("Overflow_OfACast_IsAMaskAndNotInTheHeadline") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {2})
                                 .node("Cast", {"x"}, {"mask"}, {integer("to", 10)})
                                 .node("Exp", {"mask"}, {"y"})
                                 .output("y");
  const Verification verification = verified(model, {{"x", tensor<float>({2}, {-1e9F, 0.0F})},
                                                     {"mask", halves({2}, {-inf, 0.0})},
                                                     {"y", halves({2}, {0.0, 1.0})}});
  CHECK(verification.overflows.size() == 1);
  CHECK(hidden_overflow(verification).empty());
}

}  // namespace driftscope::test::overflow_test
