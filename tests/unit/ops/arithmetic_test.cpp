// Elementwise operators, products of matrices, Softmax, BatchNormalization.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::arithmetic_test {
namespace {

using Numbers = std::vector<double>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("Add_RanksThatDiffer_AlignAtTheEnd") {
  const auto a = floats({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const auto b = floats({2, 1}, {10, 20});
  const OneNode node{"Add", {a, b}};
  CHECK(node.shape() == Shape{2, 2, 3});
  CHECK(node.numbers() == Numbers{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26});
  CHECK(OneNode{"Sub", {b, floats({}, {1})}}.numbers() == Numbers{9, 19});
  CHECK(OneNode{"Add", {floats({}, {1}), floats({}, {2})}}.shape() == Shape{});
  CHECK(OneNode{"Mul", {floats({0, 3}, {}), floats({1, 3}, {1, 2, 3})}}.shape() == Shape{0, 3});
}

TEST_CASE("Add_ShapesThatDoNotFit_AreNamed") {
  const Error error =
      OneNode{"Add", {floats({2, 3}, std::vector<float>(6)), floats({2, 4}, std::vector<float>(8))}}.error();
  CHECK(contains(error.message, "shapes 2x3 and 2x4 cannot be broadcast: 3 against 4"));
  CHECK(contains(OneNode{"Add", {floats({1}, {1}), longs({1})}}.error().message,
                 "input 1 (B): expected float32 as input 0 (A) has, got int64"));
}

TEST_CASE("Add_SymbolicShapes_Broadcast") {
  ModelBuilder builder;
  builder.input("a", DType::float32, {"N", 1, "T"}).input("b", DType::float32, {"C", 1});
  builder.node("Add", {"a", "b"}, {"y"}).output("y");
  CHECK(inferred_shape(builder, "y") == "NxCxT");
  ModelBuilder same;
  same.input("a", DType::float32, {"N", 4}).input("b", DType::float32, {"N", 1});
  same.node("Add", {"a", "b"}, {"y"}).output("y");
  CHECK(inferred_shape(same, "y") == "Nx4");
}

TEST_CASE("Integers_Overflow_WrapAround") {
  const auto a = tensor<std::uint8_t>({2}, {200, 3});
  const auto b = tensor<std::uint8_t>({2}, {100, 5});
  CHECK(OneNode{"Add", {a, b}}.numbers() == Numbers{44, 8});
  CHECK(OneNode{"Sub", {a, b}}.numbers() == Numbers{100, 254});
  CHECK(OneNode{"Mul", {a, b}}.numbers() == Numbers{32, 15});
  const auto lowest = tensor<std::int32_t>({1}, {std::numeric_limits<std::int32_t>::min()});
  const auto minus = tensor<std::int32_t>({1}, {-1});
  CHECK(OneNode{"Div", {lowest, minus}}.numbers() == Numbers{-0x1p31});
  CHECK(OneNode{"Div", {tensor<std::int32_t>({2}, {-7, 7}), tensor<std::int32_t>({1}, {2})}}.numbers() ==
        Numbers{-3, 3});
  CHECK(contains(OneNode{"Div", {lowest, tensor<std::int32_t>({1}, {0})}}.error().message, "element 0 is 0"));
  CHECK(
      OneNode{"MatMul",
              {tensor<std::int32_t>({1, 2}, {0x40000000, 0x40000000}), tensor<std::int32_t>({2, 1}, {2, 1})}}
          .numbers() == Numbers{-0x40000000});
}

TEST_CASE("Relu_NaNAndZeros") {
  const Tensor y = OneNode{"Relu", {floats({4}, {nan, -0.0f, -1, 2})}}.run()[0];
  CHECK(std::isnan(y.values<float>()[0]));
  CHECK(!std::signbit(y.values<float>()[1]));
  CHECK(y.values<float>()[3] == 2);
  CHECK(OneNode{"Relu", {tensor<std::int32_t>({2}, {-3, 4})}, {}, 14}.numbers() == Numbers{0, 4});
}

TEST_CASE("Clip_LimitsOfEveryOpset") {
  const auto x = floats({3}, {-2, 0.5f, 9});
  CHECK(OneNode{"Clip", {x}, {real("min", -1), real("max", 6)}, 7}.numbers() == Numbers{-1, 0.5, 6});
  CHECK(OneNode{"Clip", {x, floats({}, {-1}), floats({}, {6})}, {}, 11}.numbers() == Numbers{-1, 0.5, 6});
  CHECK(OneNode{"Clip", {x, std::nullopt, floats({}, {1})}}.numbers() == Numbers{-2, 0.5, 1});
  // Where the limits cross, the maximum wins.
  CHECK(OneNode{"Clip", {x, floats({}, {5}), floats({}, {1})}}.numbers() == Numbers{1, 1, 1});
  CHECK(OneNode{"Clip", {tensor<std::int8_t>({3}, {-9, 1, 9}), std::nullopt, tensor<std::int8_t>({}, {4})}}
            .numbers() == Numbers{-9, 1, 4});
  CHECK(OneNode{"Clip", {floats({1}, {infinity})}}.numbers() ==
        Numbers{static_cast<double>(std::numeric_limits<float>::max())});
  CHECK(contains(OneNode{"Clip", {x, floats({2}, {1, 2})}}.error().message, "expected a scalar"));
}

TEST_CASE("Gemm_TransposesScalesAndBroadcastsC") {
  const auto a = floats({2, 1}, {1, 2});              // A' = [1 2]
  const auto b = floats({3, 2}, {1, 0, 0, 1, 1, 1});  // B' = 2×3
  const std::vector<Attribute> attributes = {integer("transA", 1), integer("transB", 1), real("alpha", 2),
                                             real("beta", 0.5f)};
  CHECK(OneNode{"Gemm", {a, b, floats({3}, {10, 20, 30})}, attributes}.numbers() == Numbers{7, 14, 21});
  CHECK(OneNode{"Gemm", {a, b, floats({}, {10})}, attributes}.numbers() == Numbers{7, 9, 11});
  CHECK(OneNode{"Gemm", {a, b}, attributes}.numbers() == Numbers{2, 4, 6});
  const std::vector<Attribute> without_c = {integer("transA", 1), integer("transB", 1), real("beta", 0)};
  CHECK(OneNode{"Gemm", {a, b, floats({1}, {nan})}, without_c}.numbers() == Numbers{1, 2, 3});
}

TEST_CASE("Gemm_Strict_StartsAtCOnlyWithoutFactors") {
  const auto a = floats({1, 2}, {1, 1});
  const auto b = floats({2, 1}, {1, 1});
  const auto c = floats({1, 1}, {0x1p24f});
  CHECK(OneNode{"Gemm", {a, b, c}}.strict_numbers() == Numbers{0x1p24});
  CHECK(OneNode{"Gemm", {a, b, c}, {real("alpha", 2)}}.strict_numbers() == Numbers{0x1p24 + 4});
}

TEST_CASE("Gemm_WrongShapes_SayWhatWasExpected") {
  const auto a = floats({2, 3}, std::vector<float>(6));
  CHECK(contains(OneNode{"Gemm", {a, a}}.error().message,
                 "input 1 (B): 2 rows after transposition (shape 2x3, transB 0) must equal the 3 "
                 "columns of input 0 (A: shape 2x3, transA 0)"));
  CHECK(contains(OneNode{"Gemm", {a, a, floats({2}, {1, 2})}, {integer("transA", 1)}}.error().message,
                 "input 2 (C): shape 2 cannot be broadcast to 3x3"));
  CHECK(
      contains(OneNode{"Gemm", {floats({3}, {1, 2, 3}), a}}.error().message, "input 0 (A): expected rank 2"));
}

TEST_CASE("MatMul_VectorsAndBatches_FollowNumpy") {
  const auto v = floats({2}, {1, 10});
  const auto m = floats({2, 2}, {1, 2, 3, 4});
  CHECK(OneNode{"MatMul", {v, v}}.shape() == Shape{});
  CHECK(OneNode{"MatMul", {v, v}}.numbers() == Numbers{101});
  CHECK(OneNode{"MatMul", {v, m}}.numbers() == Numbers{31, 42});
  CHECK(OneNode{"MatMul", {m, v}}.numbers() == Numbers{21, 43});
  const auto batch = floats({2, 1, 1, 2}, {1, 0, 0, 1});
  const auto other = floats({3, 2, 1}, {1, 2, 3, 4, 5, 6});
  CHECK(OneNode{"MatMul", {batch, other}}.shape() == Shape{2, 3, 1, 1});
  CHECK(OneNode{"MatMul", {batch, other}}.numbers() == Numbers{1, 3, 5, 2, 4, 6});
  CHECK(OneNode{"MatMul", {floats({2, 0}, {}), floats({0, 2}, {})}}.numbers() == Numbers{0, 0, 0, 0});
  CHECK(contains(OneNode{"MatMul", {m, floats({3}, {1, 2, 3})}}.error().message,
                 "input 1 (B): 3 rows (shape 3) must equal the 2 columns of input 0 (A: shape 2x2)"));
}

TEST_CASE("Softmax_BeforeOpset13_TakesAllAxesFromAxisOn") {
  const auto x = floats({1, 2, 2}, {0, 0, 0, 0});
  CHECK(OneNode{"Softmax", {x}, {}, 11}.numbers() == Numbers{0.25, 0.25, 0.25, 0.25});
  CHECK(OneNode{"Softmax", {x}, {}, 13}.numbers() == Numbers{0.5, 0.5, 0.5, 0.5});
  CHECK(OneNode{"Softmax", {x}, {integer("axis", 0)}, 13}.numbers() == Numbers{1, 1, 1, 1});
  CHECK(OneNode{"Softmax", {floats({2}, {1000, 1000})}}.numbers() == Numbers{0.5, 0.5});
  CHECK(contains(OneNode{"Softmax", {x}, {integer("axis", 3)}, 13}.error().message,
                 "axis 3 is outside [-3, 2]"));
}

TEST_CASE("BatchNormalization_StatisticsPerChannelOrPerPosition") {
  const auto x = floats({1, 2, 2}, {1, 2, 3, 4});
  const auto ones = floats({2}, {1, 1});
  const auto zeros = floats({2}, {0, 0});
  const std::vector<Attribute> exact = {real("epsilon", 0)};
  CHECK(OneNode{"BatchNormalization",
                {x, floats({2}, {2, 3}), floats({2}, {1, 0}), floats({2}, {1, 3}), floats({2}, {4, 1})},
                exact}
            .numbers() == Numbers{1, 2, 0, 3});
  const auto per_position = floats({2, 2}, {1, 2, 3, 4});
  const auto unit = floats({2, 2}, {1, 1, 1, 1});
  CHECK(OneNode{"BatchNormalization",
                {x, unit, floats({2, 2}, {0, 0, 0, 0}), per_position, unit},
                {real("epsilon", 0), integer("spatial", 0)},
                7}
            .numbers() == Numbers{0, 0, 0, 0});
  const Error training =
      OneNode{"BatchNormalization", {x, ones, zeros, zeros, ones}, {integer("training_mode", 1)}, 15}.error();
  CHECK(training.kind == ErrorKind::unsupported);
  CHECK(contains(training.message, "training_mode"));
  CHECK(
      contains(OneNode{"BatchNormalization", {x, floats({3}, {1, 1, 1}), zeros, zeros, ones}}.error().message,
               "input 1 (scale): expected shape 2 for input 0 (X) of shape 1x2x2, got 3"));
}

// Opset 6: "shape(A) = (2, 3, 4, 5), shape(B) = (3, 4), with axis = 1".
TEST_CASE("Binary_BroadcastAxisOfOpset6_AlignsTheSecondInputThere") {
  const auto a = floats({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const std::vector<Attribute> axis_1 = {integer("broadcast", 1), integer("axis", 1)};
  const OneNode channels{"Add", {a, floats({3}, {10, 20, 30})}, axis_1, 6};
  CHECK(channels.numbers() == Numbers{10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41});
  CHECK(channels.shape() == Shape{2, 3, 2});
  const OneNode rows{
      "Sub", {a, floats({2, 3}, {0, 1, 2, 3, 4, 5})}, {integer("broadcast", 1), integer("axis", 0)}, 6};
  CHECK(rows.numbers() == Numbers{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6});
  // Without an axis, and with the last one, B lies at the end.
  for (const std::vector<Attribute>& end : {std::vector<Attribute>{integer("broadcast", 1)},
                                            {integer("broadcast", 1), integer("axis", 2)},
                                            {integer("broadcast", 1), integer("axis", -1)}})
    CHECK(OneNode{"Mul", {a, floats({2}, {1, 0})}, end, 6}.numbers() ==
          Numbers{0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10, 0});
  CHECK(OneNode{"Greater", {a, floats({3}, {0, 2, 100})}, axis_1, 6}.numbers() ==
        Numbers{0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0});
  const Error beyond =
      OneNode{
          "Add", {a, floats({3, 2}, {0, 0, 0, 0, 0, 0})}, {integer("broadcast", 1), integer("axis", 2)}, 6}
          .error();
  CHECK(contains(beyond.message, "attribute axis: 2 of an input of rank 3 leaves no room"));
}

}  // namespace driftscope::test::arithmetic_test
