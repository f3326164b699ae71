#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::random_test {
namespace {

// Random nodes have no bounds, so only the strict kernel runs.
std::vector<double> numbers(const OneNode& node) { return node.strict_numbers(); }

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("Random_SameSeed_SameNumbers_OfTheRightDistribution") {
  const auto uniform = [](float seed) {
    return OneNode{"RandomUniform",
                   {},
                   {ints("shape", {100, 100}), real("low", -1), real("high", 3), real("seed", seed)}};
  };
  const auto x = numbers(uniform(1));
  CHECK(x.size() == 10000);
  CHECK(x == numbers(uniform(1)));
  CHECK(x != numbers(uniform(2)));
  CHECK(*std::min_element(x.begin(), x.end()) >= -1);
  CHECK(*std::max_element(x.begin(), x.end()) < 3);
  CHECK(std::abs(mean(x) - 1) < 0.1);
  const auto normal =
      numbers(OneNode{"RandomNormalLike", {floats({10000}, std::vector<float>(10000))}, {real("mean", 5)}});
  CHECK(std::abs(mean(normal) - 5) < 0.1);
  const auto coins = numbers(OneNode{"Bernoulli", {floats({1000}, std::vector<float>(1000, 0.25f))}});
  CHECK(std::abs(mean(coins) - 0.25) < 0.06);
  const auto dice =
      numbers(OneNode{"Multinomial", {floats({1, 3}, {-100, 0, 0})}, {integer("sample_size", 1000)}});
  CHECK(*std::min_element(dice.begin(), dice.end()) == 1);
  CHECK(std::abs(mean(dice) - 1.5) < 0.1);
}

TEST_CASE("Random_WrongAttributes_AreErrors") {
  CHECK(contains(OneNode{"RandomUniform", {}, {ints("shape", {-1})}}.error().message, "-1"));
  CHECK(contains(OneNode{"RandomNormal", {}, {ints("shape", {1}), integer("dtype", 7)}}.error().message,
                 "dtype: 7"));
  CHECK(contains(OneNode{"RandomUniformLike", {longs({1})}}.error().message, "not a floating-point"));
}

}  // namespace driftscope::test::random_test
