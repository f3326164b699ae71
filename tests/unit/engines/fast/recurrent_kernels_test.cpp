// The gates of the recurrent kernels against double, over all exponents, on each instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/engines/fast/simd/recurrent.hpp"
#include "core/engines/strict/simd/aligned.hpp"
#include "core/engines/strict/simd/target.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

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
double worst_ulp(const std::vector<float>& x, const std::vector<float>& y, double floor, const Exact& exact) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = exact(static_cast<double>(x[i]));
    const double error = std::abs(static_cast<double>(y[i]) - want);
    if (error > floor) worst = std::max(worst, error / ulp_of(want));
  }
  return worst;
}

/// The kernel's results for units whose gates' sums are all x: there is no state to multiply.
std::vector<float> gates_of(const fast::RecurrentKernels& kernels, fast::RecurrentKernel kernel,
                            std::size_t gates, const std::vector<float>& x) {
  const auto units = static_cast<std::size_t>(kernels.units[gates]);
  const std::size_t groups = (x.size() + units - 1) / units;
  std::vector<float> products(gates * x.size() + units, 0.0f);
  for (std::size_t gate = 0; gate < gates; ++gate)
    std::ranges::copy(x, products.begin() + static_cast<std::ptrdiff_t>(gate * x.size()));
  const std::vector<float> ones(groups * units, 1.0f);
  std::vector<float> z(groups * units), out(groups * units);
  fast::RecurrentOperands operands;
  operands.products = products.data();
  operands.units = std::ssize(x);
  operands.h = ones.data();
  operands.z = z.data();
  operands.out = out.data();
  kernel(operands, 0, static_cast<std::int64_t>(groups));
  out.resize(x.size());
  return out;
}

TEST_CASE("Recurrent_Tanh_IsWithin3AndAHalfUlp") {
  const std::vector<float> x = floats_of_all_sizes(9973);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const fast::RecurrentKernels kernels = fast::recurrent_kernels(simd);
    const std::vector<float> y = gates_of(kernels, kernels.rnn, 1, x);
    CHECK(worst_ulp(x, y, 0.0, [](double v) { return std::tanh(v); }) < 3.5);
  }
}

TEST_CASE("Recurrent_Sigmoid_IsWithin3Ulp") {
  const std::vector<float> x = floats_of_all_sizes(9973);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const fast::RecurrentKernels kernels = fast::recurrent_kernels(simd);
    const std::vector<float> y = gates_of(kernels, kernels.reset, 2, x);
    CHECK(worst_ulp(x, y, 1.7e-38, [](double v) { return 1.0 / (1.0 + std::exp(-v)); }) < 3.0);
  }
}

TEST_CASE("Recurrent_Gates_KeepNaN") {
  const std::vector<float> x(19, std::numeric_limits<float>::quiet_NaN());
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const fast::RecurrentKernels kernels = fast::recurrent_kernels(simd);
    for (const float y : gates_of(kernels, kernels.rnn, 1, x)) CHECK(std::isnan(y));
    for (const float y : gates_of(kernels, kernels.reset, 2, x)) CHECK(std::isnan(y));
  }
}

// Threads share a step, each some groups of units.
TEST_CASE("Recurrent_Groups_AreIndependent") {
  const std::uint64_t seed = test_seed(21);
  SEED_INFO(seed);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    Rng rng(seed);
    const fast::RecurrentKernels kernels = fast::recurrent_kernels(simd);
    struct Case {
      fast::RecurrentKernel kernel;
      std::size_t gates;
    };
    for (const Case& it : {Case{kernels.lstm, 4}, Case{kernels.gru, 3}, Case{kernels.reset, 2},
                           Case{kernels.update, 1}, Case{kernels.rnn, 1}}) {
      CAPTURE(it.gates);
      constexpr std::size_t groups = 3, depth = 5;
      const auto units = static_cast<std::size_t>(kernels.units[it.gates]);
      const auto drawn = [&](std::size_t count) {
        AlignedFloats values(static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) values.data()[i] = rng.uniform(-1.0f, 1.0f);
        return values;
      };
      const AlignedFloats packed = drawn(groups * depth * it.gates * units);
      const AlignedFloats products = drawn(groups * it.gates * units);
      const AlignedFloats h = drawn(groups * units), bias = drawn(groups * units);
      const AlignedFloats start = drawn(2 * groups * units);
      const auto run = [&](const std::vector<std::int64_t>& cuts, bool backwards) {
        std::vector<float> out(3 * groups * units, 0.0f);
        std::copy_n(start.data(), 2 * groups * units, out.begin());
        fast::RecurrentOperands operands;
        operands.packed = packed.data();
        operands.products = products.data();
        operands.state = operands.h = h.data();
        operands.depth = depth;
        operands.units = static_cast<std::int64_t>(groups * units);
        operands.candidate_bias = it.kernel == kernels.gru ? bias.data() : nullptr;
        operands.c = out.data();
        operands.z = out.data() + groups * units;
        operands.out = out.data() + 2 * groups * units;
        operands.backwards = backwards;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) it.kernel(operands, cuts[i], cuts[i + 1]);
        return out;
      };
      const std::vector<float> whole = run({0, 3}, false);
      CHECK(whole == run({0, 1, 3}, false));
      CHECK(whole == run({0, 1, 3}, true));
      CHECK(whole == run({0, 2, 3}, true));
      CHECK(std::count(whole.begin() + 2 * groups * units, whole.end(), 0.0f) == 0);
    }
  }
}

}  // namespace
}  // namespace driftscope::test::recurrent_kernels_test
