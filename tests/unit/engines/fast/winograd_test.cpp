// Winograd's convolutions against sums in double, on each instruction set, with every tile.
#include "core/engines/fast/winograd.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/rng.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::winograd_test {
namespace {

using namespace fast;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Case {
  WinogradShape shape;
  std::vector<float> x, w, bias;
  std::vector<float> addend = {};  ///< empty: none
  float min = -infinity;
  float max = infinity;
};

WindowAxis axis(Rng& rng, std::int64_t kernel) {
  WindowAxis axis{.input = kernel + static_cast<std::int64_t>(rng.below(14)), .kernel = kernel};
  axis.pad_begin = static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(kernel)));
  axis.pad_end = static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(kernel)));
  axis.output = axis.input + axis.pad_begin + axis.pad_end - kernel + 1;
  return axis;
}

/// Inputs lie in NHWC, weights as in ONNX.
Case drawn(Rng& rng, std::int64_t kernel, std::int64_t least_channels) {
  Case made;
  const auto channels = [&] { return least_channels + static_cast<std::int64_t>(rng.below(40)); };
  made.shape = {.batch = 1 + static_cast<std::int64_t>(rng.below(3)),
                .inputs = channels(),
                .outputs = channels(),
                .window = {axis(rng, kernel), axis(rng, kernel)}};
  const WinogradShape& s = made.shape;
  made.x = normals(rng, s.batch * s.window.height.input * s.window.width.input * s.inputs);
  made.w = normals(rng, s.outputs * s.inputs * kernel * kernel);
  made.bias = normals(rng, s.outputs);
  return made;
}

/// The sum, and that of its terms' magnitudes.
struct Sum {
  double value = 0.0;
  double magnitude = 0.0;
};

Sum exact(const Case& given, std::int64_t n, std::int64_t row, std::int64_t column, std::int64_t o) {
  const auto& [height, width] = given.shape.window;
  Sum sum{.value = static_cast<double>(given.bias[static_cast<std::size_t>(o)])};
  for (std::int64_t k = 0; k < height.kernel; ++k)
    for (std::int64_t l = 0; l < width.kernel; ++l) {
      const std::int64_t y = height.at(row, k);
      const std::int64_t x = width.at(column, l);
      if (y < 0 || y >= height.input || x < 0 || x >= width.input) continue;
      for (std::int64_t c = 0; c < given.shape.inputs; ++c) {
        const std::int64_t from = ((n * height.input + y) * width.input + x) * given.shape.inputs + c;
        const std::int64_t by = ((o * given.shape.inputs + c) * height.kernel + k) * width.kernel + l;
        const double term = static_cast<double>(given.x[static_cast<std::size_t>(from)]) *
                            static_cast<double>(given.w[static_cast<std::size_t>(by)]);
        sum.value += term;
        sum.magnitude += std::abs(term);
      }
    }
  return sum;
}

std::vector<float> convolved(const Case& given, const WinogradTile& tile, const WinogradKernels& kernels,
                             ThreadPool& threads) {
  const WinogradConvolution convolution(given.shape, tile, kernels, given.w.data(), given.bias.data(),
                                        given.min, given.max, threads);
  const AlignedFloats scratch(convolution.scratch());
  const auto& [height, width] = given.shape.window;
  const auto size =
      static_cast<std::size_t>(given.shape.batch * height.output * width.output * given.shape.outputs);
  std::vector<float> y(size + 1, 12345.0f);
  convolution.run(given.x.data(), given.addend.empty() ? nullptr : given.addend.data(), y.data(),
                  scratch.data());
  CHECK(y.back() == 12345.0f);
  y.pop_back();
  return y;
}

/// All outputs, in NHWC.
std::vector<Sum> exact(const Case& given) {
  std::vector<Sum> sums;
  for (std::int64_t n = 0; n < given.shape.batch; ++n)
    for (std::int64_t row = 0; row < given.shape.window.height.output; ++row)
      for (std::int64_t column = 0; column < given.shape.window.width.output; ++column)
        for (std::int64_t o = 0; o < given.shape.outputs; ++o)
          sums.push_back(exact(given, n, row, column, o));
  for (std::size_t i = 0; i < given.addend.size(); ++i) sums[i].value += static_cast<double>(given.addend[i]);
  return sums;
}

/// u·Σ|x·w| of the output where it is largest: a tile's errors are those of its largest sums.
double unit_of(const std::vector<Sum>& sums) {
  double largest = 0.0;
  for (const Sum& sum : sums)
    if (std::isfinite(sum.magnitude)) largest = std::max(largest, sum.magnitude);
  return 0x1p-24 * largest;
}

/// In those units.
double largest_error(const Case& given, const std::vector<float>& y) {
  const std::vector<Sum> sums = exact(given);
  double largest = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double want =
        std::clamp(sums[i].value, static_cast<double>(given.min), static_cast<double>(given.max));
    largest = std::max(largest, std::abs(static_cast<double>(y[i]) - want));
  }
  return largest / unit_of(sums);
}

}  // namespace

TEST_CASE("Winograd_AnyShapeAndTile_IsTheConvolution" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  ThreadPool two(2);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const WinogradKernels kernels = winograd_kernels(simd);
    for (const std::int64_t kernel : {3, 5})
      for (int i = 0; i < 6; ++i) {
        Case given = drawn(rng, kernel, static_cast<std::int64_t>(kernels.lanes));
        if (i % 2 == 1) {
          given.min = -0.5f;
          given.max = 4.0f;
        }
        if (i % 3 == 2)
          given.addend = normals(rng, given.shape.batch * given.shape.outputs *
                                          given.shape.window.height.output * given.shape.window.width.output);
        const auto tiles = winograd_tiles(given.shape, 1, kernels);
        CHECK(tiles.size() == 2);
        for (const WinogradTile& tile : tiles) {
          CAPTURE(winograd_name(tile));
          const std::vector<float> y = convolved(given, tile, kernels, one);
          CHECK(largest_error(given, y) < (tile.input() == 8 ? 150.0 : 40.0));
          CHECK(convolved(given, tile, kernels, two) == y);
        }
      }
  }
}

TEST_CASE("Winograd_ManyTiles_AreComputedInBlocks") {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  const WinogradKernels kernels = winograd_kernels(simd_targets().front());
  ThreadPool threads(2);
  Case given = drawn(rng, 3, 64);
  for (WindowAxis* size : {&given.shape.window.height, &given.shape.window.width})
    *size = {.input = 61, .kernel = 3, .pad_begin = 1, .pad_end = 1, .output = 61};
  given.shape.batch = 1;
  given.shape.outputs = 3 + static_cast<std::int64_t>(kernels.lanes);
  given.x = normals(rng, 61 * 61 * given.shape.inputs);
  given.w = normals(rng, given.shape.outputs * given.shape.inputs * 9);
  given.bias = normals(rng, given.shape.outputs);
  const WinogradTile tile{2, 3};
  const WinogradConvolution convolution(given.shape, tile, kernels, given.w.data(), nullptr, -infinity,
                                        infinity, threads);
  CHECK(convolution.scratch() * 4 < 4 << 20);  // 961 tiles need more at once
  CHECK(largest_error(given, convolved(given, tile, kernels, threads)) < 40.0);
}

TEST_CASE("Winograd_InfinityAndNan_StayWhereTheyBelong" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(1);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const WinogradKernels kernels = winograd_kernels(simd);
    for (const std::int64_t kernel : {3, 5})
      for (const float what : {std::nanf(""), infinity}) {
        Case given = drawn(rng, kernel, static_cast<std::int64_t>(kernels.lanes));
        given.max = 6.0f;
        given.x[rng.below(static_cast<std::uint32_t>(given.x.size()))] = what;
        given.addend = normals(rng, given.shape.batch * given.shape.outputs *
                                        given.shape.window.height.output * given.shape.window.width.output);
        for (const WinogradTile& tile : winograd_tiles(given.shape, 1, kernels)) {
          CAPTURE(winograd_name(tile));
          const std::vector<float> y = convolved(given, tile, kernels, threads);
          const std::vector<Sum> sums = exact(given);
          bool same = true;
          for (std::size_t i = 0; i < y.size(); ++i) {
            const double want = sums[i].value;
            if (std::isnan(want))
              same = same && std::isnan(y[i]);
            else if (std::isinf(want))
              same = same && y[i] == (want > 0 ? given.max : -infinity);
            else
              same = same && std::abs(static_cast<double>(y[i]) - std::min(want, 6.0)) <= 150 * unit_of(sums);
          }
          CHECK(same);
        }
      }
  }
}

TEST_CASE("Winograd_Choice_FollowsTheCosts") {
  const WinogradKernels kernels = winograd_kernels(simd_targets().front());
  const auto chosen = [&](std::int64_t size, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                          WinogradChoice choice = WinogradChoice::automatic, std::int64_t stride = 1) {
    const WindowAxis axis{.input = size,
                          .kernel = kernel,
                          .stride = stride,
                          .pad_begin = kernel / 2,
                          .pad_end = kernel / 2,
                          .output = (size - 1) / stride + 1};
    return choose_winograd({.batch = 1, .inputs = inputs, .outputs = outputs, .window = {axis, axis}}, 1,
                           kernels, choice);
  };
  CHECK(chosen(56, 64, 64, 3) == WinogradTile{4, 3});
  CHECK(chosen(35, 48, 64, 5) == WinogradTile{4, 5});
  CHECK(chosen(56, 64, 64, 3, WinogradChoice::small) == WinogradTile{2, 3});
  CHECK_FALSE(chosen(56, 64, 64, 3, WinogradChoice::off).has_value());
  // Its weights would be read for four pixels.
  CHECK_FALSE(chosen(2, 512, 512, 3).has_value());
  CHECK_FALSE(chosen(56, 64, 64, 3, WinogradChoice::automatic, 2).has_value());
  CHECK_FALSE(chosen(56, 64, 64, 7).has_value());
  if (kernels.lanes > 3) CHECK_FALSE(chosen(56, 3, 64, 3).has_value());
}

}  // namespace driftscope::test::winograd_test
