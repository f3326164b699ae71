// XNNPACK's float32 matrix product on one thread: the ceiling of the fast engine's convolutions and
// fully connected layers. Prints GFLOP/s, the best of some seconds.
//   driftscope_bench_gemm            natively
//   node [--experimental-wasm-relaxed-simd] build/web/tests/driftscope_bench_gemm_{simd,relaxed}.js
#include <xnnpack.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t bench_ns = 1'000'000'000;

struct Product {
  const char* name;
  std::size_t m, n, k;
};

// A large square, and layers of ResNet-50 and MobileNetV2 as products.
constexpr Product products[] = {{"1024^3", 1024, 1024, 1024},
                                {"3x3, 128 channels, 28x28", 784, 128, 1152},
                                {"1x1, 64 to 256 channels, 56x56", 3136, 256, 64},
                                {"1x1, 32 to 192 channels, 28x28", 784, 192, 32},
                                {"one row, 2048 to 1000", 1, 1000, 2048}};

/// GFLOP/s; 0 where XNNPACK rejects.
double best_rate(const Product& product) {
  const auto [name, m, n, k] = product;
  Rng rng(1);
  std::vector<float> a(m * k + XNN_EXTRA_BYTES), b(n * k), c(m * n);
  for (float& x : a) x = rng.normal();
  for (float& x : b) x = rng.normal();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  xnn_operator_t op = nullptr;
  double best = 0;
  if (xnn_create_fully_connected_nc_f32(k, n, k, n, b.data(), nullptr, -infinity, infinity, 0, nullptr,
                                        nullptr, &op) == xnn_status_success &&
      xnn_reshape_fully_connected_nc_f32(op, m, nullptr) == xnn_status_success &&
      xnn_setup_fully_connected_nc_f32(op, a.data(), c.data()) == xnn_status_success) {
    const double flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k);
    // Browsers round their clocks: enough products at a time to take some milliseconds.
    const int repeat = static_cast<int>(std::clamp(2e8 / flops, 1.0, 1e5));
    for (const std::int64_t begin = monotonic_ns(); monotonic_ns() - begin < bench_ns;) {
      const std::int64_t start = monotonic_ns();
      for (int i = 0; i < repeat; ++i) xnn_run_operator(op, nullptr);
      const std::int64_t took = std::max<std::int64_t>(monotonic_ns() - start, 1);
      best = std::max(best, flops * repeat / static_cast<double>(took));
    }
  }
  xnn_delete_operator(op);
  return best;
}

int run_bench() {
  if (xnn_initialize(nullptr) != xnn_status_success) {
    std::fputs("XNNPACK does not run on this processor\n", stderr);
    return 1;
  }
  for (const Product& product : products)
    std::printf("%-32s %7.1f GFLOP/s\n", product.name, best_rate(product));
  return 0;
}

}  // namespace
}  // namespace driftscope

int main() { return driftscope::run_bench(); }
