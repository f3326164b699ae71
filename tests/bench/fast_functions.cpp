// Errors of XNNPACK's elementwise functions, kernel by kernel: each that the fast engine may use on
// some processor (natively one per instruction set; as WebAssembly those of the build's SIMD), on all 2³²
// floats, against the C library's functions in double. The rows of the fast engine's error model come
// from here. Prints the largest error in ULP where the result is a normal number, the largest below that
// in units of 2⁻¹²⁶, and for Gelu the largest of 1 + erf(x/√2). Minutes for each function on two
// processors; `--stride N` tries every Nth float, `--only NAME` one function.
//   driftscope_fast_functions            natively
//   node [--experimental-wasm-relaxed-simd] build/web/tests/driftscope_fast_functions_{simd,relaxed}.js
#include <xnnpack.h>
#include <xnnpack/hardware-config.h>
#include <xnnpack/vunary.h>

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

namespace {

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double phi2(double x) { return std::erfc(-x * 0.70710678118654752440); }
double gelu(double x) { return 0.5 * x * phi2(x); }

using Run = void (*)(std::size_t, const float*, float*);
struct Kernel {
  const char* name;
  Run run;
  bool here;  // this processor has the instructions
};
struct Function {
  const char* name;
  double (*exact)(double);
  std::vector<Kernel> kernels;
};

#define KERNEL(function, variant, here)                                               \
  Kernel {                                                                            \
    #variant,                                                                         \
        [](std::size_t n, const float* x, float* y) {                                 \
          xnn_f32_v##function##_ukernel__##variant(n * sizeof(float), x, y, nullptr); \
        },                                                                            \
        (here)                                                                        \
  }

std::vector<Function> functions() {
  const xnn_hardware_config* cpu = xnn_init_hardware_config();
  if (cpu == nullptr) std::exit(2);
#if XNN_ARCH_X86_64
  const bool sse41 = cpu->use_x86_sse4_1, avx = cpu->use_x86_avx, fma = cpu->use_x86_fma3;
  const bool avx2 = cpu->use_x86_avx2, avx512 = cpu->use_x86_avx512f;
  return {
      {"tanh",
       [](double x) { return std::tanh(x); },
       {KERNEL(tanh, sse2_rational_9_8_div_u8, true), KERNEL(tanh, avx_rational_9_8_div_u16, avx),
        KERNEL(tanh, fma3_rational_9_8_div_u16, fma), KERNEL(tanh, avx512f_rational_9_8_nr_u16, avx512)}},
      {"sigmoid",
       sigmoid,
       {KERNEL(sigmoid, sse2_rr2_lut64_p2_div_u8, true), KERNEL(sigmoid, sse41_rr2_lut64_p2_div_u8, sse41),
        KERNEL(sigmoid, avx_rr2_p5_nr2_u40, avx), KERNEL(sigmoid, avx2_rr1_p5_div_u40, avx2),
        KERNEL(sigmoid, avx512f_rr2_lut32_p2_perm2_scalef_div_u64, avx512)}},
      {"gelu",
       gelu,
       {KERNEL(gelu, sse2_rational_12_10_div_u12, true), KERNEL(gelu, avx_rational_12_10_div_u16, avx),
        KERNEL(gelu, fma3_rational_12_10_div_u16, fma), KERNEL(gelu, avx512f_rational_12_10_nr_u32, avx512)}},
      {"exp", [](double x) { return std::exp(x); }, {KERNEL(exp, scalar_exp_u4, true)}}};
#elif XNN_ARCH_WASMRELAXEDSIMD
  return {{"tanh", [](double x) { return std::tanh(x); }, {KERNEL(tanh, wasmsimd_rational_9_8_div_u8, true)}},
          {"sigmoid", sigmoid, {KERNEL(sigmoid, wasmrelaxedsimd_fma_rr2_p5_div_u24, true)}},
          {"gelu", gelu, {KERNEL(gelu, wasmsimd_rational_12_10_div_u12, true)}},
          {"exp", [](double x) { return std::exp(x); }, {KERNEL(exp, scalar_exp_u4, true)}}};
#else
  return {{"tanh", [](double x) { return std::tanh(x); }, {KERNEL(tanh, wasmsimd_rational_9_8_div_u8, true)}},
          {"sigmoid", sigmoid, {KERNEL(sigmoid, wasmsimd_rr2_p5_div_u16, true)}},
          {"gelu", gelu, {KERNEL(gelu, wasmsimd_rational_12_10_div_u12, true)}},
          {"exp", [](double x) { return std::exp(x); }, {KERNEL(exp, scalar_exp_u4, true)}}};
#endif
}

struct Worst {
  double ulp = 0.0, absolute = 0.0, factor = 0.0;
  float ulp_at = 0.0f, absolute_at = 0.0f, factor_at = 0.0f;
  std::uint64_t wrong = 0;  // NaN or infinity
  float wrong_at = 0.0f;
};

void keep(double error, float x, double& largest_error, float& at) {
  if (error > largest_error) largest_error = error, at = x;
}

void measure(double want, float x, float got, bool is_gelu, Worst& worst) {
  const bool overflows = std::fabs(want) >= 0x1.ffffffp127;
  if (std::isnan(want) || std::isnan(got) || std::isinf(got) || overflows) {
    const bool right = std::isnan(want)
                           ? std::isnan(got)
                           : std::isinf(got) && overflows && std::signbit(got) == std::signbit(want);
    if (!right) ++worst.wrong, worst.wrong_at = x;
    return;
  }
  const double error = std::fabs(static_cast<double>(got) - want);
  if (std::fabs(want) < 0x1p-126) return keep(error / 0x1p-126, x, worst.absolute, worst.absolute_at);
  int exponent = 0;
  std::frexp(want, &exponent);
  keep(error / std::ldexp(1.0, exponent - 24), x, worst.ulp, worst.ulp_at);
  if (is_gelu && std::fabs(x) > 0x1p-100)
    keep(std::fabs(static_cast<double>(got) / (0.5 * static_cast<double>(x)) - phi2(x)), x, worst.factor,
         worst.factor_at);
}

void merge(Worst& all, const Worst& one) {
  keep(one.ulp, one.ulp_at, all.ulp, all.ulp_at);
  keep(one.absolute, one.absolute_at, all.absolute, all.absolute_at);
  keep(one.factor, one.factor_at, all.factor, all.factor_at);
  if (one.wrong > 0) all.wrong_at = one.wrong_at;
  all.wrong += one.wrong;
}

constexpr std::uint64_t chunk = 4096;

void try_chunk(const Function& function, std::uint64_t first, std::uint64_t stride,
               std::vector<Worst>& worst) {
  std::vector<float> x(chunk + 64), y(chunk + 64);
  std::vector<double> want(chunk);
  std::size_t count = 0;
  for (; count < chunk; ++count) {
    const std::uint64_t bits = (first + count) * stride;
    if (bits > 0xffffffffu) break;
    x[count] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    want[count] = function.exact(static_cast<double>(x[count]));
  }
  for (std::size_t k = 0; count > 0 && k < function.kernels.size(); ++k) {
    if (!function.kernels[k].here) continue;
    function.kernels[k].run(count, x.data(), y.data());
    for (std::size_t i = 0; i < count; ++i)
      measure(want[i], x[i], y[i], std::string_view(function.name) == "gelu", worst[k]);
  }
}

void try_all(const Function& function, std::uint64_t stride) {
  const std::uint64_t floats = (std::uint64_t{1} << 32) / stride + 1;
  std::atomic<std::uint64_t> next{0};
  std::vector<std::vector<Worst>> found(std::max(1u, std::thread::hardware_concurrency()),
                                        std::vector<Worst>(function.kernels.size()));
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      for (std::uint64_t at; (at = next.fetch_add(chunk)) < floats;) try_chunk(function, at, stride, mine);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < function.kernels.size(); ++k) {
    const Kernel& kernel = function.kernels[k];
    if (!kernel.here) {
      std::printf("%-8s %-44s this processor has no such instructions\n", function.name, kernel.name);
      continue;
    }
    Worst all;
    for (const auto& mine : found) merge(all, mine[k]);
    std::printf("%-8s %-44s %9.4f ULP at %-15a %8.3g x 2^-126 at %-15a", function.name, kernel.name, all.ulp,
                static_cast<double>(all.ulp_at), all.absolute, static_cast<double>(all.absolute_at));
    if (all.factor > 0) std::printf(" 1+erf %.3g at %a", all.factor, static_cast<double>(all.factor_at));
    if (all.wrong > 0)
      std::printf(" %llu wrong NaN or infinity, one at %a", static_cast<unsigned long long>(all.wrong),
                  static_cast<double>(all.wrong_at));
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t stride = 1;
  std::string_view only;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--stride") stride = std::max(1ull, std::strtoull(arguments[i + 1], nullptr, 10));
    if (name == "--only") only = arguments[i + 1];
  }
  for (const Function& function : functions())
    if (only.empty() || only == function.name) try_all(function, stride);
  return 0;
}
