// Layers whose budget is inconclusive, and those where an intermediate result may overflow: they are
// judged all the same where possible, and never pass where not.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/half.hpp"
#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/report/tables.hpp"
#include "core/results/verify_json.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/verify/small_nets.hpp"
#include "tests/unit/verify/verified.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::unjudged_test {
namespace {

const double infinite = std::numeric_limits<double>::infinity();

// With the type of `like`.
Tensor made(const Tensor& like, const std::vector<double>& values) {
  if (like.dtype() == DType::float16) return halves(like.shape(), values);
  std::vector<float> singles(values.begin(), values.end());
  return tensor<float>(like.shape(), singles);
}

LayerVerdict verified(const OneNode& node, const Tensor& output) {
  Trace trace;
  trace.tensors = node.named();
  trace.tensors.push_back({"o0", output});
  ThreadPool threads(2);
  const auto verification = verify(node.graph(), "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  REQUIRE(verification->layers.size() == 1);
  CHECK(verification->verdict == verification->layers[0].verdict);
  return verification->layers[0];
}

std::vector<double> exact(const OneNode& node) {
  std::vector<double> values;
  for (const Bounded& x : node.bounded()) values.push_back(x.value);
  return values;
}

struct Wrong {
  Verdict right, zeros, rolled, infinity, nan;
};

// Rounded results, and the usual wrong ones.
Wrong verdicts(const OneNode& node) {
  const std::vector<double> values = exact(node);
  const Tensor like = *node.inputs[0];
  const auto shape = [&] {
    ThreadPool threads(1);
    const auto results = strict_outputs(node.graph(), node.named());
    REQUIRE(results.ok());
    return results->front();
  }();
  const auto verdict = [&](const std::vector<double>& wrong) {
    return verified(node, made(shape, wrong)).verdict;
  };
  std::vector<double> rolled(values.begin() + 1, values.end());
  rolled.push_back(values.front());
  std::vector<double> one_infinite = values;
  one_infinite[0] = infinite;
  std::vector<double> one_nan = values;
  one_nan[0] = std::numeric_limits<double>::quiet_NaN();
  // About one ULP more, so that it is not identical.
  std::vector<double> right = values;
  for (double& x : right) x *= like.dtype() == DType::float16 ? 1.0 + 0x1p-11 : 1.0 + 0x1p-23;
  return {verdict(right), verdict(std::vector<double>(values.size(), 0.0)), verdict(rolled),
          verdict(one_infinite), verdict(one_nan)};
}

std::vector<double> normals(std::size_t count, double scale, double shift = 0.0) {
  Rng rng(3);
  std::vector<double> values(count);
  for (double& x : values) x = static_cast<double>(rng.normal()) * scale + shift;
  return values;
}

}  // namespace

TEST_CASE("Verify_HalfPrecisionSumsBeyondItsRange_AreJudged") {
  // The sum of squares is beyond 65,504, the variance is 1: an accumulator of half precision overflows.
  const std::int64_t side = 257;
  const auto plane = static_cast<std::size_t>(side * side);
  const std::vector<OneNode> nodes = {
      {"InstanceNormalization",
       {halves({1, 1, side, side}, normals(plane, 1.0)), halves({1}, {1.0}), halves({1}, {0.25})}},
      {"LayerNormalization", {halves({3, 8192}, normals(3 * 8192, 4.0)), halves({8192}, normals(8192, 1.0))}},
      {"ReduceMean", {halves({6, 4096}, normals(6 * 4096, 900.0, 40.0)), longs({1})}},
      {"ReduceL2", {halves({6, 2000}, normals(6 * 2000, 20.0)), longs({1})}},
      {"MatMul", {halves({6, 3000}, normals(6 * 3000, 30.0)), halves({3000, 5}, normals(15000, 2.0))}},
  };
  for (const OneNode& node : nodes) {
    CAPTURE(node.op);
    const Wrong got = verdicts(node);
    CHECK(got.right == Verdict::rounding);
    CHECK(got.zeros == Verdict::suspect);
    CHECK(got.rolled == Verdict::suspect);
    CHECK(got.infinity == Verdict::suspect);
    CHECK(got.nan == Verdict::suspect);
  }
}

TEST_CASE("Verify_SumsThatMayOverflowInFloat32_AreJudged") {
  // Terms of 1e38 that cancel to results that float32 can represent.
  const std::size_t n = 64;
  std::vector<float> x(6 * n);
  Rng rng(5);
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t i = 0; i < n; i += 2) {
      const float size = rng.uniform(1.0f, 2.0f) * 1e20f;
      x[row * n + i] = size;
      x[row * n + i + 1] = -size * (1.0f + 0.1f * rng.normal());
    }
  std::vector<float> w(n * 4, 1.5e17f);
  for (float& one : w) one *= rng.uniform(1.0f, 1.0001f);
  const OneNode product{"MatMul", {floats({6, n}, x), floats({n, 4}, w)}};
  const Wrong got = verdicts(product);
  CHECK(got.right == Verdict::rounding);
  CHECK(got.zeros == Verdict::fault);
  CHECK(got.rolled == Verdict::fault);
  CHECK(got.infinity == Verdict::suspect);
  CHECK(got.nan == Verdict::suspect);
}

TEST_CASE("Verify_TextbookFormulaThatOverflows_NeverPassesAndIsNoFault") {
  // x² exceeds float32's range: implementations that scale first are right, others get 0 or infinity.
  const auto large = [](Shape shape, double scale) {
    const auto count = static_cast<std::size_t>(element_count(shape));
    return made(floats(shape, std::vector<float>(count)), normals(count, scale));
  };
  const Wrong norm = verdicts({"LayerNormalization", {large({6, 40}, 1e25), large({40}, 1.0)}});
  CHECK(norm.right == Verdict::rounding);
  CHECK(norm.zeros == Verdict::unjudged);
  CHECK(norm.infinity == Verdict::suspect);
  const OneNode root{"ReduceL2", {large({6, 40}, 1e25), longs({1})}};
  CHECK(verdicts(root).right == Verdict::rounding);
  CHECK(verdicts(root).zeros == Verdict::unjudged);
  CHECK(verified(root, floats({6, 1}, std::vector<float>(6, static_cast<float>(infinite)))).verdict ==
        Verdict::suspect);
}

TEST_CASE("Verify_ProductsThatAlphaBringsBackIntoRange_MayBeInfinite") {
  const auto verdict = [](float alpha, float b, float y) {
    ModelBuilder model;
    model.input("a", DType::float32, {1, 1})
        .initializer("b", tensor<float>({1, 1}, {b}))
        .node("Gemm", {"a", "b"}, {"y"}, {real("alpha", alpha)})
        .output("y");
    Trace trace;
    trace.tensors = {{"a", tensor<float>({1, 1}, {2.0f})}, {"y", tensor<float>({1, 1}, {y})}};
    ThreadPool threads(1);
    const auto result = verify(built(model), "", trace, threads);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    return result->layers.at(0).verdict;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(verdict(0.25f, 3e38f, infinity) == Verdict::suspect);   // alpha · (a · b)
  CHECK(verdict(1e38f, -1.5f, -infinity) == Verdict::fault);    // in no order
  CHECK(verdict(2e38f, -0.8f, -infinity) == Verdict::suspect);  // (alpha · a) · b
}

TEST_CASE("Verify_NormalizationWhoseFactorOverflows_NaNIsNoFault") {
  // scale / √(var + ε) is infinite in float32, so that x·∞ − mean·∞ is NaN.
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 1})
      .initializer("scale", tensor<float>({1}, {3.6e37f}))
      .initializer("bias", tensor<float>({1}, {0.0f}))
      .initializer("mean", tensor<float>({1}, {3e-18f}))
      .initializer("var", tensor<float>({1}, {3e-18f}))
      .node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"})
      .output("y");
  Trace trace;
  trace.tensors = {{"x", tensor<float>({1, 1, 1}, {0.28f})},
                   {"y", tensor<float>({1, 1, 1}, {std::nanf("")})}};
  ThreadPool threads(1);
  const auto result = verify(built(model), "", trace, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->layers.at(0).verdict == Verdict::suspect);
}

TEST_CASE("Verify_StepsWhoseRangeOverflows_AreUnjudged") {
  ModelBuilder model;
  model.input("x", DType::float32, {3}).node("DynamicQuantizeLinear", {"x"}, {"y", "", ""}).output("y");
  const auto verdict = [&](const std::vector<float>& x, const std::vector<std::uint8_t>& y) {
    Trace trace;
    trace.tensors = {{"x", tensor<float>({3}, x)}, {"y", tensor<std::uint8_t>({3}, y)}};
    ThreadPool threads(1);
    const auto result = verify(built(model), "", trace, threads);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    return result->layers.at(0).verdict;
  };
  // 3e38 + 1e38 is infinite in float32, and so is the scale; in float64 it is not.
  CHECK(verdict({1e38f, -3e38f, 0.0f}, {0, 0, 0}) == Verdict::unjudged);
  CHECK(verdict({1e38f, -3e38f, 0.0f}, {255, 0, 191}) == Verdict::identical);
  CHECK(verdict({1e38f, -1e38f, 0.0f}, {0, 0, 0}) == Verdict::fault);
}

TEST_CASE("Verify_ResultThatOverflowsExactly_MayBeInfinite") {
  const OneNode node{"Mul", {floats({3}, {1e30f, 2.0f, 3.0f}), floats({3}, {1e30f, 5.0f, 7.0f})}};
  CHECK(verified(node, floats({3}, {static_cast<float>(infinite), 10.0f, 21.0f})).verdict ==
        Verdict::identical);
}

TEST_CASE("Verify_InfinityAfterAnOverflowToTheOtherSide_NaNIsNoFault") {
  const auto below = static_cast<float>(-infinite);
  const auto terms = [&](float size) {  // three that overflow together, and then an infinity
    return std::vector<float>{size, size, size, below};
  };
  using Make = OneNode (*)(const std::vector<float>&);
  const std::vector<std::pair<Make, Shape>> makers = {
      {[](const auto& x) { return OneNode{"ReduceSum", {floats({1, 4}, x), longs({1})}}; }, {1, 1}},
      {[](const auto& x) { return OneNode{"MatMul", {floats({1, 4}, x), floats({4, 1}, {1, 1, 1, 1})}}; },
       {1, 1}},
      {[](const auto& x) { return OneNode{"Gemm", {floats({1, 4}, x), floats({4, 1}, {1, 1, 1, 1})}}; },
       {1, 1}},
      {[](const auto& x) { return OneNode{"Conv", {floats({1, 1, 4}, x), floats({1, 1, 4}, {1, 1, 1, 1})}}; },
       {1, 1, 1}},
      {[](const auto& x) {
         return OneNode{"ConvTranspose", {floats({1, 4, 1}, x), floats({4, 1, 1}, {1, 1, 1, 1})}};
       },
       {1, 1, 1}},
  };
  for (const auto& [make, shape] : makers) {
    const OneNode large = make(terms(3e38f));
    CAPTURE(large.op);
    const Tensor infinity = floats(shape, {below});
    const Tensor nan = floats(shape, {std::numeric_limits<float>::quiet_NaN()});
    CHECK(verified(large, infinity).verdict == Verdict::identical);
    CHECK(verified(large, nan).verdict == Verdict::suspect);
    CHECK(verified(make(terms(1.0f)), nan).verdict == Verdict::fault);
  }
}

TEST_CASE("Verify_WeightThatIsNoNumberOnPadding_NaNIsNoFault") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto node = [](float weight, std::int64_t before) {
    return OneNode{
        "Conv", {floats({1, 1, 3}, {1, 2, 3}), floats({1, 1, 2}, {weight, 1})}, {ints("pads", {before, 0})}};
  };
  // The first output has the padding under that weight: 0 · NaN + 1.
  CHECK(verified(node(nan, 1), floats({1, 1, 3}, {1, nan, nan})).verdict == Verdict::identical);
  CHECK(verified(node(nan, 1), floats({1, 1, 3}, {nan, nan, nan})).verdict == Verdict::suspect);
  CHECK(verified(node(2, 1), floats({1, 1, 3}, {nan, 4, 7})).verdict == Verdict::fault);
}

namespace {

// 1 / (x − c) with x next to c: where the difference was not recorded, a divisor that may be 0.
Graph reciprocal_of_difference() {
  ModelBuilder model;
  model.input("x", DType::float32, {4})
      .initializer("f", tensor<float>({4}, {1.1f, 1.2f, 1.3f, 1.4f}))
      .initializer("one", tensor<float>({4}, {1.0f, 1.0f, 1.0f, 1.0f}))
      .node("Mul", {"x", "f"}, {"m"})
      .node("Sub", {"m", "x"}, {"d"})
      .node("Sub", {"d", "d0"}, {"s"})
      .initializer("d0", tensor<float>({4}, {0.1f * 0.7f, 0.2f * 0.7f, 0.3f * 0.7f, 0.4f * 0.7f}))
      .node("Div", {"one", "s"}, {"y"})
      .output("y");
  return built(model);
}

Verification unjudged() {
  Trace trace;
  trace.tensors = {{"x", tensor<float>({4}, {0.7f, 0.7f, 0.7f, 0.7f})},
                   {"y", tensor<float>({4}, {1.0f, 2.0f, 3.0f, 4.0f})}};
  ThreadPool threads(1);
  const auto verification = verify(reciprocal_of_difference(), "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  return *verification;
}

}  // namespace

TEST_CASE("Verify_BudgetThatSaysNothing_IsUnjudgedAndNamesAValueToRecord") {
  const Verification verification = unjudged();
  REQUIRE(verification.layers.size() == 1);
  CHECK(verification.layers[0].verdict == Verdict::unjudged);
  CHECK(verification.verdict == Verdict::unjudged);
  CHECK(!verification.first_fault);
  CHECK(reason_of(verification.layers[0]).find("its budget is infinite") != std::string::npos);
  CHECK(reason_of(verification.layers[0]).find("record d as well") != std::string::npos);
  CHECK(count_layers(verification, Verdict::unjudged) == 1);
}

TEST_CASE("Unjudged_IsShownAndCounted") {
  const Verification verification = unjudged();
  const auto json = parse_json(verification_json(verification));
  CHECK(json["verdict"] == "unjudged");
  CHECK(json["layers"][0]["verdict"] == "unjudged");
  CHECK(json["layers"][0]["reason"].get<std::string>().find("infinite") != std::string::npos);
  const std::string table = verify_table(verification, {}, "run.safetensors");
  CHECK(table.find("○ unjudged") != std::string::npos);
  CHECK(table.find("1 of 1 layers not judged") != std::string::npos);
  CHECK(table.find("record d as well") != std::string::npos);  // long, and not truncated
}

}  // namespace driftscope::test::unjudged_test
