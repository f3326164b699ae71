// Results in the subnormal range: an engine known to keep them is not excused for zeros.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::subnormal_results_test {
namespace {

struct Case {
  const char* op;
  double (*function)(double);
  float low, high;
};
// Not Tanh and Erf, for which known algorithms exist that return 0 for all small numbers.
const Case cases[] = {
    {"Exp", [](double x) { return std::exp(x); }, -103.0f, -88.0f},
    {"Asin", [](double x) { return std::asin(x); }, 1e-44f, 1e-38f},
    {"Sin", [](double x) { return std::sin(x); }, -1e-38f, -1e-44f},
    {"Atan", [](double x) { return std::atan(x); }, 1e-44f, 1e-38f},
    {"Sinh", [](double x) { return std::sinh(x); }, 1e-44f, 1e-38f},
};

enum class Way { kept, strict, flushed, garbage };

Verdict verdict_of(const Case& one, const char* target, Way way, std::string* reason = nullptr) {
  constexpr std::int64_t count = 2000;
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(one.low + (one.high - one.low) * static_cast<float>(i) / count);
    const auto right = static_cast<float>(one.function(static_cast<double>(x.back())));
    y.push_back(way == Way::kept ? right : way == Way::flushed ? 0.0f : 0.9f * right);
  }
  const Graph graph =
      built(ModelBuilder().input("x", DType::float32, {count}).node(one.op, {"x"}, {"y"}).output("y"));
  ThreadPool threads(1);
  if (way == Way::strict) {
    const Tensor input = tensor<float>({count}, x);
    const std::array<const Tensor*, 1> inputs = {&input};
    const auto made = evaluate_strict(graph.nodes[0], inputs, threads);
    REQUIRE(made.ok());
    y.assign(made->front().values<float>().begin(), made->front().values<float>().end());
  }
  Trace trace;
  trace.target = target;
  trace.tensors = {{"x", tensor<float>({count}, x)}, {"y", tensor<float>({count}, y)}};
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  if (reason != nullptr) *reason = reason_of(verification->layers.front());
  return verification->layers.front().verdict;
}

}  // namespace

TEST_CASE("SubnormalResults_OfAnEngineThatKeepsThem_AreNoZeros") {
  for (const Case& one : cases)
    for (const char* target : {"pc/strict", "chrome/strict:simd=128"}) {
      CAPTURE(one.op);
      CHECK(verdict_of(one, target, Way::kept) <= Verdict::rounding);
      CHECK(verdict_of(one, target, Way::strict) <= Verdict::rounding);
      CHECK(verdict_of(one, target, Way::flushed) == Verdict::fault);
      CHECK(verdict_of(one, target, Way::garbage) == Verdict::fault);
    }
}

TEST_CASE("SubnormalResults_OfAnUnknownEngine_MayBeFlushedAndThatIsSaid") {
  for (const Case& one : cases) {
    CAPTURE(one.op);
    std::string reason;
    CHECK(verdict_of(one, "", Way::kept, &reason) <= Verdict::rounding);
    CHECK(reason.empty());
    CHECK(verdict_of(one, "", Way::flushed, &reason) == Verdict::rounding);
    CAPTURE(reason);
    CHECK(reason.find("as by results flushed to zero") == 0);
    CHECK(verdict_of(one, "", Way::garbage) == Verdict::fault);
  }
}

TEST_CASE("SubnormalResults_OfEnginesThatFlush_AreRounding") {
  for (const Case& one : cases)
    for (const char* target : {"pc/fast", "chrome/webgpu", "firefox/webgl"}) {
      CAPTURE(one.op);
      CAPTURE(target);
      // GLSL guarantees nothing about trigonometry.
      CHECK(verdict_of(one, target, Way::flushed) <= Verdict::unjudged);
    }
}

TEST_CASE("SubnormalAttribute_OfAnEngineThatFlushes_IsZeroToIt") {
  const Graph graph = built(ModelBuilder()
                                .opset(7)
                                .input("x", DType::float32, {2})
                                .node("Clip", {"x"}, {"y"}, {real("min", 1e-40f)})
                                .output("y"));
  ThreadPool threads(1);
  for (const auto& [target, flushes] : {std::pair("pc/fast", true), std::pair("pc/strict", false)}) {
    CAPTURE(target);
    Trace trace;
    trace.target = target;
    trace.tensors = {{"x", tensor<float>({2}, {-1.0f, 1.0f})}, {"y", tensor<float>({2}, {0.0f, 1.0f})}};
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    CHECK((verification->layers.front().verdict == Verdict::fault) != flushes);
  }
}

// The function itself was not recorded.
TEST_CASE("SubnormalResults_InAGroup_MayBeFlushedByAnUnknownEngine") {
  constexpr std::int64_t count = 500;
  std::vector<float> x, flushed;
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(-100.0f + 0.1f * static_cast<float>(i));
    const float right = std::exp(x.back());
    flushed.push_back(-(std::isnormal(right) ? right : 0.0f));
  }
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {count})
                                .node("Exp", {"x"}, {"e"})
                                .node("Neg", {"e"}, {"y"})
                                .output("y"));
  ThreadPool threads(1);
  const auto verdict = [&](const char* target) {
    Trace trace;
    trace.target = target;
    trace.tensors = {{"x", tensor<float>({count}, x)}, {"y", tensor<float>({count}, flushed)}};
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    return verification->layers.front().verdict;
  };
  CHECK(verdict("") <= Verdict::rounding);
  CHECK(verdict("pc/fast") <= Verdict::rounding);
  CHECK(verdict("pc/strict") == Verdict::fault);
}

}  // namespace driftscope::test::subnormal_results_test
