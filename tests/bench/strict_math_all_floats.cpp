// Tries every strict function of one float on all 2³² floats against the double of the C library (within
// 2 ULP of binary64, 10⁻⁸ of a float's) and prints the largest error of each in ULP and where it lies;
// also compares the vector forms of every instruction set of this machine with the scalar ones, where
// there are any. pow is tried on a lattice of 2²⁶ pairs. Fails (exit code 1) beyond 2 ULP, on a wrong NaN
// or infinity, a wrong sign of zero, and on a vector that differs. One to three minutes for each function
// on two processors; `--stride N` tries every Nth float, `--only NAME` one function.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/float_bits.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/strict_math.hpp"

namespace {

using namespace driftscope;

using Kernels = ElementwiseKernels;

struct Function {
  const char* name;
  float (*strict)(float);
  Kernels::Unary Kernels::* vector;  // or none
  double (*exact)(double);
};

// e^x/(1 + e^x) below 0: no cancellation, and no loss from an overflowing e^-x.
double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double exact_softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }

#define DRIFTSCOPE_EXACT(f) [](double x) -> double { return std::f(x); }
#define DRIFTSCOPE_ROUNDED(f) {#f, [](float x) { return math::f(x); }, nullptr, DRIFTSCOPE_EXACT(f)}
const Function functions[] = {
    {"exp", strict_exp, &Kernels::exp, DRIFTSCOPE_EXACT(exp)},
    {"tanh", strict_tanh, &Kernels::tanh, DRIFTSCOPE_EXACT(tanh)},
    {"sigmoid", strict_sigmoid, &Kernels::sigmoid, exact_sigmoid},
    {"erf", strict_erf, &Kernels::erf, DRIFTSCOPE_EXACT(erf)},
    {"softplus", [](float x) { return math::softplus(x); }, nullptr, exact_softplus},
    DRIFTSCOPE_ROUNDED(expm1),
    DRIFTSCOPE_ROUNDED(log),
    DRIFTSCOPE_ROUNDED(log1p),
    DRIFTSCOPE_ROUNDED(sinh),
    DRIFTSCOPE_ROUNDED(cosh),
    DRIFTSCOPE_ROUNDED(asinh),
    DRIFTSCOPE_ROUNDED(acosh),
    DRIFTSCOPE_ROUNDED(atanh),
    DRIFTSCOPE_ROUNDED(sin),
    DRIFTSCOPE_ROUNDED(cos),
    DRIFTSCOPE_ROUNDED(tan),
    DRIFTSCOPE_ROUNDED(asin),
    DRIFTSCOPE_ROUNDED(acos),
    DRIFTSCOPE_ROUNDED(atan),
};
#undef DRIFTSCOPE_ROUNDED
#undef DRIFTSCOPE_EXACT

struct Worst {
  double ulp = 0.0;
  float at = 0.0f;
  std::uint64_t wrong = 0;  // NaN, infinity or sign
  float wrong_at = 0.0f;
  std::uint64_t vectors_differ = 0;
};

void judge(double want, float x, float got, Worst& worst) {
  bool wrong = std::isnan(got) != std::isnan(want) || std::signbit(got) != std::signbit(want);
  if (std::isnan(want)) wrong = !std::isnan(got);
  // An infinite result is right from half an ULP above the largest float on.
  if (std::isinf(got) && !(std::abs(want) >= 0x1.ffffffp127)) wrong = true;
  if (std::isinf(want) && !std::isinf(got)) wrong = true;
  if (wrong) {
    if (worst.wrong++ == 0) worst.wrong_at = x;
    return;
  }
  if (std::isnan(got) || std::isinf(got)) return;
  const double ulp = std::fabs(static_cast<double>(got) - want) / (2.0 * half_ulp_f32(want));
  if (ulp > worst.ulp) {
    worst.ulp = ulp;
    worst.at = x;
  }
}

// A few thousand floats at once: checked one by one, then as vectors.
void verify_batch(const Function& function, const std::vector<Kernels>& widths, const std::vector<float>& x,
                  Worst& worst) {
  std::vector<float> scalar(x.size());
  std::vector<float> vector(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    scalar[i] = function.strict(x[i]);
    judge(function.exact(static_cast<double>(x[i])), x[i], scalar[i], worst);
  }
  if (function.vector == nullptr) return;
  for (const Kernels& kernels : widths) {
    (kernels.*function.vector)(x.data(), vector.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      worst.vectors_differ += same_result(vector[i], scalar[i]) ? 0u : 1u;
  }
}

// Runs body(block, worst) for all blocks on all threads.
template <class Body>
Worst on_all_threads(std::uint64_t blocks, const Body& body) {
  std::atomic<std::uint64_t> next{0};
  std::vector<Worst> found(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (Worst& worst : found)
    threads.emplace_back([&] {
      for (std::uint64_t b = next++; b < blocks; b = next++) body(b, worst);
    });
  for (std::thread& thread : threads) thread.join();
  Worst all;
  for (const Worst& w : found) {
    if (w.ulp > all.ulp) all.ulp = w.ulp, all.at = w.at;
    if (w.wrong > 0 && all.wrong == 0) all.wrong_at = w.wrong_at;
    all.wrong += w.wrong;
    all.vectors_differ += w.vectors_differ;
  }
  return all;
}

Worst try_all(const Function& function, std::uint64_t stride) {
  constexpr std::uint64_t block = std::uint64_t{1} << 16;
  std::vector<Kernels> widths;
  for (const SimdTarget& target : simd_targets()) widths.push_back(elementwise_kernels(target));
  return on_all_threads((std::uint64_t{1} << 32) / block, [&](std::uint64_t b, Worst& worst) {
    std::vector<float> x;
    const std::uint64_t first = (b * block + stride - 1) / stride * stride;
    for (std::uint64_t bits = first; bits < (b + 1) * block; bits += stride)
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    verify_batch(function, widths, x, worst);
  });
}

// Bases and exponents of every size and sign; half of the exponents are whole or end in ½, so that
// negative bases have results as well.
Worst try_pow(std::uint64_t stride) {
  constexpr std::uint64_t bases = std::uint64_t{1} << 14;
  constexpr std::uint64_t exponents = std::uint64_t{1} << 12;
  return on_all_threads(bases / stride, [&](std::uint64_t b, Worst& worst) {
    const auto base_bits = static_cast<std::uint32_t>(b * stride * 262147u);  // a prime beyond 2¹⁸
    const auto x = std::bit_cast<float>(base_bits);
    for (std::uint64_t e = 0; e < exponents; ++e) {
      const float y = e % 2 == 0 ? (static_cast<float>(e) - 2048.0f) / 4.0f
                                 : std::bit_cast<float>(static_cast<std::uint32_t>(e * 1048583u));
      judge(std::pow(static_cast<double>(x), static_cast<double>(y)), x, math::pow(x, y), worst);
    }
  });
}

// Prints a line and returns whether all is well.
bool report(const char* name, const Worst& worst) {
  std::printf("%-8s largest error %.4f ULP at %a", name, worst.ulp, static_cast<double>(worst.at));
  if (worst.wrong > 0)
    std::printf(", %llu wrong NaN, infinity or sign, first at %a",
                static_cast<unsigned long long>(worst.wrong), static_cast<double>(worst.wrong_at));
  std::printf(", %llu vector elements differ from scalars\n",
              static_cast<unsigned long long>(worst.vectors_differ));
  std::fflush(stdout);
  return worst.ulp <= 2.0 && worst.wrong == 0 && worst.vectors_differ == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t stride = 1;
  std::string_view only;
  bool understood = argc % 2 == 1;
  for (int i = 1; understood && i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--stride")
      stride = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--only")
      only = argv[i + 1];
    else
      understood = false;
  }
  if (!understood || stride == 0) {
    std::fprintf(stderr, "usage: %s [--stride N] [--only NAME]\n", argv[0]);
    return 2;
  }
  bool good = true;
  for (const SimdTarget& target : simd_targets()) std::printf("# %s\n", target.name.c_str());
  const auto wanted = [&](std::string_view name) { return only.empty() || only == name; };
  for (const Function& function : functions)
    if (wanted(function.name)) good = report(function.name, try_all(function, stride)) && good;
  if (wanted("pow")) good = report("pow", try_pow(std::min<std::uint64_t>(stride, 64))) && good;
  return good ? 0 : 1;
}
