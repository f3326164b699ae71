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
  CHECK(m.mean_rel == doctest::Approx(0.5 / 3));
  CHECK(m.different_elements == 2);
  CHECK(m.elements == 3);
  CHECK(m.cosine == doctest::Approx((1 + 5 + 12) / (std::sqrt(16.25) * std::sqrt(21.0))));
  CHECK(m.sqnr_db == doctest::Approx(10 * std::log10(21.0 / 1.25)));
}

TEST_CASE("Metrics_MeanRelative_LeavesOutZerosAndWhatIsNotFinite") {
  CHECK(between({1.0f, 3.0f, 3.0f, 1.0f}, {0.0f, 2.0f, 4.0f, inf}).mean_rel == doctest::Approx(0.375));
  CHECK(between({1.0f, 2.0f}, {0.0f, -0.0f}).mean_rel == 0.0);
  CHECK(between({0.0f, 2.0f}, {0.0f, 2.0f}).mean_rel == 0.0);
  // A block of equal elements counts with those that differ.
  std::vector<float> want(1024, 2.0f);
  want[3] = 0.0f;
  std::vector<float> got = want;
  got[1000] = 3.0f;
  CHECK(between(got, want).mean_rel == doctest::Approx(0.5 / 1023));
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

// Summed in parts of 65,536 elements: each counts exactly once, on any number of threads.
TEST_CASE("Metrics_LongTensors_AreMeasuredWholeOnAnyNumberOfThreads") {
  constexpr std::size_t size = 3 * 65'536 + 17;
  std::vector<float> want(size, 2.0f);
  std::vector<float> got = want;
  const std::size_t places[] = {0, 65'535, 65'536, 131'071, 131'072, size - 1};
  for (const std::size_t at : places) got[at] = 2.5f;
  got[70'000] = 4.0f;
  got[size - 2] = want[size - 2] = inf;
  const auto check = [&](const Metrics& m) {
    CHECK(m.elements == static_cast<std::int64_t>(size));
    CHECK(m.different_elements == 7);
    CHECK(m.inf == 1);
    CHECK(m.nan == 0);
    CHECK(m.max_abs == 2.0);
    CHECK(m.max_rel == 1.0);
    CHECK(m.max_ulp == 0x1p23);
    const double finite = static_cast<double>(size) - 1.0;
    CHECK(m.mean_abs == doctest::Approx((6 * 0.5 + 2.0) / finite));
    CHECK(m.mean_rel == doctest::Approx((6 * 0.25 + 1.0) / finite));
    CHECK(m.sqnr_db == doctest::Approx(10 * std::log10(4.0 * finite / (6 * 0.25 + 4.0))));
    const double dot = 4.0 * (finite - 7.0) + 6 * 5.0 + 8.0;
    const double squares = 4.0 * (finite - 7.0) + 6 * 6.25 + 16.0;
    CHECK(m.cosine == doctest::Approx(dot / std::sqrt(squares * 4.0 * finite)));
  };
  check(between(got, want));
  for (const int count : {1, 2, 3}) {
    ThreadPool threads(count);
    const auto length = static_cast<std::int64_t>(size);
    const auto m = measure(tensor<float>({length}, got), tensor<float>({length}, want), &threads);
    REQUIRE(m.ok());
    check(*m);
  }
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
