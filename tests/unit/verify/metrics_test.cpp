#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/verify/metrics.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::metrics_test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Metrics between(const std::vector<float>& got, const std::vector<float>& want) {
  const auto size = static_cast<std::int64_t>(got.size());
  const auto metrics = measure(tensor<float>({size}, got), tensor<float>({size}, want));
  REQUIRE(metrics.ok());
  return *metrics;
}

}  // namespace

TEST_CASE("Metrics_ClosedForm") {
  const Metrics m = between({1.0f, 2.5f, -3.0f}, {1.0f, 2.0f, -4.0f});
  CHECK(m.max_abs == 1.0);
  CHECK(m.max_rel == 0.25);
  CHECK(m.mean_abs == doctest::Approx(0.5));
  CHECK(m.different_elements == 2);
  CHECK(m.elements == 3);
  CHECK(m.cosine == doctest::Approx((1 + 5 + 12) / (std::sqrt(16.25) * std::sqrt(21.0))));
  CHECK(m.sqnr_db == doctest::Approx(10 * std::log10(21.0 / 1.25)));
}

TEST_CASE("Metrics_Equal_HaveNoNoise") {
  const Metrics m = between({1.0f, not_a_number, inf}, {1.0f, -not_a_number, inf});
  CHECK(m.different_elements == 0);
  CHECK(m.max_abs == 0.0);
  CHECK(m.cosine == doctest::Approx(1.0));
  CHECK(m.sqnr_db == std::numeric_limits<double>::infinity());
  CHECK(m.nan == 1);
  CHECK(m.inf == 1);
}

TEST_CASE("Metrics_SignedZeros_DifferInBitsOnly") {
  const Metrics m = between({0.0f, -0.0f}, {-0.0f, -0.0f});
  CHECK(m.different_elements == 1);
  CHECK(m.max_ulp == 0.0);
  CHECK(m.max_abs == 0.0);
}

TEST_CASE("Metrics_NeighbouringFloats_AreOneUlpApart") {
  CHECK(between({std::nextafter(1.0f, 2.0f)}, {1.0f}).max_ulp == 1.0);
  CHECK(between({-1e-45f}, {1e-45f}).max_ulp == 2.0);
}

TEST_CASE("Metrics_NaNOrInfinityOnOneSide_IsInfinite") {
  CHECK(between({not_a_number, 1.0f}, {1.0f, 1.0f}).max_abs == inf);
  CHECK(between({not_a_number}, {1.0f}).max_ulp == inf);
  CHECK(between({inf}, {1.0f}).max_abs == inf);
  CHECK(between({inf}, {std::numeric_limits<float>::max()}).max_ulp == 1.0);
}

TEST_CASE("Metrics_Integers_CountSteps") {
  const auto m = measure(tensor<std::int64_t>({2}, {5, std::numeric_limits<std::int64_t>::max()}),
                         tensor<std::int64_t>({2}, {7, std::numeric_limits<std::int64_t>::max() - 1}));
  REQUIRE(m.ok());
  CHECK(m->different_elements == 2);
  CHECK(m->max_ulp == 2.0);
}

TEST_CASE("Metrics_OtherShapeOrType_IsAnError") {
  CHECK(!measure(tensor<float>({2}, {1, 2}), tensor<float>({1, 2}, {1, 2})).ok());
  CHECK(!measure(tensor<float>({2}, {1, 2}), tensor<double>({2}, {1, 2})).ok());
}

TEST_CASE("Metrics_Empty_IsEqual") {
  const Metrics m = between({}, {});
  CHECK(m.elements == 0);
  CHECK(m.different_elements == 0);
  CHECK(m.cosine == 1.0);
}

TEST_CASE("KlDivergence_ClosedFormAndNoDistributions") {
  const Tensor p = tensor<float>({1, 2}, {0.5f, 0.5f});
  const Tensor q = tensor<float>({1, 2}, {0.25f, 0.75f});
  CHECK(kl_divergence(p, q) == doctest::Approx(0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0)));
  CHECK(kl_divergence(p, p) == 0.0);
  CHECK(kl_divergence(tensor<float>({2}, {-0.5f, 1.5f}), tensor<float>({2}, {0.5f, 0.5f})) == 0.0);
  CHECK(kl_divergence(tensor<float>({2}, {3, 4}), tensor<float>({2}, {4, 3})) == 0.0);
}

}  // namespace driftscope::test::metrics_test
