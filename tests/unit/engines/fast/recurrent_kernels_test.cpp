// The gates of the recurrent kernels against double, over all exponents, on each instruction set.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/engines/fast/simd/recurrent.hpp"
#include "core/engines/strict/simd/target.hpp"

namespace driftscope::test::recurrent_kernels_test {
namespace {

/// Floats of all signs and exponents up to infinity, every `step`-th.
std::vector<float> floats_of_all_sizes(std::uint32_t step) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0x7f800000u; bits += step)
    for (const std::uint32_t sign : {0u, 0x80000000u})
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits) | sign));
  return values;
}

double ulp_of(double y) {
  int exponent = 0;
  std::frexp(y, &exponent);
  return std::ldexp(1.0, std::max(exponent, -125) - 24);
}

template <class Exact>
double worst_ulp(const std::vector<float>& x, const std::vector<float>& y, double floor,
                 const Exact& exact) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    const double error = std::abs(static_cast<double>(y[i]) - want);
    if (error > floor) worst = std::max(worst, error / ulp_of(want));
  }
  return worst;
}

TEST_CASE("Recurrent_Tanh_IsWithin3AndAHalfUlp") {
  const std::vector<float> x = floats_of_all_sizes(9973);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    std::vector<float> y(x.size());
    fast::recurrent_kernels(simd).rnn(x.data(), std::ssize(x), y.data());
    CHECK(worst_ulp(x, y, 0.0, [](double v) { return std::tanh(v); }) < 3.5);
  }
}

TEST_CASE("Recurrent_Sigmoid_IsWithin3Ulp") {
  const std::vector<float> x = floats_of_all_sizes(9973);
  const std::vector<float> ones(x.size(), 1.0f);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    std::vector<float> y(x.size());
    fast::recurrent_kernels(simd).reset(x.data(), ones.data(), std::ssize(x), y.data());
    CHECK(worst_ulp(x, y, 1.7e-38, [](double v) { return 1.0 / (1.0 + std::exp(-v)); }) < 3.0);
  }
}

TEST_CASE("Recurrent_Gates_KeepNaN") {
  const std::vector<float> x(19, std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> ones(x.size(), 1.0f);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    std::vector<float> y(x.size()), z(x.size());
    fast::recurrent_kernels(simd).rnn(x.data(), std::ssize(x), y.data());
    fast::recurrent_kernels(simd).reset(x.data(), ones.data(), std::ssize(x), z.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(std::isnan(y[i]));
      CHECK(std::isnan(z[i]));
    }
  }
}

}  // namespace
}  // namespace driftscope::test::recurrent_kernels_test
