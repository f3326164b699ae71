// Convolutions of known networks on one thread: XNNPACK's, and Winograd's with each tile. Prints
// milliseconds, the best of some runs, and * at the tile that the fast engine chooses by itself.
//   driftscope_bench_winograd        natively
//   node [--experimental-wasm-relaxed-simd] build/web/tests/driftscope_bench_winograd_{simd,relaxed}.js
#include <xnnpack.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "core/engines/fast/winograd.hpp"

namespace driftscope {
namespace {

using namespace fast;

constexpr std::int64_t bench_ns = 150'000'000;
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Layer {
  const char* name;
  std::int64_t size, inputs, outputs, kernel;
};

constexpr Layer layers[] = {
    {"ResNet-20", 32, 16, 16, 3},      {"ResNet-20", 16, 32, 32, 3},    {"ResNet-20", 8, 64, 64, 3},
    {"VGG-16 (CIFAR)", 32, 64, 64, 3}, {"VGG-16", 16, 64, 128, 3},      {"VGG-16", 16, 128, 128, 3},
    {"VGG-16", 8, 128, 256, 3},        {"VGG-16", 8, 256, 256, 3},      {"VGG-16", 4, 256, 512, 3},
    {"VGG-16", 4, 512, 512, 3},        {"VGG-16", 2, 512, 512, 3},      {"ResNet-18", 56, 64, 64, 3},
    {"ResNet-18", 28, 128, 128, 3},    {"ResNet-18", 14, 256, 256, 3},  {"ResNet-18", 7, 512, 512, 3},
    {"InceptionV3", 147, 32, 64, 3},   {"InceptionV3", 35, 64, 96, 3},  {"InceptionV3", 35, 96, 96, 3},
    {"InceptionV3", 35, 48, 64, 5},    {"InceptionV3", 8, 448, 384, 3}, {"VGG-16, 224", 112, 128, 128, 3},
};

/// Milliseconds.
double best_of(const std::function<void()>& run) {
  run();
  double best = infinity;
  int repeat = 1;
  for (const std::int64_t begin = monotonic_ns(); monotonic_ns() - begin < bench_ns;) {
    const std::int64_t start = monotonic_ns();
    for (int i = 0; i < repeat; ++i) run();
    const auto took = static_cast<double>(monotonic_ns() - start);
    best = std::min(best, took / repeat / 1e6);
    // Browsers round their clocks.
    if (took < 5e6) repeat *= 2;
  }
  return best;
}

std::vector<float> random_floats(std::int64_t size) {
  static Rng rng(1);
  std::vector<float> values(static_cast<std::size_t>(size) + XNN_EXTRA_BYTES);
  for (float& x : values) x = rng.normal();
  return values;
}

WinogradShape shape_of(const Layer& layer) {
  const std::int64_t pad = layer.kernel / 2;
  const WindowAxis axis{
      .input = layer.size, .kernel = layer.kernel, .pad_begin = pad, .pad_end = pad, .output = layer.size};
  return {.batch = 1, .inputs = layer.inputs, .outputs = layer.outputs, .window = {axis, axis}};
}

double time_of_xnnpack(const Layer& layer, const std::vector<float>& x, const std::vector<float>& w,
                       std::vector<float>& y) {
  const auto u32 = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::uint32_t pad = u32(layer.kernel / 2);
  xnn_operator_t op = nullptr;
  std::size_t bytes = 0, alignment = 0, height = 0, width = 0;
  double time = infinity;
  if (xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, u32(layer.kernel), u32(layer.kernel), 1, 1, 1, 1,
                                        1, size(layer.inputs), size(layer.outputs), size(layer.inputs),
                                        size(layer.outputs), w.data(), nullptr, -infinity, infinity, 0,
                                        nullptr, nullptr, &op) == xnn_status_success &&
      xnn_reshape_convolution2d_nhwc_f32(op, 1, size(layer.size), size(layer.size), &bytes, &alignment,
                                         &height, &width, nullptr) == xnn_status_success &&
      xnn_setup_convolution2d_nhwc_f32(op, nullptr, x.data(), y.data()) == xnn_status_success)
    time = best_of([&] { xnn_run_operator(op, nullptr); });
  xnn_delete_operator(op);
  return time;
}

int run_bench() {
  if (xnn_initialize(nullptr) != xnn_status_success) {
    std::fputs("XNNPACK does not run on this processor\n", stderr);
    return 1;
  }
  ThreadPool threads(1);
  const WinogradKernels kernels = winograd_kernels(simd_targets().front());
  for (const Layer& layer : layers) {
    const WinogradShape shape = shape_of(layer);
    const std::vector<float> x = random_floats(layer.size * layer.size * layer.inputs);
    const std::vector<float> w = random_floats(layer.inputs * layer.outputs * layer.kernel * layer.kernel);
    std::vector<float> y = random_floats(layer.size * layer.size * layer.outputs);
    const double direct = time_of_xnnpack(layer, x, w, y);
    const double flops = 2.0 * static_cast<double>(layer.size * layer.size * layer.kernel * layer.kernel) *
                         static_cast<double>(layer.inputs * layer.outputs);
    std::printf("%-15s %3d² %3d → %3d  %d×%d  XNNPACK %8.3f (%5.1f GFLOP/s)", layer.name,
                static_cast<int>(layer.size), static_cast<int>(layer.inputs), static_cast<int>(layer.outputs),
                static_cast<int>(layer.kernel), static_cast<int>(layer.kernel), direct, flops / direct / 1e6);
    const auto chosen = choose_winograd(shape, 1, kernels, WinogradChoice::automatic);
    for (const WinogradTile& tile : winograd_tiles(shape, 1, kernels)) {
      const WinogradConvolution winograd(shape, tile, kernels, w.data(), nullptr, -infinity, infinity,
                                         threads);
      const AlignedFloats scratch(winograd.scratch());
      const double time = best_of([&] { winograd.run(x.data(), nullptr, y.data(), scratch.data()); });
      std::printf("  %s%s %8.3f", winograd_name(tile).c_str(), chosen == tile ? "*" : " ", time);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace driftscope

int main() { return driftscope::run_bench(); }
