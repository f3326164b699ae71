// In XNNPACK's kernels with bounds, maxima and functions, NaN inputs give NaN results, and only where
// they were read. Needs only XNNPACK: for relaxed SIMD this file is a separate program.
#include <doctest/doctest.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace driftscope::test::xnnpack_nan_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Bounds {
  float low, high;
};
constexpr Bounds all_bounds[] = {{-infinity, infinity}, {0.0f, infinity}, {0.0f, 6.0f}};

/// With a sign and without: a kernel that compares bits as integers tells them apart.
const std::vector<float> nans{std::numeric_limits<float>::quiet_NaN(),
                              -std::numeric_limits<float>::quiet_NaN()};

struct Operator {
  xnn_operator_t made = nullptr;
  Operator() { REQUIRE(xnn_initialize(nullptr) == xnn_status_success); }
  ~Operator() { xnn_delete_operator(made); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
};

bool done(xnn_status status) { return status == xnn_status_success; }

std::size_t count_of_nans(const std::vector<float>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](float x) { return std::isnan(x); }));
}

/// [rows, 3] times ones; one element of the first and of the last row is `nan`.
void check_fully_connected(std::size_t rows, std::size_t n, Bounds bounds, float nan) {
  const std::vector<float> w(n * 3, 1.0f), b(n, 0.0f);
  std::vector<float> x(rows * 3, 1.0f), y(rows * n);
  x.front() = x.back() = nan;
  Operator op;
  REQUIRE(done(xnn_create_fully_connected_nc_f32(3, n, 3, n, w.data(), b.data(), bounds.low, bounds.high, 0,
                                                 nullptr, nullptr, &op.made)));
  REQUIRE(done(xnn_reshape_fully_connected_nc_f32(op.made, rows, nullptr)));
  REQUIRE(done(xnn_setup_fully_connected_nc_f32(op.made, x.data(), y.data())));
  REQUIRE(done(xnn_run_operator(op.made, nullptr)));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == (i / n == 0 || i / n == rows - 1));
}

constexpr std::size_t side = 9;

struct Window {
  std::size_t height, width, groups, inputs, outputs;  // inputs and outputs per group
};

/// One pixel's first channel of [1, side, side, channels] is `nan`: it reaches the windows that hold the
/// pixel, in the outputs of its group.
void check_convolution(const Window& window, Bounds bounds, float nan) {
  const auto [height, width, groups, inputs, outputs] = window;
  const std::size_t in = groups * inputs, out = groups * outputs;
  const std::vector<float> w(height * width * inputs * out, 1.0f), b(out, 0.0f);
  const std::size_t rows = side - height + 1, columns = side - width + 1, at = 4;
  std::vector<float> x(side * side * in, 1.0f), y(rows * columns * out);
  x[(at * side + at) * in] = nan;
  Operator op;
  REQUIRE(done(xnn_create_convolution2d_nhwc_f32(
      0, 0, 0, 0, static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width), 1, 1, 1, 1,
      static_cast<std::uint32_t>(groups), inputs, outputs, in, out, w.data(), b.data(), bounds.low,
      bounds.high, 0, nullptr, nullptr, &op.made)));
  std::size_t workspace_size = 0, alignment = 0;
  REQUIRE(done(xnn_reshape_convolution2d_nhwc_f32(op.made, 1, side, side, &workspace_size, &alignment,
                                                  nullptr, nullptr, nullptr)));
  std::vector<double> workspace(workspace_size / sizeof(double) + 8);
  REQUIRE(done(xnn_setup_convolution2d_nhwc_f32(op.made, workspace.data(), x.data(), y.data())));
  REQUIRE(done(xnn_run_operator(op.made, nullptr)));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t row = i / out / columns, column = i / out % columns;
    const bool reads = row <= at && at < row + height && column <= at && at < column + width;
    CHECK(std::isnan(y[i]) == (reads && i % out < outputs));
  }
}

/// Runs a function of one value on `count` ones with a NaN at every place in turn.
void check_unary(xnn_unary_operator kind, const xnn_unary_params* params, std::size_t count, float nan) {
  Operator op;
  REQUIRE(done(xnn_create_unary_elementwise_nc(kind, xnn_datatype_fp32, xnn_datatype_fp32, params, nullptr,
                                               nullptr, 0, &op.made)));
  REQUIRE(done(xnn_reshape_unary_elementwise_nc(op.made, count, 1, 1, 1, nullptr)));
  for (std::size_t at = 0; at < count; ++at) {
    // Some kernels read a vector beyond the end.
    std::vector<float> x(count + XNN_EXTRA_BYTES, 1.0f), y(count);
    x[at] = nan;
    REQUIRE(done(xnn_setup_unary_elementwise_nc(op.made, x.data(), y.data())));
    REQUIRE(done(xnn_run_operator(op.made, nullptr)));
    CHECK(std::isnan(y[at]));
    CHECK(count_of_nans(y) == 1);
  }
}

/// One window of height × width, `nan` at every place of it in turn, in the last of `channels`.
template <class Create, class Run>
void check_pool(std::size_t height, std::size_t width, Create create, Run run, float nan) {
  constexpr std::size_t channels = 7;
  Operator op;
  REQUIRE(done(create(static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width), &op.made)));
  for (std::size_t at = 0; at < height * width; ++at) {
    std::vector<float> x(height * width * channels + XNN_EXTRA_BYTES, 1.0f), y(channels);
    x[at * channels + channels - 1] = nan;
    run(op.made, height, width, channels, x.data(), y.data());
    CAPTURE(at);
    CHECK(std::isnan(y.back()));
    CHECK(count_of_nans(y) == 1);
  }
}

}  // namespace

TEST_CASE("Xnnpack_FullyConnected_KeepsNaN") {
  for (const float nan : nans)
    for (const Bounds bounds : all_bounds)
      for (std::size_t rows = 1; rows <= 14; ++rows)
        for (const std::size_t n : {1, 4, 9, 40}) {
          CAPTURE(nan);
          CAPTURE(bounds.low);
          CAPTURE(bounds.high);
          CAPTURE(rows);
          CAPTURE(n);
          check_fully_connected(rows, n, bounds, nan);
        }
}

TEST_CASE("Xnnpack_Convolution_KeepsNaN") {
  const Window windows[] = {{3, 3, 1, 3, 21}, {1, 1, 1, 5, 9}, {2, 3, 2, 3, 8},  // sums over channels
                            {1, 1, 7, 1, 1},                                     // BatchNormalization
                            {1, 3, 7, 1, 1},  {2, 2, 9, 1, 1}, {3, 3, 37, 1, 1},
                            {5, 5, 9, 1, 1},  {7, 7, 5, 1, 1}};  // depthwise
  for (const float nan : nans)
    for (const Bounds bounds : all_bounds)
      for (const Window& window : windows) {
        CAPTURE(nan);
        CAPTURE(bounds.low);
        CAPTURE(bounds.high);
        CAPTURE(window.height);
        CAPTURE(window.width);
        CAPTURE(window.groups);
        check_convolution(window, bounds, nan);
      }
}

TEST_CASE("Xnnpack_Function_KeepsNaN") {
  xnn_unary_params clamp, elu, leaky_relu;
  clamp.clamp = {0.0f, 6.0f};
  elu.elu.alpha = 1.0f;
  leaky_relu.leaky_relu.negative_slope = 0.5f;
  struct Function {
    xnn_unary_operator kind;
    const xnn_unary_params* params = nullptr;
  };
  const Function functions[] = {{xnn_unary_clamp, &clamp},
                                {xnn_unary_elu, &elu},
                                {xnn_unary_leaky_relu, &leaky_relu},
                                {xnn_unary_abs},
                                {xnn_unary_bankers_rounding},
                                {xnn_unary_ceiling},
                                {xnn_unary_exp},
                                {xnn_unary_floor},
                                {xnn_unary_gelu},
                                {xnn_unary_hardswish},
                                {xnn_unary_negate},
                                {xnn_unary_sigmoid},
                                {xnn_unary_square_root},
                                {xnn_unary_tanh}};
  for (const float nan : nans)
    for (const Function& function : functions)
      for (const std::size_t count : {1, 2, 3, 4, 7, 40, 131}) {
        CAPTURE(nan);
        CAPTURE(function.kind);
        CAPTURE(count);
        check_unary(function.kind, function.params, count, nan);
      }
}

TEST_CASE("Xnnpack_MaxPool_KeepsNaN") {
  const auto create = [](std::uint32_t height, std::uint32_t width, xnn_operator_t* made) {
    return xnn_create_max_pooling2d_nhwc_f32(0, 0, 0, 0, height, width, 1, 1, 1, 1, -infinity, infinity, 0,
                                             made);
  };
  const auto run = [](xnn_operator_t op, std::size_t height, std::size_t width, std::size_t channels,
                      const float* x, float* y) {
    REQUIRE(done(xnn_reshape_max_pooling2d_nhwc_f32(op, 1, height, width, channels, channels, channels,
                                                    nullptr, nullptr, nullptr)));
    REQUIRE(done(xnn_setup_max_pooling2d_nhwc_f32(op, x, y)));
    REQUIRE(done(xnn_run_operator(op, nullptr)));
  };
  for (const float nan : nans)
    for (const std::size_t size : {2, 3, 4, 5}) {
      CAPTURE(nan);
      CAPTURE(size);
      check_pool(size, size, create, run, nan);
    }
}

TEST_CASE("Xnnpack_AveragePool_KeepsNaN") {
  for (const std::uint32_t padding : {0u, 1u})  // with padding another kernel
    for (const float nan : nans)
      for (const std::size_t size : {2, 3, 4, 5}) {
        const auto create = [padding](std::uint32_t height, std::uint32_t width, xnn_operator_t* made) {
          return xnn_create_average_pooling2d_nhwc_f32(0, padding, 0, 0, height, width + padding, 1, 1,
                                                       -infinity, infinity, 0, made);
        };
        const auto run = [](xnn_operator_t op, std::size_t height, std::size_t width, std::size_t channels,
                            const float* x, float* y) {
          std::size_t workspace_size = 0, alignment = 0;
          REQUIRE(done(xnn_reshape_average_pooling2d_nhwc_f32(op, 1, height, width, channels, channels,
                                                              channels, &workspace_size, &alignment, nullptr,
                                                              nullptr, nullptr)));
          std::vector<double> workspace(workspace_size / sizeof(double) + 8);
          REQUIRE(done(xnn_setup_average_pooling2d_nhwc_f32(op, workspace.data(), x, y)));
          REQUIRE(done(xnn_run_operator(op, nullptr)));
        };
        CAPTURE(nan);
        CAPTURE(size);
        CAPTURE(padding);
        check_pool(size, size, create, run, nan);
      }
}

TEST_CASE("Xnnpack_MaxAndMin_KeepNaNOfEitherSide") {
  for (const float nan : nans)
    for (const auto kind : {xnn_binary_maximum, xnn_binary_minimum})
      for (const std::size_t count : {1, 3, 5, 37})
        for (const bool first : {true, false})
          for (const bool scalar : {true, false}) {  // the other side
            CAPTURE(nan);
            CAPTURE(kind);
            CAPTURE(count);
            CAPTURE(first);
            CAPTURE(scalar);
            const std::size_t other = scalar ? 1 : count;
            std::vector<float> x(count + XNN_EXTRA_BYTES, 1.0f), z(other + XNN_EXTRA_BYTES, 1.0f);
            std::vector<float> y(count);
            x[count - 1] = nan;
            Operator op;
            REQUIRE(done(xnn_create_binary_elementwise_nd(kind, xnn_datatype_fp32, nullptr, nullptr, nullptr,
                                                          0, &op.made)));
            REQUIRE(done(first ? xnn_reshape_binary_elementwise_nd(op.made, 1, &count, 1, &other, nullptr)
                               : xnn_reshape_binary_elementwise_nd(op.made, 1, &other, 1, &count, nullptr)));
            REQUIRE(done(first ? xnn_setup_binary_elementwise_nd(op.made, x.data(), z.data(), y.data())
                               : xnn_setup_binary_elementwise_nd(op.made, z.data(), x.data(), y.data())));
            REQUIRE(done(xnn_run_operator(op.made, nullptr)));
            CHECK(std::isnan(y[count - 1]));
            CHECK(count_of_nans(y) == 1);
          }
}

TEST_CASE("Xnnpack_Softmax_OfANaN_IsNaNThroughout") {
  for (const float nan : nans)
    for (const std::size_t count : {2, 5, 70}) {
      Operator op;
      REQUIRE(done(xnn_create_softmax_nc_f32(0, &op.made)));
      REQUIRE(done(xnn_reshape_softmax_nc_f32(op.made, count, count, count, 1, nullptr)));
      for (std::size_t at = 0; at < count; ++at) {
        CAPTURE(nan);
        CAPTURE(count);
        CAPTURE(at);
        std::vector<float> x(count + XNN_EXTRA_BYTES, 1.0f), y(count);
        x[at] = nan;
        REQUIRE(done(xnn_setup_softmax_nc_f32(op.made, x.data(), y.data())));
        REQUIRE(done(xnn_run_operator(op.made, nullptr)));
        CHECK(count_of_nans(y) == count);
      }
    }
}

}  // namespace driftscope::test::xnnpack_nan_test
