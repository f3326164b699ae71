// Convolutions of few channels against sums in double, on each instruction set.
#include "core/engines/fast/row_convolution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/rng.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::row_convolution_test {
namespace {

using namespace fast;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float untouched = 12345.0f;

struct Case {
  RowWindow shape;
  std::int64_t outputs = 0;
  std::vector<float> x, w, bias;  ///< x in NCHW
  float min = -infinity;
  float max = infinity;
};

WindowAxis axis(Rng& rng, std::int64_t dilation) {
  WindowAxis axis{.kernel = drawn(rng, 1, 7), .stride = drawn(rng, 1, 4), .dilation = dilation};
  const std::int64_t reach = (axis.kernel - 1) * dilation + 1;
  axis.input = drawn(rng, 1, 40);
  axis.pad_begin = drawn(rng, 0, reach + 1);
  axis.pad_end = drawn(rng, 0, reach + 1);
  axis.input = std::max(axis.input, reach - axis.pad_begin - axis.pad_end);
  axis.output = (axis.input + axis.pad_begin + axis.pad_end - reach) / axis.stride + 1;
  return axis;
}

Case drawn_case(Rng& rng) {
  Case made;
  made.shape = {drawn(rng, 1, 3), drawn(rng, 1, 4), {axis(rng, drawn(rng, 1, 3)), axis(rng, 1)}};
  made.outputs = drawn(rng, 1, 70);
  const auto& [height, width] = made.shape.window;
  made.x = normals(rng, made.shape.batch * made.shape.channels * height.input * width.input);
  made.w = normals(rng, made.outputs * made.shape.channels * height.kernel * width.kernel);
  made.bias = normals(rng, made.outputs);
  return made;
}

/// In NHWC.
std::vector<float> channels_last(const Case& given) {
  const RowWindow& s = given.shape;
  const std::int64_t plane = s.window.height.input * s.window.width.input;
  std::vector<float> turned(given.x.size());
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t i = 0; i < plane; ++i)
        turned[static_cast<std::size_t>((n * plane + i) * s.channels + c)] =
            given.x[static_cast<std::size_t>((n * s.channels + c) * plane + i)];
  return turned;
}

std::vector<float> convolved(const Case& given, const RowConvolutionKernels& kernels, ThreadPool& pool,
                             std::int64_t threads, bool last) {
  const RowConvolution convolution(given.shape, given.outputs, kernels, given.w.data(), given.bias.data(),
                                   given.min, given.max, pool, threads);
  std::vector<float> scratch(static_cast<std::size_t>(convolution.scratch()) + 1, untouched);
  const auto& [height, width] = given.shape.window;
  std::vector<float> y(
      static_cast<std::size_t>(given.shape.batch * height.output * width.output * given.outputs) + 1,
      untouched);
  const std::vector<float> turned = last ? channels_last(given) : given.x;
  convolution.run(turned.data(), last, y.data(), scratch.data());
  CHECK(scratch.back() == untouched);
  CHECK(y.back() == untouched);
  y.pop_back();
  return y;
}

/// The largest error of an output, in units of u·Σ|x·w|.
double largest_error(const Case& given, const std::vector<float>& y) {
  const RowWindow& s = given.shape;
  const auto& [height, width] = s.window;
  double largest = 0.0;
  std::size_t at = 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t row = 0; row < height.output; ++row)
      for (std::int64_t column = 0; column < width.output; ++column)
        for (std::int64_t o = 0; o < given.outputs; ++o, ++at) {
          double sum = static_cast<double>(given.bias[static_cast<std::size_t>(o)]);
          double magnitude = std::abs(sum);
          for (std::int64_t c = 0; c < s.channels; ++c)
            for (std::int64_t k = 0; k < height.kernel; ++k)
              for (std::int64_t l = 0; l < width.kernel; ++l) {
                const std::int64_t i = height.at(row, k);
                const std::int64_t j = width.at(column, l);
                if (i < 0 || i >= height.input || j < 0 || j >= width.input) continue;
                const std::int64_t from = ((n * s.channels + c) * height.input + i) * width.input + j;
                const std::int64_t by = ((o * s.channels + c) * height.kernel + k) * width.kernel + l;
                const double term = static_cast<double>(given.x[static_cast<std::size_t>(from)]) *
                                    static_cast<double>(given.w[static_cast<std::size_t>(by)]);
                sum += term;
                magnitude += std::abs(term);
              }
          const double want = std::clamp(sum, static_cast<double>(given.min), static_cast<double>(given.max));
          largest = std::max(largest, std::abs(static_cast<double>(y[at]) - want) / (0x1p-24 * magnitude));
        }
  return largest;
}

/// Products and sums of an output: the most units that it can be off by.
double terms(const Case& given) {
  const auto& [height, width] = given.shape.window;
  return 2.0 * static_cast<double>(given.shape.channels * height.kernel * width.kernel) + 1.0;
}

TEST_CASE("RowConvolution_AnyShape_IsTheConvolution" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  ThreadPool two(2);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const RowConvolutionKernels kernels = row_convolution_kernels(simd);
    for (int i = 0; i < 60; ++i) {
      CAPTURE(i);
      Case given = drawn_case(rng);
      if (i % 2 == 1) {
        given.min = -0.5f;
        given.max = 2.0f;
      }
      REQUIRE(is_row_convolution(given.shape, 1));
      const std::vector<float> y = convolved(given, kernels, one, 1, false);
      CHECK(largest_error(given, y) < terms(given));
      CHECK(convolved(given, kernels, one, 1, true) == y);
      CHECK(convolved(given, kernels, two, 2, false) == y);
      CHECK(convolved(given, kernels, two, 5, true) == y);
    }
  }
}

TEST_CASE("RowConvolution_NanAndInfinity_StayWhereTheyBelong") {
  ThreadPool one(1);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    Case given;
    const WindowAxis axis{.input = 8, .kernel = 3, .pad_begin = 1, .pad_end = 1, .output = 8};
    given.shape = {1, 1, {axis, axis}};
    given.outputs = 3;
    given.x.assign(64, 1.0f);
    given.x[0] = std::nanf("");
    given.x[63] = infinity;
    given.w.assign(27, 1.0f);
    given.bias.assign(3, 0.0f);
    given.max = 6.0f;
    const std::vector<float> y = convolved(given, row_convolution_kernels(simd), one, 1, false);
    for (std::int64_t i = 0; i < 64; ++i) {
      const bool by_nan = i / 8 < 2 && i % 8 < 2;
      CHECK(std::isnan(y[static_cast<std::size_t>(3 * i)]) == by_nan);
    }
    CHECK(y[3 * 63] == 6.0f);
  }
}

TEST_CASE("RowConvolution_PadsAndDilationsOfAnySize_TakeNoMemory") {
  WindowAxis height{.input = 3, .kernel = 2, .dilation = 1 << 30, .pad_begin = 1 << 30, .output = 3};
  const WindowAxis width{.input = 3, .kernel = 3, .output = 1};
  RowWindow shape{1, 1, {height, width}};
  REQUIRE(is_row_convolution(shape, 1));
  CHECK(shape.ring_rows(1) == 3);
  ThreadPool one(1);
  const Case given{shape, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 0, 0, 1, 1, 1}, {0}};
  for (const SimdTarget& simd : simd_targets())
    CHECK(convolved(given, row_convolution_kernels(simd), one, 1, false) == std::vector<float>{6, 15, 24});
  shape.window.width = {.input = 3, .kernel = 3, .stride = 1 << 20, .pad_begin = 1 << 30, .output = 1025};
  CHECK_FALSE(is_row_convolution(shape, 1));
}

TEST_CASE("RowConvolution_GapsGroupsOrManyChannels_AreNone") {
  const WindowAxis axis{.input = 8, .kernel = 3, .output = 6};
  RowWindow shape{1, 4, {axis, axis}};
  CHECK(is_row_convolution(shape, 1));
  CHECK_FALSE(is_row_convolution(shape, 2));
  shape.channels = 5;
  CHECK_FALSE(is_row_convolution(shape, 1));
  shape.channels = 1;
  shape.window.width.dilation = 2;
  CHECK_FALSE(is_row_convolution(shape, 1));
}

}  // namespace
}  // namespace driftscope::test::row_convolution_test
