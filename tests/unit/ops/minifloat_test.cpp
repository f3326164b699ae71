// float8, float4 and two bits in Cast, QuantizeLinear, DequantizeLinear and the operators that move elements;
// BitCast. The numbers themselves: base/minifloat_test.cpp.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/model/tensor_elements.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::minifloat_ops_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Attribute to(DType dtype) { return integer("to", static_cast<std::int64_t>(dtype)); }

Tensor of_bits(DType dtype, Shape shape, const std::vector<int>& bytes) {
  std::vector<std::byte> data;
  for (const int byte : bytes) data.push_back(static_cast<std::byte>(byte));
  const auto made = Tensor::from_bytes(dtype, std::move(shape), data);
  REQUIRE(made.ok());
  return *made;
}

std::vector<int> bits_of(const Tensor& tensor) {
  std::vector<int> bits;
  for (const std::byte byte : tensor.bytes()) bits.push_back(std::to_integer<int>(byte));
  return bits;
}

}  // namespace

TEST_CASE("Cast_ToFloat8_RoundsToEvenAndSaturates") {
  const Tensor x = floats({8}, {1, -0.0F, 17, 19, 464, 1000, infinity, -infinity});
  OneNode node{"Cast", {x}, {to(DType::float8e4m3fn)}};
  // 17 lies between 16 and 18, 19 between 18 and 20.
  CHECK(bits_of(node.run()[0]) == std::vector<int>{0x38, 0x80, 0x58, 0x5a, 0x7e, 0x7e, 0x7e, 0xfe});
  node.attributes.push_back(integer("saturate", 0));
  CHECK(bits_of(node.run()[0]) == std::vector<int>{0x38, 0x80, 0x58, 0x5a, 0x7e, 0x7f, 0x7f, 0xff});
  node.attributes[0] = to(DType::float8e5m2);
  CHECK(bits_of(node.run()[0]) == std::vector<int>{0x3c, 0x80, 0x4c, 0x4d, 0x5f, 0x64, 0x7c, 0xfc});
}

TEST_CASE("Cast_BetweenMinifloatsAndOthers_KeepsWhatBothHold") {
  const Tensor x = of_bits(DType::float8e4m3fn, {4}, {0x38, 0xc4, 0x00, 0x7f});  // 1, -3, 0, NaN
  OneNode node{"Cast", {x}, {to(DType::float32)}};
  const std::vector<double> numbers = node.numbers();
  CHECK(numbers[0] == 1);
  CHECK(numbers[1] == -3);
  CHECK(std::isnan(numbers[3]));
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float64, DType::float8e5m2}) {
    CAPTURE(dtype_name(dtype));
    node.attributes = {to(dtype)};
    const std::vector<double> same = numbers_of(node.run()[0]);
    CHECK(same[1] == -3);
    CHECK(std::isnan(same[3]));
  }
  node.inputs = {of_bits(DType::float8e4m3fn, {3}, {0x38, 0xc4, 0x3c})};  // 1, -3, 1.5
  node.attributes = {to(DType::int8)};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, -3, 1});
  node.attributes = {to(DType::boolean)};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, 1, 1});
  node.attributes = {to(DType::float4e2m1)};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, -3, 1.5});
}

TEST_CASE("Cast_OfIntegers_ToMinifloats_RoundsOnce") {
  const OneNode node{"Cast", {tensor<std::int64_t>({4}, {3, -17, 1 << 30, 0})}, {to(DType::float8e5m2fnuz)}};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{3, -16, 57344, 0});
  const OneNode packed{"Cast", {of_bits(DType::uint2, {4}, {0xe4})}, {to(DType::float4e2m1)}};
  CHECK(numbers_of(packed.run()[0]) == std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("Cast_ToTwoBits_KeepsTheLowest") {
  const OneNode node{"Cast", {tensor<std::int32_t>({5}, {0, 1, 2, 3, -2})}, {to(DType::int2)}};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{0, 1, -2, -1, -2});
  const OneNode back{"Cast", {of_bits(DType::int2, {3}, {0x36})}, {to(DType::int8)}};
  CHECK(numbers_of(back.run()[0]) == std::vector<double>{-2, 1, -1});
}

TEST_CASE("Cast_ToPowersOfTwo_RoundsAsAsked") {
  OneNode node{"Cast", {floats({4}, {1, 1.5F, 3, 5})}, {to(DType::float8e8m0)}, 25};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, 2, 4, 8});
  node.attributes = {to(DType::float8e8m0), text("round_mode", "down")};
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, 1, 2, 4});
  node.attributes[1] = text("round_mode", "nearest");
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{1, 2, 4, 4});
  node.attributes[1] = text("round_mode", "sideways");
  CHECK(contains(node.error().message, "up, down or nearest"));
}

// What a rounding before can move is in the bound: 17 is the middle of 16 and 18.
TEST_CASE("Cast_OfAMovedNumber_MayBeEitherNeighbourOrOverflow") {
  ModelBuilder builder;
  builder.opset(21)
      .input("x", DType::float32, {1})
      .node("Mul", {"x", "x"}, {"y"})
      .node("Cast", {"y"}, {"z"}, {to(DType::float8e4m3fn)})
      .node("Cast", {"y"}, {"w"}, {to(DType::float8e4m3fn), integer("saturate", 0)})
      .output("z")
      .output("w");
  const Graph graph = built(builder);
  const auto reached = [&](float x, std::size_t node) {
    ThreadPool threads(1);
    Evaluated<Bounded> value{DType::float32, {1}, {Bounded(double{x})}, {}};
    const Evaluated<Bounded>* const first[] = {&value, &value};
    const auto product = evaluate<Bounded>(graph.nodes[0], first, threads);
    REQUIRE(product.ok());
    const Evaluated<Bounded>* const second[] = {&(*product)[0]};
    const auto cast = evaluate<Bounded>(graph.nodes[node], second, threads);
    REQUIRE(cast.ok());
    return (*cast)[0].real.empty() ? 0.0 : (*cast)[0].real[0].worst;
  };
  CHECK(reached(std::sqrt(17.0F), 1) == 2);
  CHECK(reached(4, 1) == 0);
  // 464 is the middle of the largest number and what would come next: NaN, unless it saturates.
  CHECK(reached(std::sqrt(464.0F), 1) == 0);
  CHECK(reached(std::sqrt(464.0F), 2) == std::numeric_limits<double>::infinity());
}

TEST_CASE("QuantizeLinear_ToMinifloats_DividesAndRounds") {
  OneNode node{"QuantizeLinear", {floats({5}, {0, 1, 2, 100000, -200}), floats({}, {2})}, {}, 23};
  node.inputs.emplace_back(of_bits(DType::float8e4m3fn, {}, {0}));
  CHECK(numbers_of(node.run()[0]) == std::vector<double>{0, 0.5, 1, 448, -96});  // −100: 96 or 104, to even
  node.inputs.pop_back();
  node.attributes = {integer("output_dtype", 23)};
  const Tensor fours = node.run()[0];
  CHECK(fours.dtype() == DType::float4e2m1);
  CHECK(numbers_of(fours) == std::vector<double>{0, 0.5, 1, 6, -6});
}

TEST_CASE("QuantizeLinear_ToMinifloats_AddsTheZeroPointToMinusZero") {
  OneNode node{"QuantizeLinear", {floats({1}, {-0.0F}), floats({}, {2})}, {integer("output_dtype", 17)}, 23};
  CHECK(bits_of(node.run()[0]) == std::vector<int>{0x80});
  node.inputs.emplace_back(of_bits(DType::float8e4m3fn, {}, {0}));
  CHECK(bits_of(node.run()[0]) == std::vector<int>{0});
}

TEST_CASE("DequantizeLinear_OfMinifloats_MultipliesByBlockAndByPowersOfTwo") {
  const Tensor x = of_bits(DType::float4e2m1, {4}, {0x21, 0xf7});  // 0.5, 1, 6, -6
  OneNode node{
      "DequantizeLinear", {x, floats({2}, {2, 10})}, {integer("axis", 0), integer("block_size", 2)}, 23};
  CHECK(node.numbers() == std::vector<double>{1, 2, 60, -60});
  // Microscaling: the scales are exponents, and the attribute says what comes out.
  node.inputs[1] = of_bits(DType::float8e8m0, {2}, {128, 125});
  node.opset = 25;
  CHECK(contains(node.error().message, "the scale, float8e8m0, is none"));
  node.attributes.push_back(integer("output_dtype", 1));
  CHECK(node.numbers() == std::vector<double>{1, 2, 1.5, -1.5});
  node.attributes.back() = integer("output_dtype", 10);
  CHECK(node.run()[0].dtype() == DType::float16);
}

// The difference to a zero point of 0 is exact.
TEST_CASE("DequantizeLinear_OfMinifloats_RoundsTheProductAlone") {
  const Tensor x = of_bits(DType::float8e5m2, {2}, {0x3a, 0x01});  // 0.75 and 2⁻¹⁶
  const OneNode node{"DequantizeLinear", {x, floats({}, {1})}, {}, 23};
  for (const Bounded& y : node.bounded()) CHECK(y.worst <= 0x1p-24 * std::fabs(y.value) * 1.001);
}

TEST_CASE("Movement_OfPackedElements_KeepsEachOfThem") {
  const Tensor x = of_bits(DType::int2, {2, 3}, {0x24, 0x0e});  // 0 1 -2 / 0 -2 -1... from the lowest bits up
  const std::vector<double> before = numbers_of(x);
  const OneNode turn{"Transpose", {x}, {}};
  const std::vector<double> after = numbers_of(turn.run()[0]);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t c = 0; c < 3; ++c) CHECK(after[c * 2 + r] == before[r * 3 + c]);
  const Tensor y = of_bits(DType::float8e5m2, {3}, {1, 2, 3});
  const OneNode join{"Concat", {y, y}, {integer("axis", 0)}};
  CHECK(bits_of(join.run()[0]) == std::vector<int>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("BitCast_KeepsTheBits") {
  OneNode node{"BitCast", {floats({2}, {1.0F, -0.0F})}, {to(DType::int32)}, 26};
  CHECK(node.run()[0].values<std::int32_t>()[0] == 0x3f800000);
  CHECK(node.run()[0].values<std::int32_t>()[1] == std::numeric_limits<std::int32_t>::min());
  node = {"BitCast", {tensor<std::int32_t>({1}, {0x40490fdb})}, {to(DType::float32)}, 26};
  CHECK(node.run()[0].values<float>()[0] == std::bit_cast<float>(0x40490fdb));
  node.attributes = {to(DType::float16)};
  CHECK(contains(node.error().message, "32 bits as int32 has, got float16"));
}

}  // namespace driftscope::test::minifloat_ops_test
