#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::pool_test {
namespace {

using Numbers = std::vector<double>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("MaxPool_CeilMode_KeepsThePartialWindow") {
  const auto x = floats({1, 1, 5}, {1, 5, 2, 4, 3});
  const std::vector<Attribute> ceil = {ints("kernel_shape", {2}), ints("strides", {2}),
                                       integer("ceil_mode", 1)};
  CHECK(OneNode{"MaxPool", {x}, ceil}.numbers() == Numbers{5, 4, 3});
  const std::vector<Attribute> floor = {ints("kernel_shape", {2}), ints("strides", {2})};
  CHECK(OneNode{"MaxPool", {x}, floor}.numbers() == Numbers{5, 4});
}

TEST_CASE("Pool_CeilMode_DropsTheWindowThatStartsInTheTailPadding") {
  const auto x = floats({1, 1, 2}, {4, 6});
  const std::vector<Attribute> attributes = {ints("kernel_shape", {2}), ints("strides", {3}),
                                             ints("pads", {1, 1}), integer("ceil_mode", 1)};
  for (const std::int64_t opset : {10, 19}) {
    CHECK(OneNode{"MaxPool", {x}, attributes, opset}.numbers() == Numbers{4});
    CHECK(OneNode{"AveragePool", {x}, attributes, opset}.numbers() == Numbers{4});
  }
}

TEST_CASE("AveragePool_ValidWithCeilMode_RoundsUpAsOnnxRuntime") {
  const auto x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  CHECK(OneNode{"AveragePool",
                {x},
                {ints("kernel_shape", {2}), ints("strides", {2}), text("auto_pad", "VALID"),
                 integer("ceil_mode", 1)}}
            .numbers() == Numbers{1.5, 3.5, 5});
}

TEST_CASE("AveragePool_CountIncludePad_DividesByTheTapsInsideThePaddedInput") {
  // Windows start at −1, 1 and 3; the last reaches one beyond the padding, which does not count.
  const auto x = floats({1, 1, 4}, {2, 4, 6, 8});
  const std::vector<Attribute> attributes = {ints("kernel_shape", {3}), ints("strides", {2}),
                                             ints("pads", {1, 1}), integer("ceil_mode", 1),
                                             integer("count_include_pad", 1)};
  CHECK(OneNode{"AveragePool", {x}, attributes}.numbers() == Numbers{2, 6, 4});
  const std::vector<Attribute> exclude = {ints("kernel_shape", {3}), ints("strides", {2}),
                                          ints("pads", {1, 1}), integer("ceil_mode", 1)};
  CHECK(OneNode{"AveragePool", {x}, exclude}.numbers() == Numbers{3, 6, 8});
}

TEST_CASE("AveragePool_Dilations_SkipElements") {
  const auto x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  CHECK(OneNode{"AveragePool", {x}, {ints("kernel_shape", {2}), ints("dilations", {3})}}.numbers() ==
        Numbers{2.5, 3.5});
}

TEST_CASE("MaxPool_Indices_FollowStorageOrder") {
  // Two planes of 2×3; the largest of each.
  const auto x = floats({1, 2, 2, 3}, {0, 0, 0, 9, 0, 0, 0, 0, 8, 0, 0, 0});
  for (const std::int64_t order : {0, 1}) {
    const auto out =
        OneNode{"MaxPool", {x}, {ints("kernel_shape", {2, 3}), integer("storage_order", order)}, 12, 2}.run();
    CHECK(as_doubles(out[0]) == Numbers{9, 8});
    CHECK(as_doubles(out[1]) == (order == 0 ? Numbers{3, 8} : Numbers{1, 10}));
  }
}

TEST_CASE("MaxPool_EqualElements_IndexTheFirst") {
  const auto x = floats({1, 1, 4}, {7, 7, 7, 7});
  const auto out = OneNode{"MaxPool", {x}, {ints("kernel_shape", {2})}, 12, 2}.run();
  CHECK(as_doubles(out[1]) == Numbers{0, 1, 2});
}

TEST_CASE("MaxPool_NegativeElements_DoNotLoseAgainstPadding") {
  const auto x = floats({1, 1, 2}, {-3, -2});
  CHECK(OneNode{"MaxPool", {x}, {ints("kernel_shape", {3}), ints("pads", {1, 1})}}.numbers() ==
        Numbers{-2, -2});
}

TEST_CASE("MaxPool_NaN_StaysInItsWindows") {
  const auto x = floats({1, 1, 5}, {1, nan, 2, 3, nan});
  const auto out = OneNode{"MaxPool", {x}, {ints("kernel_shape", {2})}, 12, 2}.run();
  const Numbers y = as_doubles(out[0]);
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == 3);
  CHECK(as_doubles(out[1]) == Numbers{1, 1, 3, 4});
}

TEST_CASE("MaxPool_Int8_IsExact") {
  const auto x = tensor<std::int8_t>({1, 1, 3}, {-128, -5, 127});
  CHECK(OneNode{"MaxPool", {x}, {ints("kernel_shape", {2})}, 12}.numbers() == Numbers{-5, 127});
}

TEST_CASE("Pool_WithoutKernelShape_IsAnError") {
  const auto x = floats({1, 1, 4, 4}, std::vector<float>(16));
  CHECK(contains(OneNode{"MaxPool", {x}}.error().message, "attribute kernel_shape: expected 2 values"));
  CHECK(contains(OneNode{"AveragePool", {x}, {ints("kernel_shape", {5, 5})}}.error().message,
                 "more than the input of 4"));
}

TEST_CASE("GlobalAveragePool_AnyRank_LeavesOnes") {
  const auto x = floats({1, 2, 3}, {1, 2, 6, 0, 0, 3});
  CHECK(OneNode{"GlobalAveragePool", {x}}.numbers() == Numbers{3, 1});
  CHECK(OneNode{"GlobalAveragePool", {x}}.shape() == Shape{1, 2, 1});
  CHECK(OneNode{"GlobalMaxPool", {x}}.numbers() == Numbers{6, 3});
}

}  // namespace driftscope::test::pool_test
