// XNNPACK as this build made it: does it start, compute and share our threads?
#include <doctest/doctest.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.hpp"
#include "core/engines/fast/pthreadpool_on.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::xnnpack_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> random_values(Rng& rng, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = rng.normal();
  return values;
}

struct Operator {
  xnn_operator_t made = nullptr;
  ~Operator() { xnn_delete_operator(made); }
};

/// The largest difference to expect, in units of float32's precision, of sums of `terms` products near 1.
double largest_error(const std::vector<float>& got, const std::vector<double>& want, double terms) {
  REQUIRE(got.size() == want.size());
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(got[i]) - want[i]));
  return largest / (terms * std::numeric_limits<float>::epsilon());
}

/// [n, h, w, c] from [n, c, h, w].
std::vector<double> to_nhwc(const std::vector<double>& x, std::size_t c, std::size_t hw) {
  std::vector<double> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t image = i / (c * hw), channel = i / hw % c, at = i % hw;
    out[(image * hw + at) * c + channel] = x[i];
  }
  return out;
}

std::vector<float> to_floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }
std::vector<double> to_doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

}  // namespace

TEST_CASE("Xnnpack_FullyConnected_IsCloseToTheReference") {
  REQUIRE(xnn_initialize(nullptr) == xnn_status_success);
  constexpr std::int64_t m = 37, k = 91, n = 53;
  Rng rng(5);
  const auto x = random_values(rng, m * k), w = random_values(rng, n * k), b = random_values(rng, n);
  const std::vector<double> want = OneNode{
      "Gemm",
      {floats({m, k}, x), floats({n, k}, w), floats({n}, b)},
      {integer("transB", 1)}}.numbers();
  for (const int thread_count : {1, 2, 3}) {
    CAPTURE(thread_count);
    ThreadPool threads(thread_count);
    const PthreadpoolPtr pool = pthreadpool_on(threads);
    Operator fc;
    REQUIRE(xnn_create_fully_connected_nc_f32(k, n, k, n, w.data(), b.data(), -infinity, infinity, 0, nullptr,
                                              nullptr, &fc.made) == xnn_status_success);
    REQUIRE(xnn_reshape_fully_connected_nc_f32(fc.made, m, pool.get()) == xnn_status_success);
    std::vector<float> y(m * n);
    REQUIRE(xnn_setup_fully_connected_nc_f32(fc.made, x.data(), y.data()) == xnn_status_success);
    REQUIRE(xnn_run_operator(fc.made, pool.get()) == xnn_status_success);
    CHECK(largest_error(y, want, k) < 1);
  }
}

// Every size of tile, full and partly used, with the bounds of nothing, of Relu and of Clip.
TEST_CASE("Xnnpack_FullyConnectedOfEverySize_IsCloseToASumInDouble") {
  REQUIRE(xnn_initialize(nullptr) == xnn_status_success);
  constexpr std::size_t k = 23;
  Rng rng(7);
  struct Bounds {
    float low, high;
  };
  for (const Bounds bounds : {Bounds{-infinity, infinity}, Bounds{0.0f, infinity}, Bounds{-1.0f, 2.0f}})
    for (const std::size_t n : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 70}) {
      const auto w = random_values(rng, static_cast<std::int64_t>(n * k));
      const auto b = random_values(rng, static_cast<std::int64_t>(n));
      Operator fc;
      REQUIRE(xnn_create_fully_connected_nc_f32(k, n, k, n, w.data(), b.data(), bounds.low, bounds.high, 0,
                                                nullptr, nullptr, &fc.made) == xnn_status_success);
      for (std::size_t m = 1; m <= 27; ++m) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(bounds.low);
        const auto x = random_values(rng, static_cast<std::int64_t>(m * k));
        std::vector<double> want(m * n);
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            double sum = static_cast<double>(b[j]);
            for (std::size_t l = 0; l < k; ++l)
              sum += static_cast<double>(x[i * k + l]) * static_cast<double>(w[j * k + l]);
            want[i * n + j] =
                std::clamp(sum, static_cast<double>(bounds.low), static_cast<double>(bounds.high));
          }
        // An extra row shows whether anything was written beyond the end.
        std::vector<float> y((m + 1) * n, 42.0f);
        REQUIRE(xnn_reshape_fully_connected_nc_f32(fc.made, m, nullptr) == xnn_status_success);
        REQUIRE(xnn_setup_fully_connected_nc_f32(fc.made, x.data(), y.data()) == xnn_status_success);
        REQUIRE(xnn_run_operator(fc.made, nullptr) == xnn_status_success);
        for (std::size_t j = 0; j < n; ++j) CHECK(y[m * n + j] == 42.0f);
        y.resize(m * n);
        CHECK(largest_error(y, want, k) < 8);
      }
    }
}

TEST_CASE("Xnnpack_Convolution_IsCloseToTheReference") {
  REQUIRE(xnn_initialize(nullptr) == xnn_status_success);
  constexpr std::size_t in = 13, out = 21, size = 17;
  Rng rng(6);
  const auto x = random_values(rng, 2 * in * size * size), w = random_values(rng, out * in * 9),
             b = random_values(rng, out);
  const OneNode conv{"Conv",
                     {floats({2, in, size, size}, x), floats({out, in, 3, 3}, w), floats({out}, b)},
                     {ints("pads", {1, 1, 1, 1}), ints("strides", {2, 2})}};
  constexpr std::size_t side = (size + 1) / 2;
  const std::vector<double> want = to_nhwc(conv.numbers(), out, side * side);
  const auto input = to_floats(to_nhwc(to_doubles(x), in, size * size));
  const auto kernel = to_floats(to_nhwc(to_doubles(w), in, 9));
  ThreadPool threads(2);
  const PthreadpoolPtr pool = pthreadpool_on(threads);
  Operator op;
  REQUIRE(xnn_create_convolution2d_nhwc_f32(1, 1, 1, 1, 3, 3, 2, 2, 1, 1, 1, in, out, in, out, kernel.data(),
                                            b.data(), -infinity, infinity, 0, nullptr, nullptr,
                                            &op.made) == xnn_status_success);
  std::size_t workspace_size = 0, alignment = 0, height = 0, width = 0;
  REQUIRE(xnn_reshape_convolution2d_nhwc_f32(op.made, 2, size, size, &workspace_size, &alignment, &height,
                                             &width, pool.get()) == xnn_status_success);
  REQUIRE(height == side);
  REQUIRE(width == side);
  std::vector<std::byte> workspace(workspace_size + alignment);
  std::vector<float> y(want.size());
  REQUIRE(xnn_setup_convolution2d_nhwc_f32(op.made, workspace.data(), input.data(), y.data()) ==
          xnn_status_success);
  REQUIRE(xnn_run_operator(op.made, pool.get()) == xnn_status_success);
  CHECK(largest_error(y, want, 9 * in) < 1);
}

TEST_CASE("Pthreadpool_OnOurThreads_VisitsEveryItemOnce") {
  ThreadPool threads(3);
  const PthreadpoolPtr pool = pthreadpool_on(threads);
  CHECK(pthreadpool_get_threads_count(pool.get()) == static_cast<std::size_t>(threads.size()));
  for (const std::size_t count : {1, 2, 3, 5, 1000}) {
    std::vector<std::atomic<int>> visits(count);
    pthreadpool_parallelize_1d(
        pool.get(), [](void* context, std::size_t i) { ++static_cast<std::atomic<int>*>(context)[i]; },
        visits.data(), count, 0);
    for (const auto& visited : visits) CHECK(visited == 1);
  }
}

TEST_CASE("Pthreadpool_FlagForSubnormals_EndsWithTheCall") {
  ThreadPool threads(2);
  const PthreadpoolPtr pool = pthreadpool_on(threads);
  std::array<float, 8> halves{};
  const auto halve = [](void* context, std::size_t i) {
    const volatile float smallest = std::numeric_limits<float>::min();
    static_cast<float*>(context)[i] = smallest / 2;
  };
  pthreadpool_parallelize_1d(pool.get(), halve, halves.data(), halves.size(),
                             PTHREADPOOL_FLAG_DISABLE_DENORMALS);
  pthreadpool_parallelize_1d(pool.get(), halve, halves.data(), halves.size(), 0);
  for (const float half : halves) CHECK(half == std::numeric_limits<float>::min() / 2);
}

}  // namespace driftscope::test::xnnpack_test
