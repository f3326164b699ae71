// R by the figures of the replication package of Openja et al. 2022 (sheet "robustness indicator"), and by
// hand.
#include "core/statistics/robustness_indicator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace driftscope {
namespace {

TEST_CASE("RobustnessIndicator_PublishedConversions_GiveTheirTable") {
  // Columns: LeNet-5 Keras, LeNet-5 PyTorch, ResNet-18 Keras, ResNet-18 PyTorch; by ONNX, then by Core ML.
  const std::vector<std::vector<double>> before = {{31.69, 74.35, 44.12, 77.96, 46.11, 74.88, 43.7625, 79.86},
                                                   {99.80, 100, 99.67, 91.05, 100, 100, 99.975, 91.2}};
  const std::vector<std::vector<double>> after = {{31.69, 74.35, 44.12, 77.96, 90.49, 74.88, 89.4375, 79.86},
                                                  {99.80, 100, 99.79, 91.05, 90.54, 96.34, 89.4625, 91.2}};
  const auto r = conversion_robustness_indicators(before, after);
  REQUIRE(r.ok());
  // Table VII prints 0.12, the distance itself, for the third; Eq. 4 divides it by 10.5125.
  const double wanted[] = {0, 0, 0.12 / 10.5125, 0, 1.8715, 0.348, 2, 0};
  for (std::size_t i = 0; i < 8; ++i) CHECK((*r)[i] == doctest::Approx(wanted[i]).epsilon(5e-4));
}

TEST_CASE("RobustnessIndicator_EqualRates_CountNothing") {
  const std::vector<std::vector<double>> success = {{0.5, 0.5, 0.5}, {0.1, 0.2, 0.6}};
  const auto r = robustness_indicators(success);
  REQUIRE(r.ok());
  CHECK((*r)[0] == 0.0);
  CHECK((*r)[1] == doctest::Approx(0.2));
  CHECK((*r)[2] == 1.0);
}

TEST_CASE("RobustnessIndicator_WhatCannotBeCompared_IsRefused") {
  using Rates = std::vector<std::vector<double>>;
  CHECK_FALSE(robustness_indicators(Rates{}).ok());
  CHECK_FALSE(robustness_indicators(Rates{{}}).ok());
  CHECK_FALSE(robustness_indicators(Rates{{1, 2}, {1}}).ok());
  CHECK_FALSE(robustness_indicators(Rates{{1, std::numeric_limits<double>::quiet_NaN()}}).ok());
  CHECK_FALSE(conversion_robustness_indicators(Rates{{1, 2}}, Rates{{1}}).ok());
  CHECK_FALSE(conversion_robustness_indicators(Rates{{1, 2}}, Rates{{1, 2}, {1, 2}}).ok());
}

}  // namespace
}  // namespace driftscope
