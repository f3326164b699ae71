// Slice, Split, Squeeze, Expand, Tile, Gather, Shape, ConstantOfShape, Range.
#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::indexing_test {
namespace {

using Numbers = std::vector<double>;
constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t near = std::numeric_limits<std::int64_t>::min();

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0f);
  return floats(shape, values);
}

OneNode slice(const Tensor& x, const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
              const std::vector<std::int64_t>& axes, const std::vector<std::int64_t>& steps) {
  return {"Slice", {x, longs(starts), longs(ends), longs(axes), longs(steps)}};
}

Tensor long_scalar(std::int64_t x) { return tensor<std::int64_t>({}, {x}); }

}  // namespace

TEST_CASE("Slice_NegativeLimitsAndSteps_CountFromTheEnd") {
  const auto x = counting({5});
  CHECK(slice(x, {-2}, {far}, {0}, {1}).numbers() == Numbers{3, 4});
  CHECK(slice(x, {-1}, {near}, {-1}, {-1}).numbers() == Numbers{4, 3, 2, 1, 0});
  CHECK(slice(x, {far}, {0}, {0}, {-2}).numbers() == Numbers{4, 2});
  CHECK(slice(x, {0}, {far}, {0}, {far}).numbers() == Numbers{0});
  CHECK(slice(x, {4}, {near}, {0}, {near}).numbers() == Numbers{4});
  CHECK(slice(x, {3}, {1}, {0}, {1}).shape() == Shape{0});
  CHECK(slice(floats({0, 2}, {}), {0}, {9}, {0}, {-1}).shape() == Shape{0, 2});
  CHECK(slice(counting({2, 3, 4}), {1, 0}, {2, 4}, {1, 2}, {1, 3}).numbers() == Numbers{4, 7, 16, 19});
  CHECK(slice(counting({2, 3}), {2, 1}, {near, near}, {1, 0}, {-2, -1}).numbers() == Numbers{5, 3, 2, 0});
}

TEST_CASE("Slice_AttributesBeforeOpset10_AndTheirErrors") {
  const auto x = counting({2, 3});
  CHECK(OneNode{"Slice", {x}, {ints("starts", {1}), ints("ends", {3}), ints("axes", {1})}, 9}.numbers() ==
        Numbers{1, 2, 4, 5});
  CHECK(OneNode{"Slice", {x}, {ints("starts", {1}), ints("ends", {3})}, 7}.numbers() == Numbers{3, 4, 5});
  CHECK(contains(slice(x, {0}, {1}, {0}, {0}).error().message, "the step of axis 0 is 0"));
  CHECK(contains(slice(x, {0}, {1}, {2}, {1}).error().message, "axis 2 is outside [-2, 1]"));
  CHECK(contains(slice(x, {0, 0}, {1, 1}, {0, -2}, {1, 1}).error().message, "axis 0 twice"));
  CHECK(contains(slice(x, {0}, {1, 2}, {0}, {1}).error().message, "ends: expected 1 numbers"));
  CHECK(contains(OneNode{"Slice", {x}}.error().message, "required"));
  CHECK(contains(OneNode{"Slice", {x, x, x}}.error().message, "expected int32 or int64"));
}

TEST_CASE("Slice_WholeAxisOfUnknownSize_KeepsItsSymbol") {
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", "T", 8});
  builder.initializer("s", longs({0, 1})).initializer("e", longs({far, 3}));
  builder.initializer("a", longs({0, 2}));
  builder.node("Slice", {"x", "s", "e", "a"}, {"y"}).output("y");
  CHECK(inferred_shape(builder, "y") == "NxTx2");
}

TEST_CASE("Split_GivenAndEqualParts") {
  const auto x = counting({2, 5});
  auto parts = OneNode{"Split", {x, longs({2, 0, 3})}, {integer("axis", -1)}, 13, 3}.run();
  CHECK(as_doubles(parts[0]) == Numbers{0, 1, 5, 6});
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(as_doubles(parts[2]) == Numbers{2, 3, 4, 7, 8, 9});
  parts = OneNode{"Split", {x}, {integer("axis", 1), integer("num_outputs", 2)}, 18, 2}.run();
  CHECK(parts[0].shape() == Shape{2, 3});
  CHECK(parts[1].shape() == Shape{2, 2});
  parts = OneNode{"Split", {x}, {ints("split", {1, 1})}, 11, 2}.run();
  CHECK(as_doubles(parts[1]) == Numbers{5, 6, 7, 8, 9});
  CHECK(contains(OneNode{"Split", {x}, {integer("axis", 1)}, 13, 2}.error().message,
                 "5 cannot be split into 2 equal parts"));
  CHECK(contains(OneNode{"Split", {x, longs({1, 2})}, {}, 13, 2}.error().message, "adds up to 3"));
  CHECK(contains(OneNode{"Split", {x, longs({-1, 3})}, {}, 13, 2}.error().message, "no valid sizes"));
  CHECK(
      contains(OneNode{"Split", {x}, {integer("num_outputs", 3)}, 18, 2}.error().message, "num_outputs: 3"));
}

TEST_CASE("Squeeze_AxesAsAttributeInputOrNone") {
  const auto x = counting({1, 2, 1, 3});
  CHECK(OneNode{"Squeeze", {x}}.shape() == Shape{2, 3});
  CHECK(OneNode{"Squeeze", {x, longs({-2})}}.shape() == Shape{1, 2, 3});
  CHECK(OneNode{"Squeeze", {x}, {ints("axes", {0})}, 11}.shape() == Shape{2, 1, 3});
  CHECK(contains(OneNode{"Squeeze", {x, longs({1})}}.error().message, "has the size 2"));
  CHECK(contains(OneNode{"Squeeze", {x, longs({4})}}.error().message, "outside [-4, 3]"));
  CHECK(OneNode{"Unsqueeze", {x, longs({0, -1})}}.shape() == Shape{1, 1, 2, 1, 3, 1});
  CHECK(OneNode{"Unsqueeze", {counting({2})}, {ints("axes", {1})}, 9}.shape() == Shape{2, 1});
  CHECK(contains(OneNode{"Unsqueeze", {x, longs({0, 0})}}.error().message, "axis 0 twice"));
  CHECK(contains(OneNode{"Unsqueeze", {x}}.error().message, "required"));
  CHECK(OneNode{"Unsqueeze", {x, longs(std::vector<std::int64_t>(40, 0))}}.error().kind == ErrorKind::limit);
}

TEST_CASE("Expand_BroadcastsBothWays") {
  CHECK(OneNode{"Expand", {counting({2, 1}), longs({2, 1, 3})}}.numbers() ==
        Numbers{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(OneNode{"Expand", {counting({2, 2}), longs({1})}}.shape() == Shape{2, 2});
  CHECK(OneNode{"Expand", {floats({}, {7}), longs({2})}}.numbers() == Numbers{7, 7});
  CHECK(OneNode{"Expand", {counting({1}), longs({0, 4})}}.shape() == Shape{0, 4});
  CHECK(contains(OneNode{"Expand", {counting({2}), longs({3})}}.error().message, "2 against 3"));
  CHECK(contains(OneNode{"Expand", {counting({2}), longs({-1})}}.error().message, "0 or more"));
  CHECK(!OneNode{"Expand", {counting({1}), longs({1ll << 40, 1ll << 40})}}.error().message.empty());
}

TEST_CASE("Tile_RepeatsEveryAxis") {
  CHECK(OneNode{"Tile", {counting({2, 2}), longs({2, 2})}}.numbers() ==
        Numbers{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(OneNode{"Tile", {counting({2}), longs({0})}}.shape() == Shape{0});
  CHECK(contains(OneNode{"Tile", {counting({2}), longs({1, 1})}}.error().message, "got 2"));
  CHECK(contains(OneNode{"Tile", {counting({2}), longs({1ll << 62})}}.error().message, "64 bits"));
}

TEST_CASE("Gather_IndicesOfAnyRank_NegativeFromTheEnd") {
  const auto x = counting({3, 2});
  CHECK(OneNode{"Gather", {x, tensor<std::int64_t>({2, 2}, {0, -1, 1, 1})}}.numbers() ==
        Numbers{0, 1, 4, 5, 2, 3, 2, 3});
  CHECK(OneNode{"Gather", {x, tensor<std::int32_t>({}, {1})}, {integer("axis", -1)}}.numbers() ==
        Numbers{1, 3, 5});
  CHECK(OneNode{"Gather", {x, longs({})}}.shape() == Shape{0, 2});
  CHECK(contains(OneNode{"Gather", {x, longs({3})}}.error().message, "index 3 is outside [-3, 3)"));
  CHECK(contains(OneNode{"Gather", {x, longs({near})}}.error().message, "outside"));
  CHECK(contains(OneNode{"Gather", {floats({}, {1}), longs({0})}}.error().message, "rank"));
}

TEST_CASE("Movement_FourBitElements_AreMovedOneByOne") {
  const std::vector<std::uint8_t> packed = {0x21, 0x43, 0x05};
  const auto x = Tensor::from_bytes(DType::uint4, {5}, std::as_bytes(std::span(packed)));
  REQUIRE(x.ok());
  const Tensor y = slice(*x, {-1}, {near}, {0}, {-2}).run()[0];
  CHECK(y.bytes()[0] == std::byte{0x35});
  CHECK(y.bytes()[1] == std::byte{0x01});
  const Tensor z = OneNode{"Gather", {*x, longs({4, 1, 1})}}.run()[0];
  CHECK(z.bytes()[0] == std::byte{0x25});
  CHECK(z.bytes()[1] == std::byte{0x02});
}

TEST_CASE("Shape_StartAndEndAreClamped") {
  const auto x = counting({2, 3, 4});
  CHECK(OneNode{"Shape", {x}}.numbers() == Numbers{2, 3, 4});
  CHECK(OneNode{"Shape", {x}, {integer("start", -2)}}.numbers() == Numbers{3, 4});
  CHECK(OneNode{"Shape", {x}, {integer("start", 1), integer("end", -1)}}.numbers() == Numbers{3});
  CHECK(OneNode{"Shape", {x}, {integer("start", 2), integer("end", 1)}}.shape() == Shape{0});
  CHECK(OneNode{"Shape", {x}, {integer("start", near), integer("end", far)}}.shape() == Shape{3});
  CHECK(OneNode{"Size", {x}}.numbers() == Numbers{24});
  CHECK(OneNode{"Size", {x}}.shape() == Shape{});
}

TEST_CASE("InferShapes_ShapeOfUnknownValue_FoldsWhenItsTypeIsKnown") {
  // x.reshape(x.shape[0], -1) as exporters write it.
  ModelBuilder builder;
  builder.input("x", DType::float32, {4, 3, 5}).node("Relu", {"x"}, {"r"});
  builder.node("Shape", {"r"}, {"s"}).initializer("zero", long_scalar(0));
  builder.node("Gather", {"s", "zero"}, {"n"}).initializer("axes", longs({0}));
  builder.node("Unsqueeze", {"n", "axes"}, {"n1"}).initializer("rest", longs({-1}));
  builder.node("Concat", {"n1", "rest"}, {"to"}, {integer("axis", 0)});
  builder.node("Reshape", {"r", "to"}, {"y"}).output("y");
  CHECK(inferred_shape(builder, "y") == "4x15");
}

TEST_CASE("InferShapes_SymbolsTravelThroughShapeArithmetic") {
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", "T", 6}).node("Shape", {"x"}, {"s"});
  builder.initializer("zero", longs({0})).initializer("one", long_scalar(1));
  builder.node("Gather", {"s", "zero"}, {"n"}).node("Gather", {"s", "one"}, {"t"});
  builder.node("Unsqueeze", {"t", "zero"}, {"t1"}).initializer("rest", longs({2, -1}));
  builder.node("Concat", {"t1", "n", "rest"}, {"to"}, {integer("axis", 0)});
  builder.node("Reshape", {"x", "to"}, {"y"}).node("Expand", {"y1", "s"}, {"e"});
  builder.input("y1", DType::float32, {6}).node("ConstantOfShape", {"s"}, {"c"});
  builder.output("y").output("e").output("c");
  CHECK(inferred_shape(builder, "y") == "TxNx2x?");
  CHECK(inferred_shape(builder, "e") == "NxTx6");
  CHECK(inferred_shape(builder, "c") == "NxTx6");
}

TEST_CASE("ConstantOfShape_FillsAnyType") {
  CHECK(OneNode{"ConstantOfShape", {longs({2})}}.numbers() == Numbers{0, 0});
  const auto fill = [](const Tensor& value) {
    return OneNode{"ConstantOfShape", {longs({3})}, {tensor_attribute("value", value)}};
  };
  CHECK(fill(floats({1}, {2.5f})).numbers() == Numbers{2.5, 2.5, 2.5});
  CHECK(fill(tensor<std::int16_t>({1}, {-3})).numbers() == Numbers{-3, -3, -3});
  CHECK(OneNode{"ConstantOfShape", {longs({})}}.shape() == Shape{});
  CHECK(contains(fill(floats({2}, {1, 2})).error().message, "expected one element"));
  CHECK(contains(OneNode{"ConstantOfShape", {longs({-1})}}.error().message, "0 or more"));
  CHECK(OneNode{"ConstantOfShape", {longs({1ll << 50})}}.error().kind == ErrorKind::limit);
}

TEST_CASE("Range_CountsUpAndDown") {
  const auto whole = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return OneNode{"Range", {long_scalar(a), long_scalar(b), long_scalar(c)}};
  };
  CHECK(whole(1, 7, 3).numbers() == Numbers{1, 4});
  CHECK(whole(5, 0, -2).numbers() == Numbers{5, 3, 1});
  CHECK(whole(5, 9, -1).shape() == Shape{0});
  CHECK(whole(near, near + 1, 1).shape() == Shape{1});
  CHECK(contains(whole(0, 1, 0).error().message, "never reaches"));
  CHECK(contains(whole(near, far, 1).error().message, "more than a tensor can hold"));
  const auto real = [](float a, float b, float c) {
    return OneNode{"Range", {floats({}, {a}), floats({}, {b}), floats({}, {c})}};
  };
  CHECK(real(0, 1, 0.25f).numbers() == Numbers{0, 0.25, 0.5, 0.75});
  CHECK(real(0, 3, 1).bounded()[2].worst == 0);
  CHECK(contains(real(0, 1, 0).error().message, "no finite range"));
  CHECK(contains(real(0, std::numeric_limits<float>::infinity(), 1).error().message, "no finite"));
}

TEST_CASE("Range_Bound_CoversAddingAgainAndAgain") {
  const OneNode node{"Range", {floats({}, {0.1f}), floats({}, {100}), floats({}, {0.1f})}};
  const auto bound = node.bounded();
  float sum = 0.1f;
  for (const Bounded& b : bound) {
    CHECK(std::abs(static_cast<double>(sum) - b.value) <= b.worst);
    sum += 0.1f;
  }
  CHECK(bound[10].worst < 1e-5);
}

}  // namespace driftscope::test::indexing_test
