// Elementwise operators: corner cases of each, types, broadcasting, and the effect of an input error.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/half.hpp"
#include "core/verify/engine_models.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::elementwise_test {
namespace {

using Numbers = std::vector<double>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor truths(Shape shape, const std::vector<std::uint8_t>& values) {
  auto made = Tensor::from_bytes(DType::boolean, std::move(shape), std::as_bytes(std::span(values)));
  REQUIRE(made.ok());
  return *made;
}

Tensor of_type(DType dtype, Shape shape, const std::vector<std::uint16_t>& bits) {
  auto made = Tensor::from_bytes(dtype, std::move(shape), std::as_bytes(std::span(bits)));
  REQUIRE(made.ok());
  return *made;
}

Numbers unary(const std::string& op, const std::vector<float>& x,
              const std::vector<Attribute>& attributes = {}) {
  return OneNode{op, {floats({static_cast<std::int64_t>(x.size())}, x)}, attributes}.numbers();
}

// Within a few units of float32 at 1.
void near(const Numbers& got, const Numbers& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << ", wanted " << want[i]);
    CHECK(std::fabs(got[i] - want[i]) <= 1e-6 * std::fabs(want[i]) + 3e-7);
  }
}

// The first output as Bounded when every element of input 0 carries this error.
Evaluated<Bounded> with_error(const OneNode& node, double error) {
  ThreadPool threads(1);
  const Graph graph = node.graph();
  std::vector<Evaluated<Bounded>> inputs;
  for (const auto& input : node.inputs) {
    auto lifted = lift<Bounded>(*input);
    REQUIRE(lifted.ok());
    inputs.push_back(*std::move(lifted));
  }
  for (Bounded& x : inputs[0].real) x = Bounded(x.value, error, error / 10);
  std::vector<const Evaluated<Bounded>*> operands;
  for (const auto& input : inputs) operands.push_back(&input);
  auto results = evaluate<Bounded>(graph.nodes[0], operands, threads);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  return (*results)[0];
}

}  // namespace

TEST_CASE("Max_SignedZeros_TheSecondOneWins") {
  const auto zero = floats({2}, {0.0f, -0.0f});
  const auto other = floats({2}, {-0.0f, 0.0f});
  const auto largest = OneNode{"Max", {zero, other}}.run();
  CHECK(std::signbit(largest[0].values<float>()[0]));
  CHECK_FALSE(std::signbit(largest[0].values<float>()[1]));
  const auto relu = OneNode{"Relu", {zero}}.run();
  CHECK_FALSE(std::signbit(relu[0].values<float>()[1]));
}

TEST_CASE("MaxMin_NaN_WinsFromEitherSide") {
  const auto with = floats({2}, {nan, 1});
  const auto without = floats({2}, {1, nan});
  for (const char* op : {"Max", "Min"})
    for (const double x : OneNode{op, {with, without}}.numbers()) CHECK(std::isnan(x));
  CHECK(OneNode{"Max", {tensor<std::int8_t>({2}, {-3, 4}), tensor<std::int8_t>({1}, {1})}}.numbers() ==
        Numbers{1, 4});
}

TEST_CASE("SumMean_ThreeInputsBroadcast") {
  const auto a = floats({2, 1}, {1, 2});
  const auto b = floats({3}, {10, 20, 30});
  const auto c = floats({}, {100});
  CHECK(OneNode{"Sum", {a, b, c}}.numbers() == Numbers{111, 121, 131, 112, 122, 132});
  CHECK(OneNode{"Mean", {a, floats({3}, {4, 10, 16}), floats({}, {1})}}.numbers()[0] == 2);
  CHECK(OneNode{"Sum", {a}}.shape() == Shape{2, 1});
}

TEST_CASE("AbsNegSign_IntegersWrapAround") {
  const auto x = tensor<std::int8_t>({3}, {-128, 5, 0});
  CHECK(OneNode{"Abs", {x}}.numbers() == Numbers{-128, 5, 0});
  CHECK(OneNode{"Neg", {x}}.numbers() == Numbers{-128, -5, 0});
  CHECK(OneNode{"Sign", {x}}.numbers() == Numbers{-1, 1, 0});
  CHECK(unary("Sign", {-2.5f, 0.0f, 7}) == Numbers{-1, 0, 1});
}

TEST_CASE("Rounding_TiesAndSigns") {
  CHECK(unary("Round", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f}) == Numbers{0, 2, 2, 0, -2});
  CHECK(unary("Floor", {-1.2f, 1.9f, 3}) == Numbers{-2, 1, 3});
  CHECK(unary("Ceil", {-1.2f, 1.1f, 3}) == Numbers{-1, 2, 3});
  CHECK(std::signbit(unary("Ceil", {-0.5f})[0]));
}

TEST_CASE("Floor_InputWithError_MayJumpOnlyWhereTheErrorReaches") {
  const auto floor = with_error(OneNode{"Floor", {floats({3}, {1.5f, 2.0f, 2.99995f})}}, 1e-4).real;
  CHECK(floor[0].worst == 0.0);
  CHECK(floor[1].worst == 1.0);
  CHECK(floor[2].worst == 1.0);
  CHECK(floor[2].likely == 0.0);
}

TEST_CASE("Activations_AgreeWithPyTorch") {
  const std::vector<float> x = {-3, -1, -0.25f, 0, 0.5f, 2};
  near(unary("Gelu", x), {-0.00404986739, -0.158655286, -0.100323431, 0, 0.345731199, 1.95449996});
  near(unary("Gelu", x, {text("approximate", "tanh")}),
       {-0.00363743305, -0.158807993, -0.100324646, 0, 0.345714003, 1.95459771});
  near(unary("Mish", x), {-0.145647466, -0.30340144, -0.129926965, 0, 0.375245243, 1.943959});
  near(unary("HardSwish", x), {0, -0.333333343, -0.114583336, 0, 0.291666657, 1.66666663});
  near(unary("Selu", x), {-1.6705687, -1.11133075, -0.388890177, 0, 0.525350511, 2.10140204});
  near(unary("Celu", x, {real("alpha", 2)}), {-1.55373967, -0.786938667, -0.235006213, 0, 0.5, 2});
  near(unary("Softplus", x), {0.048587352, 0.313261688, 0.575939417, 0.693147182, 0.974076986, 2.12692809});
  near(unary("Elu", x), {-0.950212955, -0.63212055, -0.221199214, 0, 0.5, 2});
}

// Another way to erf, as in oneDNN (Abramowitz and Stegun 7.1.26): allowed for PyTorch, which uses it,
// and for no other.
TEST_CASE("Gelu_CoarseErf_LiesWithinTheBoundOfThoseWhoHaveIt") {
  std::vector<float> x;
  for (int i = -400; i <= 400; ++i) x.push_back(static_cast<float>(i) * 0.013f);
  const OneNode gelu{"Gelu", {floats({static_cast<std::int64_t>(x.size())}, x)}};
  const auto bounds_for = [&](const char* target) {
    Trace trace;
    trace.target = target;
    const ErrorModelScope scope(error_model_of(trace));
    return gelu.bounded();
  };
  const auto granted = bounds_for("pc/pytorch");
  const auto others = bounds_for("pc/ort");
  int beyond = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float a = std::fabs(x[i] * 0.70710678f);
    const float t = 1.0f / (1.0f + 0.3275911f * a);
    float p = 1.061405429f;
    for (const float c : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) p = p * t + c;
    const float erf = std::copysign(1.0f - p * t * std::exp(-a * a), x[i]);
    const double got = static_cast<double>(0.5f * x[i] * (1.0f + erf));
    INFO("x " << x[i]);
    CHECK(std::fabs(got - granted[i].value) <= granted[i].likely);
    CHECK(granted[i].worst <= 1.2e-6 * std::fabs(static_cast<double>(x[i])) + 1e-30);
    CHECK(others[i].worst <= 0.5 * granted[i].worst + 1e-30);
    beyond += std::fabs(got - others[i].value) > others[i].worst ? 1 : 0;
  }
  CHECK(beyond > 5);
}

TEST_CASE("Activations_Attributes") {
  CHECK(unary("LeakyRelu", {-2, 3}, {real("alpha", 0.5f)}) == Numbers{-1, 3});
  CHECK(unary("ThresholdedRelu", {0.5f, 1, 1.5f}) == Numbers{0, 0, 1.5});
  // Comparisons with NaN fail.
  CHECK(unary("ThresholdedRelu", {std::nanf("")}) == Numbers{0});
  CHECK(unary("Shrink", {std::nanf("")}) == Numbers{0});
  CHECK(unary("HardSigmoid", {-10, 0, 10}) == Numbers{0, 0.5, 1});
  CHECK(unary("Shrink", {-2, -1, 1, 3}, {real("bias", 0.5f), real("lambd", 1)}) == Numbers{-1.5, 0, 0, 2.5});
  CHECK(OneNode{"Shrink", {tensor<std::int32_t>({3}, {-4, 1, 4})}, {real("bias", 1.5f), real("lambd", 2)}}
            .numbers() == Numbers{-2, 0, 2});
  CHECK(contains(OneNode{"Gelu", {floats({1}, {1})}, {text("approximate", "half")}}.error().message,
                 "attribute approximate: expected none or tanh, got \"half\""));
  CHECK(contains(OneNode{"Celu", {floats({1}, {1})}, {real("alpha", 0)}}.error().message, "attribute alpha"));
  CHECK(contains(OneNode{"Elu", {tensor<std::int32_t>({1}, {1})}}.error().message,
                 "input 0 (X): expected a floating-point type, got int32"));
}

TEST_CASE("Functions_ValuesAtKnownPoints") {
  near(unary("Exp", {0, 1}), {1, 2.718281828459045});
  near(unary("Log", {1, 10}), {0, 2.302585092994046});
  near(unary("Erf", {0, 1, -8}), {0, 0.8427007929497149, -1});
  near(unary("Sin", {0.5f, 100}), {0.479425538604203, -0.5063656411097588});
  near(unary("Cos", {0.5f, 100}), {0.8775825618903728, 0.8623188722876839});
  near(unary("Atan", {1}), {0.7853981633974483});
  near(unary("Acosh", {1, 2}), {0, 1.3169578969248166});
  near(unary("Reciprocal", {4, -0.5f}), {0.25, -2});
  near(unary("Softsign", {-3, 1}), {-0.75, 0.5});
  CHECK(std::isnan(unary("Log", {-1})[0]));
  CHECK(unary("Log", {0})[0] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("Erf_OfIntegers_LosesItsFraction") {
  CHECK(OneNode{"Erf", {tensor<std::int32_t>({6}, {-1'000'000, -6, -5, 0, 5, 6})}}.numbers() ==
        Numbers{-1, -1, 0, 0, 0, 1});
  CHECK(OneNode{"Erf", {tensor<std::uint8_t>({2}, {1, 255})}}.numbers() == Numbers{0, 1});
}

TEST_CASE("PRelu_SlopeIsBroadcastOneWay") {
  const auto x = floats({1, 2, 2}, {-1, 2, -3, 4});
  CHECK(OneNode{"PRelu", {x, floats({2, 1}, {10, 100})}}.numbers() == Numbers{-10, 2, -300, 4});
  CHECK(OneNode{"PRelu", {x, floats({2}, {10, 100})}}.numbers() == Numbers{-10, 2, -30, 4});
  CHECK(OneNode{"PRelu", {floats({1, 3, 1}, {-1, -1, -1}), floats({3}, {1, 2, 3})}, {}, 9}.shape() ==
        Shape{1, 3, 1});
  CHECK(OneNode{"PRelu", {tensor<std::int32_t>({2}, {-3, 3}), tensor<std::int32_t>({1}, {2})}}.numbers() ==
        Numbers{-6, 3});
  CHECK(contains(OneNode{"PRelu", {floats({2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}}.error().message,
                 "input 1 (slope): shape 2x2 cannot be broadcast to shape 2 of input 0 (X)"));
}

TEST_CASE("Pow_TypesAndSpecialCases") {
  CHECK(OneNode{"Pow", {floats({3}, {2, -2, 9}), floats({3}, {3, 3, 0.5f})}}.numbers() == Numbers{8, -8, 3});
  CHECK(std::isnan(OneNode{"Pow", {floats({1}, {-2}), floats({1}, {0.5f})}}.numbers()[0]));
  CHECK(OneNode{"Pow", {tensor<std::int32_t>({2}, {-3, 2}), tensor<std::int64_t>({1}, {3})}}.numbers() ==
        Numbers{-27, 8});
  CHECK(OneNode{"Pow", {tensor<std::int32_t>({2}, {4, 2}), floats({2}, {0.5f, -1})}}.numbers() ==
        Numbers{2, 0});
  CHECK(OneNode{"Pow", {floats({2}, {2, 3}), tensor<std::uint32_t>({1}, {2})}}.numbers() == Numbers{4, 9});
}

TEST_CASE("Mod_SignOfDivisorOrDividend") {
  const auto a = tensor<std::int32_t>({4}, {-4, 7, -7, 7});
  const auto b = tensor<std::int32_t>({4}, {3, 3, -3, -3});
  CHECK(OneNode{"Mod", {a, b}}.numbers() == Numbers{2, 1, -1, -2});
  CHECK(OneNode{"Mod", {a, b}, {integer("fmod", 1)}}.numbers() == Numbers{-1, 1, -1, 1});
  const auto lowest = tensor<std::int64_t>({1}, {std::numeric_limits<std::int64_t>::min()});
  CHECK(OneNode{"Mod", {lowest, tensor<std::int64_t>({1}, {-1})}}.numbers() == Numbers{0});
  CHECK(OneNode{"Mod", {floats({2}, {-4.5f, 5}), floats({1}, {2})}, {integer("fmod", 1)}}.numbers() ==
        Numbers{-0.5, 1});
  CHECK(contains(OneNode{"Mod", {a, tensor<std::int32_t>({1}, {0})}}.error().message,
                 "input 1 (B): element 0 is 0"));
  CHECK(contains(OneNode{"Mod", {floats({1}, {1}), floats({1}, {1})}}.error().message,
                 "attribute fmod: must be 1 for float32"));
}

TEST_CASE("Mod_Floats_FollowTheDivisorFromOpset28") {
  const auto mod = [](std::vector<float> a, std::vector<float> b) {
    const auto count = static_cast<std::int64_t>(a.size());
    return OneNode{"Mod", {floats({count}, std::move(a)), floats({count}, std::move(b))}, {}, 28}.numbers();
  };
  CHECK(mod({-4, 7, -7, 4.5F}, {3, -3, -3, 2}) == Numbers{2, -2, -1, 0.5});
  constexpr float infinite = std::numeric_limits<float>::infinity();
  CHECK(mod({2, -2}, {infinite, infinite}) == Numbers{2, static_cast<double>(infinite)});
  CHECK(std::signbit(mod({0.0F}, {-3})[0]));
  CHECK(std::isnan(mod({1}, {0})[0]));
}

TEST_CASE("Comparisons_NaNEqualsNothing") {
  const auto a = floats({4}, {1, 2, nan, 0.0f});
  const auto b = floats({4}, {1, 1, nan, -0.0f});
  CHECK(OneNode{"Equal", {a, b}}.numbers() == Numbers{1, 0, 0, 1});
  CHECK(OneNode{"Greater", {a, b}}.numbers() == Numbers{0, 1, 0, 0});
  CHECK(OneNode{"GreaterOrEqual", {a, b}}.numbers() == Numbers{1, 1, 0, 1});
  CHECK(OneNode{"Less", {b, a}}.numbers() == Numbers{0, 1, 0, 0});
  CHECK(OneNode{"LessOrEqual", {a, b}}.numbers() == Numbers{1, 0, 0, 1});
  CHECK(OneNode{"Equal", {truths({2}, {1, 0}), truths({1}, {0})}}.numbers() == Numbers{0, 1});
  const auto y = OneNode{"Equal", {a, b}}.run();
  CHECK(y[0].dtype() == DType::boolean);
}

TEST_CASE("Comparisons_InputWithError_EitherResultWithinIt") {
  const OneNode node{"Less", {floats({3}, {1, 2, 3}), floats({1}, {2.0005f})}};
  const auto less = with_error(node, 1e-3);
  REQUIRE(less.real.size() == 3);
  CHECK(less.real[0].worst == 0.0);
  CHECK(less.real[1].worst == 1.0);
  CHECK(less.real[1].likely == 0.0);
  CHECK(less.real[2].worst == 0.0);
}

TEST_CASE("IsInfIsNaN_SignsChosen") {
  const std::vector<float> x = {1, nan, infinity, -infinity};
  CHECK(unary("IsNaN", x) == Numbers{0, 1, 0, 0});
  CHECK(unary("IsInf", x) == Numbers{0, 0, 1, 1});
  CHECK(unary("IsInf", x, {integer("detect_negative", 0)}) == Numbers{0, 0, 1, 0});
}

TEST_CASE("Logic_AndBits") {
  const auto a = truths({2, 2}, {1, 1, 0, 0});
  const auto b = truths({2}, {1, 0});
  CHECK(OneNode{"And", {a, b}}.numbers() == Numbers{1, 0, 0, 0});
  CHECK(OneNode{"Or", {a, b}}.numbers() == Numbers{1, 1, 1, 0});
  CHECK(OneNode{"Xor", {a, b}}.numbers() == Numbers{0, 1, 1, 0});
  CHECK(OneNode{"Not", {b}}.numbers() == Numbers{0, 1});
  const auto x = tensor<std::uint8_t>({2}, {12, 255});
  const auto y = tensor<std::uint8_t>({2}, {10, 9});
  CHECK(OneNode{"BitwiseAnd", {x, y}}.numbers() == Numbers{8, 9});
  CHECK(OneNode{"BitwiseOr", {x, y}}.numbers() == Numbers{14, 255});
  CHECK(OneNode{"BitwiseXor", {x, y}}.numbers() == Numbers{6, 246});
  CHECK(OneNode{"BitwiseNot", {tensor<std::int16_t>({2}, {0, -5})}}.numbers() == Numbers{-1, 4});
  const auto count = tensor<std::uint8_t>({2}, {2, 9});
  CHECK(OneNode{"BitShift", {x, count}, {text("direction", "LEFT")}}.numbers() == Numbers{48, 0});
  CHECK(OneNode{"BitShift", {x, count}, {text("direction", "RIGHT")}}.numbers() == Numbers{3, 0});
  CHECK(contains(OneNode{"BitShift", {x, y}}.error().message, "attribute direction"));
  const auto signed_x = tensor<std::int8_t>({4}, {-4, 64, -4, 3});
  const auto signed_count = tensor<std::int8_t>({4}, {1, 1, 8, -1});
  CHECK(OneNode{"BitShift", {signed_x, signed_count}, {text("direction", "LEFT")}, 28}.numbers() ==
        Numbers{-8, -128, 0, 0});
  CHECK(OneNode{"BitShift", {signed_x, signed_count}, {text("direction", "RIGHT")}, 28}.numbers() ==
        Numbers{-2, 32, -1, 0});
  CHECK(contains(OneNode{"BitShift", {signed_x, signed_count}, {text("direction", "LEFT")}}.error().message,
                 "input 0 (A)"));
  CHECK(contains(OneNode{"And", {x, y}}.error().message, "input 0 (A): expected bool, got uint8"));
}

TEST_CASE("Where_MovesBitsOfThreeBroadcastInputs") {
  const auto condition = truths({2, 1}, {1, 0});
  CHECK(OneNode{"Where", {condition, floats({2}, {1, 2}), floats({}, {-1})}}.numbers() ==
        Numbers{1, 2, -1, -1});
  CHECK(OneNode{"Where", {condition, longs({5, 6}), longs({7, 8})}}.numbers() == Numbers{5, 6, 7, 8});
  CHECK(contains(OneNode{"Where", {condition, floats({1}, {1}), longs({1})}}.error().message,
                 "input 2 (Y): expected float32 as input 1 (X) has, got int64"));
}

TEST_CASE("Cast_BetweenNumbers") {
  const auto to = [](DType dtype) {
    return std::vector<Attribute>{integer("to", static_cast<std::int64_t>(dtype))};
  };
  const auto x = floats({6}, {-1.9f, 1.9f, 300, nan, -infinity, 0.5f});
  CHECK(OneNode{"Cast", {floats({2}, {-1.9f, 1.9f})}, to(DType::int32)}.numbers() == Numbers{-1, 1});
  CHECK(OneNode{"Cast", {x}, to(DType::uint8)}.numbers() == Numbers{0, 1, 255, 0, 0, 0});
  CHECK(OneNode{"Cast", {x}, to(DType::boolean)}.numbers() == Numbers{1, 1, 1, 1, 1, 1});
  CHECK(OneNode{"Cast", {tensor<std::int16_t>({2}, {200, -1})}, to(DType::int8)}.numbers() ==
        Numbers{-56, -1});
  CHECK(OneNode{"Cast", {tensor<std::int32_t>({2}, {0, 7})}, to(DType::boolean)}.numbers() == Numbers{0, 1});
  CHECK(OneNode{"Cast", {truths({2}, {0, 1})}, to(DType::float32)}.numbers() == Numbers{0, 1});
  // 2²⁴ + 1 is not a float32, 1 + 2⁻¹¹ lies between two float16.
  CHECK(OneNode{"Cast", {longs({16777217})}, to(DType::float32)}.numbers() == Numbers{16777216});
  CHECK(OneNode{"Cast", {floats({2}, {1.00048828125f, 70000})}, to(DType::float16)}.numbers() ==
        Numbers{1, std::numeric_limits<double>::infinity()});
  CHECK(OneNode{"Cast", {of_type(DType::bfloat16, {1}, {0x3fc0})}, to(DType::float64)}.numbers() ==
        Numbers{1.5});
  CHECK(OneNode{"Cast", {tensor<double>({1}, {0.1})}, to(DType::float32)}.numbers() ==
        Numbers{static_cast<double>(0.1f)});
}

TEST_CASE("Cast_FourBitIntegers_TwoToAByte") {
  const auto to = [](DType dtype) {
    return std::vector<Attribute>{integer("to", static_cast<std::int64_t>(dtype))};
  };
  const auto packed = OneNode{"Cast", {floats({3}, {-8.7f, 3.9f, 100})}, to(DType::int4)}.run();
  REQUIRE(packed[0].bytes().size() == 2);
  CHECK(packed[0].bytes()[0] == std::byte(0x38));
  CHECK(packed[0].bytes()[1] == std::byte(0x04));  // the low bits of 100
  CHECK(OneNode{"Cast", {packed[0]}, to(DType::int32)}.numbers() == Numbers{-8, 3, 4});
  const auto bytes = OneNode{"Cast", {tensor<std::int32_t>({2}, {17, -1})}, to(DType::uint4)}.run();
  CHECK(bytes[0].bytes()[0] == std::byte(0xf1));
  CHECK(OneNode{"Cast", {bytes[0]}, to(DType::float32)}.numbers() == Numbers{1, 15});
}

TEST_CASE("Cast_WhatIsNotSupported_IsSaid") {
  const auto x = floats({1}, {1});
  const Error six = OneNode{"Cast", {x}, {integer("to", 27)}}.error();
  CHECK(six.kind == ErrorKind::unsupported);
  CHECK(contains(six.message, "float of 6 bits"));
  CHECK(OneNode{"Cast", {x}, {integer("to", 8)}}.error().kind == ErrorKind::unsupported);
  CHECK(contains(OneNode{"Cast", {x}, {integer("to", -3)}}.error().message, "is not an element type"));
  CHECK(contains(OneNode{"Cast", {x}}.error().message, "attribute to: is missing"));
}

TEST_CASE("Cast_InputWithError_TruncationJumpsOnlyAtWholeNumbers") {
  const auto cast = with_error(
      OneNode{
          "Cast", {floats({3}, {1.5f, 2, 3e9f})}, {integer("to", static_cast<std::int64_t>(DType::int32))}},
      1e-4);
  REQUIRE(cast.real.size() == 3);
  CHECK(cast.real[0].worst == 0.0);
  CHECK(cast.real[1].worst == 1.0);
  CHECK(std::isinf(cast.real[2].worst));
}

TEST_CASE("Float16_IsComputedAndStoredInItsOwnPrecision") {
  const auto x = of_type(DType::float16, {2}, {narrow(float16_format, 1.0), narrow(float16_format, -2.5)});
  const auto y = OneNode{"Exp", {x}}.run();
  CHECK(y[0].dtype() == DType::float16);
  CHECK(as_doubles(y[0])[0] == widen(float16_format, narrow(float16_format, std::exp(1.0))));
}

TEST_CASE("Hardmax_FirstLargestElement") {
  CHECK(unary("Hardmax", {1, 3, 3, 2}) == Numbers{0, 1, 0, 0});
  const auto x = floats({1, 2, 2}, {0, 1, 2, 0});
  CHECK(OneNode{"Hardmax", {x}, {}, 11}.numbers() == Numbers{0, 0, 1, 0});
  CHECK(OneNode{"Hardmax", {x}, {}, 13}.numbers() == Numbers{0, 1, 1, 0});
}

TEST_CASE("LogSoftmax_LargeNumbersDoNotOverflow") {
  near(unary("LogSoftmax", {1000, 1001}), {-1.3132616875182228, -0.3132616875182228});
  const auto x = floats({1, 2, 2}, {0, 0, 0, 0});
  near(OneNode{"LogSoftmax", {x}, {}, 11}.numbers(), Numbers(4, -std::log(4.0)));
  near(OneNode{"LogSoftmax", {x}, {}, 13}.numbers(), Numbers(4, -std::log(2.0)));
}

}  // namespace driftscope::test::elementwise_test
