// The kernel of MaxPool, which on some processors is our own, against a plain loop: every number of
// channels up to two vectors and more, windows of few taps and of many, strides beyond the channels.
#include <doctest/doctest.h>
#include <xnnpack.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"

namespace driftscope::test::max_pool_kernel_test {
namespace {

constexpr float untouched = -12345.0f;

struct Window {
  std::uint32_t height, width, stride, dilation, pad;
};

std::size_t outputs_along(std::size_t input, std::uint32_t kernel, const Window& w) {
  return (input + 2 * w.pad - (kernel - 1) * w.dilation - 1) / w.stride + 1;
}

struct Picture {
  std::size_t height, width, channels, stride;
  std::vector<float> values;
  [[nodiscard]] std::size_t at(std::size_t y, std::size_t x, std::size_t c) const {
    return (y * width + x) * stride + c;
  }
};

Picture plain_max_pool(const Picture& in, const Window& w, std::size_t stride, float low, float high) {
  Picture out{
      outputs_along(in.height, w.height, w), outputs_along(in.width, w.width, w), in.channels, stride, {}};
  out.values.assign(out.height * out.width * stride, untouched);
  for (std::size_t y = 0; y < out.height; ++y)
    for (std::size_t x = 0; x < out.width; ++x)
      for (std::size_t c = 0; c < in.channels; ++c) {
        float largest = -std::numeric_limits<float>::infinity();
        for (std::uint32_t i = 0; i < w.height; ++i)
          for (std::uint32_t j = 0; j < w.width; ++j) {
            const std::size_t from_y = y * w.stride + i * w.dilation - w.pad;  // wraps around where outside
            const std::size_t from_x = x * w.stride + j * w.dilation - w.pad;
            if (from_y < in.height && from_x < in.width)
              largest = std::max(largest, in.values[in.at(from_y, from_x, c)]);
          }
        out.values[out.at(y, x, c)] = std::clamp(largest, low, high);
      }
  return out;
}

std::vector<float> pool(const Picture& in, const Window& w, std::size_t stride, std::size_t elements,
                        float low, float high) {
  std::vector<float> out(elements, untouched);
  xnn_operator_t op = nullptr;
  REQUIRE(xnn_initialize(nullptr) == xnn_status_success);
  REQUIRE(xnn_create_max_pooling2d_nhwc_f32(w.pad, w.pad, w.pad, w.pad, w.height, w.width, w.stride, w.stride,
                                            w.dilation, w.dilation, low, high, 0, &op) == xnn_status_success);
  std::size_t height = 0, width = 0;
  CHECK(xnn_reshape_max_pooling2d_nhwc_f32(op, 1, in.height, in.width, in.channels, in.stride, stride,
                                           &height, &width, nullptr) == xnn_status_success);
  CHECK(xnn_setup_max_pooling2d_nhwc_f32(op, in.values.data(), out.data()) == xnn_status_success);
  CHECK(xnn_run_operator(op, nullptr) == xnn_status_success);
  xnn_delete_operator(op);
  return out;
}

}  // namespace

TEST_CASE("MaxPoolKernel_AnyChannelsAndWindow_AsAPlainLoop") {
  Rng rng(29);
  const Window windows[] = {{2, 2, 2, 1, 0}, {3, 3, 2, 1, 1}, {1, 2, 1, 1, 0},
                            {2, 3, 1, 2, 1}, {4, 4, 3, 1, 2}, {5, 7, 2, 1, 2}};
  for (const Window& window : windows)
    for (std::size_t channels = 1; channels <= 41; ++channels) {
      CAPTURE(window.height);
      CAPTURE(window.width);
      CAPTURE(channels);
      const std::size_t more = channels % 3;
      Picture in{9, 11, channels, channels + more, {}};
      in.values.resize(in.height * in.width * in.stride);
      for (float& x : in.values) x = rng.normal();
      const bool bounded = channels % 2 == 0;
      const float low = bounded ? 0.0f : -std::numeric_limits<float>::infinity();
      const float high = bounded ? 1.5f : std::numeric_limits<float>::infinity();
      const Picture want = plain_max_pool(in, window, channels + 2 * more, low, high);
      CHECK(pool(in, window, want.stride, want.values.size(), low, high) == want.values);
    }
}

}  // namespace driftscope::test::max_pool_kernel_test
