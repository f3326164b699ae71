// Tries strict_exp, strict_tanh and strict_sigmoid on all 2³² floats against binary64 and prints the
// largest error of each in ULP and where it lies. Fails (exit code 1) beyond 2 ULP, on a wrong NaN or
// infinity, and on a wrong sign of zero. A minute or two a thread; `--stride N` tries every Nth float.
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
#include "core/ops/support/strict_math.hpp"

namespace {

using namespace driftscope;

struct Function {
  const char* name;
  float (*strict)(float);
  double (*exact)(double);
};

const Function functions[] = {
    {"exp", strict_exp, [](double x) { return std::exp(x); }},
    {"tanh", strict_tanh, [](double x) { return std::tanh(x); }},
    // e^x/(1 + e^x) below 0: no cancellation, and no loss from an overflowing e^-x.
    {"sigmoid", strict_sigmoid, [](double x) {
       return x < 0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
     }},
};

struct Worst {
  double ulp = 0.0;
  float at = 0.0f;
  std::uint64_t wrong = 0;  // NaN, infinity or sign
  float wrong_at = 0.0f;
};

void judge(const Function& function, float x, Worst& worst) {
  const float got = function.strict(x);
  const double want = function.exact(static_cast<double>(x));
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
  const double ulp = std::abs(static_cast<double>(got) - want) / (2.0 * half_ulp_f32(want));
  if (ulp > worst.ulp) {
    worst.ulp = ulp;
    worst.at = x;
  }
}

Worst try_all(const Function& function, std::uint64_t stride, unsigned thread_count) {
  constexpr std::uint64_t block = std::uint64_t{1} << 22;
  constexpr std::uint64_t blocks = (std::uint64_t{1} << 32) / block;
  std::atomic<std::uint64_t> next{0};
  std::vector<Worst> found(thread_count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t b = next++; b < blocks; b = next++)
        for (std::uint64_t bits = b * block; bits < (b + 1) * block; bits += stride)
          judge(function, std::bit_cast<float>(static_cast<std::uint32_t>(bits)), found[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Worst all;
  for (const Worst& w : found) {
    if (w.ulp > all.ulp) all.ulp = w.ulp, all.at = w.at;
    if (w.wrong > 0 && all.wrong == 0) all.wrong_at = w.wrong_at;
    all.wrong += w.wrong;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t stride = 1;
  if (argc == 3 && std::string_view(argv[1]) == "--stride") stride = std::strtoull(argv[2], nullptr, 10);
  if (argc != 1 && (argc != 3 || stride == 0)) {
    std::fprintf(stderr, "usage: %s [--stride N]\n", argv[0]);
    return 2;
  }
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool good = true;
  for (const Function& function : functions) {
    const Worst worst = try_all(function, stride, threads);
    std::printf("%-8s largest error %.4f ULP at %a", function.name, worst.ulp,
                static_cast<double>(worst.at));
    if (worst.wrong > 0)
      std::printf(", %llu wrong NaN, infinity or sign, first at %a",
                  static_cast<unsigned long long>(worst.wrong), static_cast<double>(worst.wrong_at));
    std::printf("\n");
    good = good && worst.ulp <= 2.0 && worst.wrong == 0;
  }
  return good ? 0 : 1;
}
