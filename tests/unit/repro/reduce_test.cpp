// Making an excerpt smaller on a runtime with a planted fault.
#include "core/repro/reduce.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/platform/platform.hpp"
#include "tests/unit/repro/faulty_runtime.hpp"

namespace driftscope::test::reduce_test {
namespace {

Reduced reduced(Excerpt excerpt, const Fault& fault, ReduceOptions options = {}) {
  ThreadPool threads(1);
  const RunExcerpt run = runtime_with(fault);
  const auto verdict = run(excerpt);
  REQUIRE(verdict.ok());
  REQUIRE(is_bad(verdict->verdict));
  auto result = reduce(std::move(excerpt), run, options, threads);
  REQUIRE(result.ok());
  CHECK(is_bad(result->excerpt.verdict.verdict));
  return *std::move(result);
}

}  // namespace

TEST_CASE("Reduce_FaultOfFiveOrMoreChannels_KeepsExactlyFive") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    if (shape_of(excerpt, 0)[1] >= 5)
      for (float& value : y) value += 1.0f + std::fabs(value);
  };
  const Reduced small = reduced(conv({2, 8, 9, 9}, {6, 8, 3, 3}), fault);
  CHECK(small.finished);
  CHECK(shape_of(small.excerpt, 0)[0] == 1);
  CHECK(shape_of(small.excerpt, 0)[1] == 5);
  CHECK(shape_of(small.excerpt, 1) == Shape{1, 5, 1, 1});
  CHECK(small.excerpt.node().inputs.size() == 2);  // without the bias
  CHECK(small.elements_after == 11);
  CHECK(small.elements_before > 1000);
  CHECK_FALSE(small.steps.empty());
}

// By ones from 384 it would take more than 83 tries.
TEST_CASE("Reduce_FaultThatBeginsAtASize_IsReachedInFewTries") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    if (shape_of(excerpt, 0)[1] >= 301) y[0] += 3.0f + std::fabs(y[0]);
  };
  const Reduced small = reduced(conv({1, 384, 2, 2}, {1, 384, 1, 1}), fault);
  CHECK(small.finished);
  CHECK(shape_of(small.excerpt, 0)[1] == 301);
  CHECK(small.steps.size() < 30);
}

TEST_CASE("Reduce_DepthwiseConvolution_LosesChannelsWithItsGroups") {
  const auto fault = [](const Excerpt&, std::span<float> y) {
    for (float& value : y) value += 1.0f + std::fabs(value);
  };
  const Reduced small =
      reduced(conv({1, 8, 9, 9}, {8, 1, 3, 3}, {integer("group", 8), ints("kernel_shape", {3, 3})}), fault);
  CHECK(shape_of(small.excerpt, 0) == Shape{1, 1, 1, 1});
  CHECK(shape_of(small.excerpt, 1) == Shape{1, 1, 1, 1});
}

TEST_CASE("Reduce_FaultOfAnAttribute_KeepsIt") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    if (excerpt.node().attribute("strides") != nullptr) y[0] += 3.0f + std::fabs(y[0]);
  };
  const Reduced small = reduced(
      conv({1, 3, 8, 8}, {2, 3, 3, 3},
           {{"strides", std::vector<std::int64_t>{2, 2}}, {"dilations", std::vector<std::int64_t>{1, 1}}}),
      fault);
  REQUIRE(small.excerpt.node().attributes.size() == 1);
  CHECK(small.excerpt.node().attributes[0].name == "strides");
}

// With few channels the runtime has another fault: the reduction must not end there.
TEST_CASE("Reduce_AnotherCauseForSmallOnes_IsNotSlidTo") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    const bool zeros = shape_of(excerpt, 0)[1] >= 4;
    const auto width = static_cast<std::size_t>(excerpt.got.tensor.shape()[3]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (zeros && i % width >= width - 2) y[i] = 0.0f;
      if (!zeros) y[i] = y[i] * 1.5f + 0.25f;
    }
  };
  const Reduced small = reduced(conv({1, 6, 8, 12}, {4, 6, 1, 1}), fault);
  REQUIRE(small.excerpt.verdict.explanation.has_value());
  REQUIRE(small.excerpt.verdict.explanation->cause.has_value());
  CHECK(small.excerpt.verdict.explanation->cause->id == "execution.zero_block");
  CHECK(shape_of(small.excerpt, 0)[1] >= 4);
}

// Asked three times, it fails as surely as one that comes in every run: no step is lost, none tried again.
TEST_CASE("Reduce_FaultThatComesEveryThirdRun_NeedsRepeats") {
  const auto wrong = [](std::span<float> y) { y[0] += 5.0f + std::fabs(y[0]); };
  int run = 0;
  const auto flaky = [&](const Excerpt&, std::span<float> y) {
    if (run++ % 3 == 0) wrong(y);
  };
  const auto stable = [&](const Excerpt&, std::span<float> y) { wrong(y); };
  const Reduced some = reduced(conv({1, 4, 8, 8}, {4, 4, 3, 3}), flaky, {.repeats = 3});
  const Reduced all = reduced(conv({1, 4, 8, 8}, {4, 4, 3, 3}), stable);
  CHECK(some.elements_after == all.elements_after);
  CHECK(some.tried == all.tried);
}

TEST_CASE("Reduce_AtItsLimits_GivesTheSmallestSoFar") {
  const auto fault = [](const Excerpt&, std::span<float> y) { y[0] += 5.0f + std::fabs(y[0]); };
  const Reduced few = reduced(conv({1, 4, 8, 8}, {4, 4, 3, 3}), fault, {.most_tries = 3});
  CHECK_FALSE(few.finished);
  CHECK(few.elements_after <= few.elements_before);
  int asked = 0;
  ReduceOptions options;
  options.go_on = [&asked](const ReduceProgress& now) {
    CHECK(now.tried == asked + 1);
    return ++asked < 5;
  };
  CHECK_FALSE(reduced(conv({1, 4, 8, 8}, {4, 4, 3, 3}), fault, options).finished);
}

TEST_CASE("Reduce_NaNOfSomeSizes_DoesNotBecomeAnotherFault") {
  // Smaller than 4×4 the output is only scaled.
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    const Shape& shape = shape_of(excerpt, 0);
    if (shape[2] >= 4 && shape[3] >= 4)
      y[0] = std::nanf("");
    else
      for (float& value : y) value *= 1.5f;
  };
  const Reduced small = reduced(conv({1, 2, 9, 9}, {3, 2, 1, 1}), fault);
  CHECK(shape_of(small.excerpt, 0) == Shape{1, 1, 4, 4});
  CHECK(std::isnan(small.excerpt.got.tensor.values<float>()[0]));
}

}  // namespace driftscope::test::reduce_test
