// Which budgets can distinguish a right tensor from a wrong one.
#include "core/verify/judgeable.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "core/platform/platform.hpp"

namespace driftscope::test::judgeable_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// `value` and `budget` of element i of n.
Blindness blindness_of(std::size_t n, const std::function<double(std::size_t)>& value,
                       const std::function<double(std::size_t)>& budget, bool group = false) {
  std::vector<Bounded> reference;
  for (std::size_t i = 0; i < n; ++i) reference.push_back({value(i), budget(i), budget(i)});
  ThreadPool one(1);
  ThreadPool three(3);
  const Blindness result = blindness(reference, {.group = group}, one);
  CHECK(result == blindness(reference, {.group = group}, three));
  return result;
}

std::function<double(std::size_t)> same(double x) {
  return [x](std::size_t) { return x; };
}

// Of mean 0 and deviation 1.
std::function<double(std::size_t)> spread() {
  return [](std::size_t i) { return i % 2 == 0 ? 1.0 : -1.0; };
}

}  // namespace

TEST_CASE("Blindness_BudgetFarBelowTheSpread_IsNone") {
  CHECK(blindness_of(100, spread(), same(0.0)) == Blindness::none);
  CHECK(blindness_of(100, spread(), same(1e-6)) == Blindness::none);
  CHECK(blindness_of(100, spread(), same(0.4)) == Blindness::none);
  CHECK(blindness_of(100'000, spread(), same(1e-6)) == Blindness::none);
}

TEST_CASE("Blindness_InfiniteBudget_IsSaid") {
  CHECK(blindness_of(100, spread(), same(infinite)) == Blindness::infinite);
  CHECK(blindness_of(1, same(3.0), same(infinite)) == Blindness::infinite);
  // One element in a hundred says little about the others, a third of them is enough.
  const auto some = [](std::size_t every) {
    return [every](std::size_t i) { return i % every == 0 ? infinite : 1e-6; };
  };
  CHECK(blindness_of(99, spread(), some(99)) == Blindness::none);
  CHECK(blindness_of(99, spread(), some(3)) == Blindness::infinite);
}

TEST_CASE("Blindness_BudgetOfHalfTheSpread_HidesConstants") {
  CHECK(blindness_of(100, spread(), same(0.49)) == Blindness::none);
  CHECK(blindness_of(100, spread(), same(0.51)) == Blindness::wider_than_spread);
  // The spread matters, not the magnitude of the values.
  const auto shifted = [](std::size_t i) { return 1000.0 + (i % 2 == 0 ? 1.0 : -1.0); };
  CHECK(blindness_of(100, shifted, same(0.49)) == Blindness::none);
  CHECK(blindness_of(100, shifted, same(0.51)) == Blindness::wider_than_spread);
}

TEST_CASE("Blindness_OneNumberEverywhere_IsJudgedByItsSize") {
  CHECK(blindness_of(100, same(2.0), same(0.9)) == Blindness::none);
  CHECK(blindness_of(100, same(2.0), same(1.1)) == Blindness::wider_than_spread);
  CHECK(blindness_of(1, same(2.0), same(0.9)) == Blindness::none);
  CHECK(blindness_of(1, same(2.0), same(2.1)) == Blindness::wider_than_spread);
  CHECK(blindness_of(100, same(0.0), same(0.0)) == Blindness::none);
  CHECK(blindness_of(100, same(0.0), same(1e-3)) == Blindness::wider_than_spread);
}

TEST_CASE("Blindness_WhatTheFormatResolves_HidesNothing") {
  // A saturated Sigmoid: all within an ULP of 1, the budget is four.
  const auto saturated = [](std::size_t i) { return 1.0 - static_cast<double>(i % 3) * 0x1p-25; };
  CHECK(blindness_of(100, saturated, same(0x1p-21)) == Blindness::none);
  CHECK(blindness_of(100, saturated, same(0x1p-18)) == Blindness::wider_than_spread);
  // Subnormal results that may be flushed.
  CHECK(blindness_of(
            100, [](std::size_t i) { return 1e-40 * static_cast<double>(i); }, same(0x1p-126)) ==
        Blindness::none);
}

TEST_CASE("Blindness_ZerosThatPass_AreSeenWhateverTheSpread") {
  // All but a fifth are ones, each with a budget as large as itself.
  const auto mostly = [](std::size_t i) { return i % 5 == 0 ? 0.0 : 1.0; };
  CHECK(blindness_of(100, mostly, mostly) == Blindness::wider_than_spread);
  CHECK(blindness_of(100, mostly, [&](std::size_t i) { return i == 1 ? 0.5 : mostly(i); }) ==
        Blindness::none);
}

TEST_CASE("Blindness_AnyConstantThatPasses_IsSeen") {
  const auto mostly = [](std::size_t i) { return i % 5 == 0 ? 5.0 : 6.0; };
  const auto budget = [&](std::size_t i) { return mostly(i) - 5.0; };
  CHECK(blindness_of(100, mostly, budget) == Blindness::wider_than_spread);
  CHECK(blindness_of(100, mostly, [&](std::size_t i) { return i == 1 ? 0.5 : budget(i); }) ==
        Blindness::none);
}

TEST_CASE("Blindness_SmoothTensorThatMayBeRolled_IsSeen") {
  const auto triangle = [](std::size_t i) { return std::fabs(static_cast<double>(i) - 500.0); };
  CHECK(blindness_of(1000, triangle, same(0.9)) == Blindness::none);
  CHECK(blindness_of(1000, triangle, same(1.1)) == Blindness::wider_than_spread);
}

TEST_CASE("Blindness_OfAGroup_IncludesAWrongScale") {
  CHECK(blindness_of(100, spread(), same(0.011), true) == Blindness::scaled);
  CHECK(blindness_of(100, spread(), same(0.009), true) == Blindness::none);
  CHECK(blindness_of(100, spread(), same(0.011), false) == Blindness::none);
}

TEST_CASE("Blindness_NaNAndInfinity_AreLeftOut") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(blindness_of(10, same(nan), same(infinite)) == Blindness::none);
  const auto mixed = [&](std::size_t i) { return i == 0 ? nan : i == 1 ? infinite : spread()(i); };
  CHECK(blindness_of(100, mixed, same(1e-6)) == Blindness::none);
  CHECK(blindness_of(100, mixed, same(2.0)) == Blindness::wider_than_spread);
  CHECK(blindness_of(0, same(0.0), same(0.0)) == Blindness::none);
}

TEST_CASE("Blindness_RandomTensorsThatPassAsConstants_AreAlwaysSeen") {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(2 + rng.below(50));
    for (double& x : values)
      x = static_cast<double>(rng.normal()) * std::exp(static_cast<double>(rng.normal()));
    // A budget that just lets a constant pass.
    const double constant = static_cast<double>(rng.normal());
    CHECK(blindness_of(
              values.size(), [&](std::size_t i) { return values[i]; },
              [&](std::size_t i) { return std::fabs(values[i] - constant) * (1.0 + 1e-12) + 1e-6; }) !=
          Blindness::none);
  }
}

}  // namespace driftscope::test::judgeable_test
