// Sum<Bounded> covers every order of accumulation in float32, fused or not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/float_bits.hpp"
#include "core/base/rng.hpp"
#include "core/numerics/sum.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::sum_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Bounded exact(float x) { return static_cast<double>(x); }

// A random tree of additions over random leaves.
float random_tree(std::vector<float> terms, Rng& rng) {
  while (terms.size() > 1) {
    const std::size_t i = rng.below(terms.size());
    std::swap(terms[i], terms.back());
    const float x = terms.back();
    terms.pop_back();
    const std::size_t j = rng.below(terms.size());
    terms[j] = terms[j] + x;
  }
  return terms.empty() ? 0.0f : terms[0];
}

}  // namespace

TEST_CASE("SumBounded_AnyOrder_IsCovered") {
  const std::uint64_t seed = test::test_seed(21);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t count = 1 + rng.below(60);
    const bool same_sign = rng.below(2) == 0;
    std::vector<float> a(count), b(count), products(count);
    Sum<Bounded> plain, dot;
    float fused = 0.0f;
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = rng.below(6) == 0 ? 0.0f : std::ldexp(rng.normal(), static_cast<int>(rng.below(8)));
      b[i] = rng.normal();
      if (same_sign) a[i] = std::fabs(a[i]), b[i] = std::fabs(b[i]);
      plain.add(exact(a[i]));
      dot.add_product(exact(a[i]), exact(b[i]));
      products[i] = a[i] * b[i];
      fused = std::fma(a[i], b[i], fused);
    }
    const auto check = [&](const Bounded& bound, float got) {
      const double error = std::fabs(static_cast<double>(got) - bound.value);
      if (error > bound.worst)
        FAIL(count << " terms: " << got << " is " << error << " off, bound " << bound.worst);
      if (error > bound.likely) FAIL(count << " terms: beyond likely " << bound.likely);
    };
    for (int order = 0; order < 4; ++order) {
      check(plain.result(), random_tree(a, rng));
      check(dot.result(), random_tree(products, rng));
    }
    check(plain.result(), reduce_sum(std::span<const float>(a)));
    check(dot.result(), fused);
  }
}

TEST_CASE("SumBounded_OneTerm_IsExact") {
  Sum<Bounded> sum(Bounded(0.0));
  sum.add(Bounded(0.1f));
  sum.add(Bounded(0.0));
  CHECK(sum.result().value == static_cast<double>(0.1f));
  CHECK(sum.result().worst == 0.0);
}

TEST_CASE("SumBounded_OneOperation_IsHalfAnUlp") {
  Sum<Bounded> two;
  two.add(exact(0.1f));
  two.add(exact(0.2f));
  CHECK(two.result().worst == doctest::Approx(half_ulp_f32(0.3)));
  Sum<Bounded> product;
  product.add_product(exact(0.1f), exact(0.2f));
  CHECK(product.result().worst == doctest::Approx(half_ulp_f32(0.02)));
}

TEST_CASE("SumBounded_Gamma_CountsAdditionsAndOneProduct") {
  Sum<Bounded> sum(exact(1.0f));
  for (int i = 0; i < 9; ++i) sum.add_product(exact(1.0f), exact(3.0f));
  // Ten terms: nine additions and the products' rounding, on Σ|terms| = 28.
  CHECK(sum.result().worst == doctest::Approx(10 * 0x1p-24 * 28).epsilon(1e-5));
}

TEST_CASE("SumBounded_FurtherRounding_IsCounted") {
  Sum<Bounded> sum(exact(2.0f));
  sum.round_once_more();
  CHECK(sum.result().worst == doctest::Approx(0x1p-24 * 2).epsilon(1e-5));
}

TEST_CASE("SumBounded_InheritedErrors_AreCarried") {
  Sum<Bounded> sum;
  sum.add_product(Bounded(2.0, 0.5, 0.25, 0.125), exact(3.0f));
  sum.add(Bounded(1.0, 0.1, 0.1));
  const Bounded result = sum.result();
  CHECK(result.worst == doctest::Approx(1.6).epsilon(1e-5));
  CHECK(result.likely == doctest::Approx(0.85).epsilon(1e-5));
  CHECK(result.systematic == doctest::Approx(0.475).epsilon(1e-5));
}

TEST_CASE("SumBounded_LongSum_StatisticalBoundIsSmallerAndHolds") {
  const std::uint64_t seed = test::test_seed(22);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 50; ++round) {
    Sum<Bounded> sum;
    float got = 0.0f;
    for (int i = 0; i < 5000; ++i) {
      const float a = rng.normal();
      const float b = rng.normal();
      sum.add_product(exact(a), exact(b));
      got += a * b;
    }
    const Bounded bound = sum.result();
    CHECK(bound.likely < bound.worst / 5);
    CHECK(std::fabs(static_cast<double>(got) - bound.value) < bound.likely / 4);
  }
}

TEST_CASE("SumBounded_ManyEqualTerms_LoseMoreThanTheSquareRootAndAreNotSuspect") {
  // Every addition within a binade rounds the same way: errors add up instead of cancelling.
  Sum<Bounded> sum;
  float got = 0.0f;
  for (int i = 0; i < 50000; ++i) {
    sum.add(exact(0.1f));
    got += 0.1f;
  }
  const Bounded bound = sum.result();
  const double error = std::fabs(static_cast<double>(got) - bound.value);
  ErrorModel model;
  CHECK(error > model.lambda(50000) * std::sqrt(50000.0) * 0x1p-24 * bound.value);
  CHECK(error < bound.likely);
  CHECK(bound.likely <= bound.worst);
}

TEST_CASE("SumBounded_InfinityAndNaN") {
  Sum<Bounded> infinite;
  infinite.add(Bounded(inf));
  infinite.add(Bounded(1.0, 0.5, 0.5));
  CHECK(infinite.result().value == inf);
  CHECK(infinite.result().worst == 0.0);
  infinite.add(Bounded(-inf));
  CHECK(std::isnan(infinite.result().value));
  CHECK(infinite.result().worst == 0.0);
  Sum<Bounded> unsure;
  unsure.add_product(Bounded(inf), Bounded(0.1, 0.2, 0.2));
  CHECK(unsure.result().worst == inf);
  // Partial sums that overflow in one order and not in another.
  OverflowNote note;
  ErrorModel model;
  model.overflow = &note;
  const ErrorModelScope scope(model);
  Sum<Bounded> wide;
  for (const float x : {3e38f, 3e38f, -3e38f, -3e38f}) wide.add(exact(x));
  CHECK(std::isfinite(wide.result().worst));  // finite results are judged by the normal budget
  CHECK(note.level() == Overflow::possible);
}

// The short way for many sums gives the bits of the long one.
TEST_CASE("ExactSumBounds_AreThoseOfTheSum") {
  const std::uint64_t seed = test::test_seed(22);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const DType dtype : {DType::float32, DType::float16, DType::float64})
    for (const std::int64_t further : {0, 1}) {
      ErrorModel model = error_model_for({}, dtype);
      model.elements = 1000;
      const ErrorModelScope scope(model);
      ExactSumBounds bounds(further);
      for (int round = 0; round < 4000; ++round) {
        const std::int64_t count = rng.below(4) == 0 ? static_cast<std::int64_t>(rng.below(3))
                                                     : static_cast<std::int64_t>(rng.below(300));
        Bounded start = exact(rng.below(3) == 0 ? 0.0f : rng.normal());
        if (rng.below(10) == 0) start = Bounded(0.5, 1e-3, 1e-4, 1e-5);
        if (rng.below(50) == 0) start = inf;
        double magnitude = count == 0 ? 0.0 : static_cast<double>(rng.uniform(0.0f, 100.0f));
        if (rng.below(50) == 0) magnitude *= 0x1p126;
        if (rng.below(20) == 0) magnitude = 0.0;
        const double value = magnitude * static_cast<double>(rng.uniform(-1.0f, 1.0f));
        Sum<Bounded> sum(start);
        for (std::int64_t i = 0; i < further; ++i) sum.round_once_more();
        sum.add_exact_products(value, magnitude, count);
        const Bounded want = sum.result();
        const Bounded got = bounds.result(start, value, magnitude, count);
        CAPTURE(count);
        CAPTURE(start.value);
        CAPTURE(value);
        CAPTURE(magnitude);
        CHECK(got.value == want.value);
        CHECK(got.worst == want.worst);
        CHECK(got.likely == want.likely);
        CHECK(got.systematic == want.systematic);
      }
    }
}

}  // namespace driftscope::test::sum_test
