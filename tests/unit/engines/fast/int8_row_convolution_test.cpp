// Quantized convolutions against sums of integers, bit for bit, on each instruction set.
#include "core/engines/fast/int8_row_convolution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/base/rng.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::int8_row_convolution_test {
namespace {

using namespace fast;

struct Case {
  RowWindow window;
  std::int64_t outputs = 0;
  Int8Form x_form;
  Int8Result y_form;
  std::vector<std::int32_t> x, w;  ///< x in NCHW
  std::vector<std::int32_t> bias;
  std::vector<float> scales;
};

WindowAxis axis(Rng& rng, std::int64_t dilation) {
  WindowAxis axis{.kernel = drawn(rng, 1, 5), .stride = drawn(rng, 1, 3), .dilation = dilation};
  const std::int64_t reach = (axis.kernel - 1) * dilation + 1;
  axis.pad_begin = drawn(rng, 0, reach);
  axis.pad_end = drawn(rng, 0, reach);
  axis.input = std::max(drawn(rng, 1, 30), reach - axis.pad_begin - axis.pad_end);
  axis.output = (axis.input + axis.pad_begin + axis.pad_end - reach) / axis.stride + 1;
  return axis;
}

std::int32_t least(const Int8Form& form) { return form.is_signed ? -128 : 0; }

std::vector<std::int32_t> drawn_all(Rng& rng, std::int64_t size, std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(size));
  for (std::int32_t& value : values) value = static_cast<std::int32_t>(drawn(rng, from, to));
  return values;
}

Int8Form drawn_form(Rng& rng) {
  Int8Form form{.is_signed = rng.below(2) == 0};
  form.zero_point = least(form) + static_cast<std::int32_t>(rng.below(256));
  return form;
}

Case drawn_case(Rng& rng) {
  Case made;
  made.window = {drawn(rng, 1, 2), drawn(rng, 1, 20), {axis(rng, drawn(rng, 1, 2)), axis(rng, 1)}};
  const auto& [height, width] = made.window.window;
  made.outputs = drawn(rng, 1, 40);
  made.x_form = drawn_form(rng);
  made.y_form.form = drawn_form(rng);
  made.y_form.min = least(made.y_form.form) + static_cast<std::int32_t>(rng.below(40));
  made.y_form.max = least(made.y_form.form) + 255 - static_cast<std::int32_t>(rng.below(40));
  const std::int32_t low = least(made.x_form);
  made.x = drawn_all(rng, made.window.batch * made.window.image_size(), low, low + 255);
  made.w = drawn_all(rng, made.outputs * made.window.channels * height.kernel * width.kernel, -128, 127);
  if (rng.below(4) > 0) made.bias = drawn_all(rng, made.outputs, -100000, 100000);
  for (std::int64_t o = 0; o < made.outputs; ++o) made.scales.push_back(0.0001f + 0.01f * rng.uniform());
  return made;
}

std::byte byte_of(std::int32_t value) { return static_cast<std::byte>(value & 0xff); }

std::vector<std::byte> bytes_of(const Case& given, bool last) {
  const std::int64_t plane = given.window.window.height.input * given.window.window.width.input;
  std::vector<std::byte> bytes(given.x.size());
  for (std::int64_t n = 0; n < given.window.batch; ++n)
    for (std::int64_t c = 0; c < given.window.channels; ++c)
      for (std::int64_t i = 0; i < plane; ++i) {
        const std::int64_t from = (n * given.window.channels + c) * plane + i;
        const std::int64_t to = last ? (n * plane + i) * given.window.channels + c : from;
        bytes[static_cast<std::size_t>(to)] = byte_of(given.x[static_cast<std::size_t>(from)]);
      }
  return bytes;
}

std::vector<std::byte> convolved(const Case& given, const Int8RowKernels& kernels, ThreadPool& pool,
                                 std::int64_t threads, bool last) {
  std::vector<std::int8_t> weights(given.w.begin(), given.w.end());
  const Int8RowConvolution convolution(given.window, given.outputs, kernels, weights.data(), given.bias,
                                       given.scales, given.x_form, given.y_form, pool, threads);
  std::vector<std::int16_t> scratch(static_cast<std::size_t>(convolution.scratch() / 2) + 1, 12345);
  const auto& [height, width] = given.window.window;
  std::vector<std::byte> y(
      static_cast<std::size_t>(given.window.batch * height.output * width.output * given.outputs) + 1,
      std::byte{99});
  convolution.run(bytes_of(given, last).data(), last, y.data(), reinterpret_cast<std::byte*>(scratch.data()));
  CHECK(scratch.back() == 12345);
  CHECK(y.back() == std::byte{99});
  y.pop_back();
  return y;
}

std::vector<std::byte> exact(const Case& given) {
  const auto& [height, width] = given.window.window;
  const Int8Result& to = given.y_form;
  std::vector<std::byte> y;
  for (std::int64_t n = 0; n < given.window.batch; ++n)
    for (std::int64_t row = 0; row < height.output; ++row)
      for (std::int64_t column = 0; column < width.output; ++column)
        for (std::int64_t o = 0; o < given.outputs; ++o) {
          std::int32_t sum = given.bias.empty() ? 0 : given.bias[static_cast<std::size_t>(o)];
          for (std::int64_t c = 0; c < given.window.channels; ++c)
            for (std::int64_t k = 0; k < height.kernel; ++k)
              for (std::int64_t l = 0; l < width.kernel; ++l) {
                const std::int64_t i = height.at(row, k);
                const std::int64_t j = width.at(column, l);
                if (i < 0 || i >= height.input || j < 0 || j >= width.input) continue;
                const std::int64_t from =
                    ((n * given.window.channels + c) * height.input + i) * width.input + j;
                const std::int64_t by =
                    ((o * given.window.channels + c) * height.kernel + k) * width.kernel + l;
                sum += (given.x[static_cast<std::size_t>(from)] - given.x_form.zero_point) *
                       given.w[static_cast<std::size_t>(by)];
              }
          const float scaled = static_cast<float>(sum) * given.scales[static_cast<std::size_t>(o)];
          const auto rounded = static_cast<std::int32_t>(std::nearbyint(std::clamp(scaled, -1e6f, 1e6f)));
          y.push_back(byte_of(std::clamp(rounded + to.form.zero_point, to.min, to.max)));
        }
  return y;
}

TEST_CASE("Int8RowConvolution_AnyShape_IsExact" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  ThreadPool two(2);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const Int8RowKernels kernels = int8_row_kernels(simd);
    for (int i = 0; i < 60; ++i) {
      CAPTURE(i);
      const Case given = drawn_case(rng);
      REQUIRE(is_int8_row_convolution(given.window, 1));
      const std::vector<std::byte> want = exact(given);
      CHECK(convolved(given, kernels, one, 1, true) == want);
      CHECK(convolved(given, kernels, one, 1, false) == want);
      CHECK(convolved(given, kernels, two, 3, true) == want);
    }
  }
}

TEST_CASE("Int8RowConvolution_ManyChannelsWithARival_DoNotPay") {
  const WindowAxis axis{.input = 8, .kernel = 3, .output = 6};
  Int8RowKernels kernels;
  const auto pays = [&](std::int64_t channels) {
    return int8_rows_pay({1, channels, {axis, axis}}, kernels);
  };
  CHECK(pays(64));
  kernels.has_rival = true;
  CHECK(pays(1));
  CHECK(pays(6));
  CHECK_FALSE(pays(7));
  CHECK_FALSE(pays(8));
  CHECK(pays(12));
  CHECK_FALSE(pays(64));
}

TEST_CASE("Int8RowConvolution_SumsBeyondTheType_Saturate") {
  ThreadPool one(1);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const WindowAxis axis{.input = 3, .kernel = 3, .output = 1};
    Case given;
    given.window = {1, 3, {axis, axis}};
    given.outputs = 2;
    given.x_form = {false, 0};
    given.y_form = {{true, 5}, -100, 90};
    given.x.assign(27, 255);
    given.w.assign(27, 127);
    given.w.resize(54, -128);
    given.scales = {3e4f, 3e4f};  // beyond the range of int32
    const std::vector<std::byte> y = convolved(given, int8_row_kernels(simd), one, 1, true);
    CHECK(y == std::vector{byte_of(90), byte_of(-100)});
  }
}

}  // namespace
}  // namespace driftscope::test::int8_row_convolution_test
