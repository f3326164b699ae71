// TopK, Unique, NonZero, Compress, OneHot, EyeLike, Trilu, ReverseSequence, DepthToSpace and
// SpaceToDepth, CenterCropPad, Col2Im, Einsum.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::selection_test {
namespace {

using Numbers = std::vector<double>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0f);
  return floats(shape, values);
}

Tensor flags(const std::vector<std::uint8_t>& values) {
  const auto made = Tensor::from_bytes(DType::boolean, {static_cast<std::int64_t>(values.size())},
                                       std::as_bytes(std::span(values)));
  REQUIRE(made.ok());
  return *made;
}

OneNode einsum(const char* equation, const Given& inputs) {
  return {"Einsum", inputs, {text("equation", equation)}};
}

}  // namespace

TEST_CASE("TopK_TiesTakeTheLowerIndex_InEveryOpset") {
  const auto x = floats({2, 4}, {1, 3, 3, 2, -1, -1, 0, -2});
  auto out = OneNode{"TopK", {x, longs({2})}, {}, 11, 2}.run();
  CHECK(as_doubles(out[0]) == Numbers{3, 3, 0, -1});
  CHECK(as_doubles(out[1]) == Numbers{1, 2, 2, 0});
  out = OneNode{"TopK", {x, longs({3})}, {integer("largest", 0)}, 21, 2}.run();
  CHECK(as_doubles(out[1]) == Numbers{0, 3, 1, 3, 0, 1});
  out = OneNode{"TopK", {x}, {integer("k", 1), integer("axis", 0)}, 7, 2}.run();
  CHECK(as_doubles(out[0]) == Numbers{1, 3, 3, 2});
  out = OneNode{"TopK", {tensor<std::int64_t>({3}, {5, 9, 7}), longs({0})}, {}, 11, 2}.run();
  CHECK(out[0].shape() == Shape{0});
  const auto values = OneNode{"TopK", {floats({3}, {1, nan, 2}), longs({2})}, {}, 11, 2}.run();
  CHECK(as_doubles(values[1]) == Numbers{1, 2});
  CHECK(contains(OneNode{"TopK", {x, longs({5})}, {}, 11, 2}.error().message, "got 5"));
  CHECK(contains(OneNode{"TopK", {x, longs({-1})}, {}, 11, 2}.error().message, "got -1"));
}

TEST_CASE("Unique_SortedOrAsTheyCome_WithAllOutputs") {
  const auto x = floats({6}, {2, 1, 1, 3, 4, 3});
  auto out = OneNode{"Unique", {x}, {}, 11, 4}.run();
  CHECK(as_doubles(out[0]) == Numbers{1, 2, 3, 4});
  CHECK(as_doubles(out[1]) == Numbers{1, 0, 3, 4});
  CHECK(as_doubles(out[2]) == Numbers{1, 0, 0, 2, 3, 2});
  CHECK(as_doubles(out[3]) == Numbers{2, 1, 2, 1});
  out = OneNode{"Unique", {x}, {integer("sorted", 0)}, 11, 4}.run();
  CHECK(as_doubles(out[0]) == Numbers{2, 1, 3, 4});
  CHECK(as_doubles(out[2]) == Numbers{0, 1, 1, 2, 3, 2});
  const auto rows = floats({3, 2}, {1, 0, 1, 0, 0, 5});
  out = OneNode{"Unique", {rows}, {integer("axis", 0)}, 11, 1}.run();
  CHECK(out[0].shape() == Shape{2, 2});
  CHECK(as_doubles(out[0]) == Numbers{0, 5, 1, 0});
  CHECK(OneNode{"Unique", {floats({0}, {})}, {}, 11, 1}.shape() == Shape{0});
}

TEST_CASE("NonZero_CoordinatesOfWhatIsThere") {
  CHECK(OneNode{"NonZero", {floats({2, 2}, {1, 0, -0.0f, nan})}}.numbers() == Numbers{0, 1, 0, 1});
  CHECK(OneNode{"NonZero", {floats({2}, {0, 0})}}.shape() == Shape{1, 0});
  CHECK(OneNode{"NonZero", {floats({}, {1})}}.shape() == Shape{0, 1});
  CHECK(OneNode{"NonZero", {flags({0, 1, 1})}}.numbers() == Numbers{1, 2});
}

TEST_CASE("Compress_AlongAnAxisOrFlattened") {
  const auto x = counting({3, 2});
  CHECK(OneNode{"Compress", {x, flags({0, 1, 1})}, {integer("axis", 0)}}.numbers() == Numbers{2, 3, 4, 5});
  CHECK(OneNode{"Compress", {x, flags({0, 1})}, {integer("axis", -1)}}.numbers() == Numbers{1, 3, 5});
  CHECK(OneNode{"Compress", {x, flags({1, 0, 0, 1})}}.numbers() == Numbers{0, 3});
  CHECK(OneNode{"Compress",
                {
                    x,
                    flags({0, 0, 1, 1, 1, 1}),
                },
                {integer("axis", 1)}}
            .shape() == Shape{3, 0});
  CHECK(contains(OneNode{"Compress", {x, longs({1})}}.error().message, "expected bool"));
}

TEST_CASE("OneHot_NegativeIndicesAndOnesBeyondTheDepth") {
  const auto values = floats({2}, {-1, 1});
  CHECK(OneNode{"OneHot", {longs({0, -1, 3}), longs({3}), values}}.numbers() ==
        Numbers{1, -1, -1, -1, -1, 1, -1, -1, -1});
  CHECK(OneNode{"OneHot", {floats({2}, {1, 0}), floats({}, {2}), values}, {integer("axis", 0)}}.numbers() ==
        Numbers{-1, 1, 1, -1});
  CHECK(contains(OneNode{"OneHot", {longs({0}), longs({-2}), values}}.error().message, "got -2"));
  CHECK(contains(OneNode{"OneHot", {longs({0}), longs({2}), floats({1}, {0})}}.error().message,
                 "two elements"));
}

TEST_CASE("EyeLikeAndTrilu_Diagonals") {
  const auto x = counting({2, 3});
  CHECK(OneNode{"EyeLike", {x}, {integer("k", 1)}}.numbers() == Numbers{0, 1, 0, 0, 0, 1});
  CHECK(OneNode{"EyeLike", {x}, {integer("k", -9), integer("dtype", 6)}}.numbers() == Numbers(6, 0));
  CHECK(OneNode{"EyeLike", {x}, {integer("dtype", 8)}}.error().kind == ErrorKind::bad_input);
  const auto square = floats({2, 2}, {1, 2, 3, 4});
  CHECK(OneNode{"Trilu", {square}}.numbers() == Numbers{1, 2, 0, 4});
  CHECK(OneNode{"Trilu", {square}, {integer("upper", 0)}}.numbers() == Numbers{1, 0, 3, 4});
  CHECK(OneNode{"Trilu", {square, tensor<std::int64_t>({}, {1})}}.numbers() == Numbers{0, 2, 0, 0});
  CHECK(OneNode{"Trilu", {square, tensor<std::int64_t>({}, {std::numeric_limits<std::int64_t>::min()})}}
            .numbers() == Numbers{1, 2, 3, 4});
}

TEST_CASE("ReverseSequence_EachEntryByItsLength") {
  const auto x = counting({3, 2});  // time, batch
  CHECK(OneNode{"ReverseSequence", {x, longs({3, 1})}}.numbers() == Numbers{4, 1, 2, 3, 0, 5});
  CHECK(OneNode{"ReverseSequence",
                {counting({2, 3}), longs({2, 3})},
                {integer("batch_axis", 0), integer("time_axis", 1)}}
            .numbers() == Numbers{1, 0, 2, 5, 4, 3});
  CHECK(contains(OneNode{"ReverseSequence", {x, longs({4, 1})}}.error().message, "length 4"));
  CHECK(contains(OneNode{"ReverseSequence", {x, longs({1})}}.error().message, "2 entries"));
  CHECK(contains(OneNode{"ReverseSequence", {x, longs({1, 1})}, {integer("batch_axis", 0)}}.error().message,
                 "got 0 and 0"));
}

TEST_CASE("DepthToSpace_BothModes_AndBack") {
  const auto x = counting({1, 4, 1, 2});
  CHECK(OneNode{"DepthToSpace", {x}, {integer("blocksize", 2)}}.numbers() == Numbers{0, 2, 1, 3, 4, 6, 5, 7});
  const auto deep = counting({1, 8, 1, 1});
  CHECK(OneNode{"DepthToSpace", {deep}, {integer("blocksize", 2), text("mode", "CRD")}}.numbers() ==
        Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(OneNode{"DepthToSpace", {deep}, {integer("blocksize", 2)}}.numbers() ==
        Numbers{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(OneNode{"SpaceToDepth", {counting({1, 1, 2, 4})}, {integer("blocksize", 2)}}.numbers() ==
        Numbers{0, 2, 1, 3, 4, 6, 5, 7});
  const auto channels = counting({1, 2, 2, 2});
  CHECK(OneNode{"SpaceToDepth", {channels}, {integer("blocksize", 2), text("mode", "CRD")}, 28}.numbers() ==
        Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(OneNode{"SpaceToDepth", {channels}, {integer("blocksize", 2)}, 28}.numbers() ==
        Numbers{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(contains(OneNode{"DepthToSpace", {x}, {integer("blocksize", 3)}}.error().message,
                 "axis 1 has the size 4, not a multiple of 9"));
  CHECK(contains(OneNode{"DepthToSpace", {x}}.error().message, "blocksize"));
}

TEST_CASE("CenterCropPad_SmallerHalfFirst") {
  CHECK(OneNode{"CenterCropPad", {counting({4}), longs({1})}}.numbers() == Numbers{1});
  CHECK(OneNode{"CenterCropPad", {counting({2}), longs({5})}}.numbers() == Numbers{0, 0, 1, 0, 0});
  CHECK(OneNode{"CenterCropPad",
                {
                    floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                    longs({4}),
                },
                {ints("axes", {-2})}}
            .numbers() == Numbers{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0});
  CHECK(OneNode{"CenterCropPad", {floats({2, 3}, {1, 2, 3, 4, 5, 6}), longs({3, 1})}}.numbers() ==
        Numbers{2, 5, 0});
  CHECK(contains(OneNode{"CenterCropPad", {counting({2}), longs({-1})}}.error().message, "got -1"));
}

TEST_CASE("Col2Im_OverlapsAdd") {
  // Two blocks of 2 on a line of 3, the middle is in both.
  const OneNode line{"Col2Im", {floats({1, 2, 2}, {1, 2, 10, 20}), longs({3}), longs({2})}};
  CHECK(line.numbers() == Numbers{1, 12, 20});
  const OneNode padded{
      "Col2Im", {counting({1, 4, 4}), longs({2, 2}), longs({2, 2})}, {ints("pads", {1, 1, 0, 0})}};
  CHECK(padded.numbers() == Numbers{30, 20, 25, 15});
  CHECK(contains(OneNode{"Col2Im", {counting({1, 3, 2}), longs({3}), longs({2})}}.error().message,
                 "not a multiple of the 2 elements"));
  CHECK(contains(OneNode{"Col2Im", {counting({1, 2, 3}), longs({3}), longs({2})}}.error().message, "make 2"));
}

TEST_CASE("Einsum_EveryFormOfEquation") {
  const auto a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto b = floats({3, 2}, {1, 0, 0, 1, 1, 1});
  CHECK(einsum("ij,jk->ik", {a, b}).numbers() == Numbers{4, 5, 10, 11});
  CHECK(einsum("ij , jk", {a, b}).numbers() == Numbers{4, 5, 10, 11});
  CHECK(einsum("ij->ji", {a}).numbers() == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(einsum("ij->", {a}).numbers() == Numbers{21});
  CHECK(einsum("ba", {a}).numbers() == Numbers{1, 4, 2, 5, 3, 6});
  const auto square = floats({2, 2}, {1, 2, 3, 4});
  CHECK(einsum("ii->i", {square}).numbers() == Numbers{1, 4});
  CHECK(einsum("ii", {square}).numbers() == Numbers{5});
  CHECK(einsum("i,j,k->ijk", {floats({2}, {1, 2}), floats({1}, {3}), floats({2}, {5, 7})}).numbers() ==
        Numbers{15, 21, 30, 42});
  CHECK(einsum("...ij,...jk->...ik", {floats({2, 1, 1}, {2, 3}), floats({1, 2}, {1, 10})}).numbers() ==
        Numbers{2, 20, 3, 30});
  CHECK(einsum("...i", {a}).numbers() == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(einsum("aB,Bc->ca", {tensor<std::int32_t>({1, 2}, {3, 4}), tensor<std::int32_t>({2, 1}, {5, 6})})
            .numbers() == Numbers{39});
  CHECK(einsum("ij->j", {floats({0, 2}, {})}).numbers() == Numbers{0, 0});
}

TEST_CASE("Einsum_WrongEquations_SayWhy") {
  const auto a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto why = [&](const char* equation) { return einsum(equation, {a}).error().message; };
  CHECK(contains(why("i->i"), "1 labels for input 0 of shape 2x3"));
  CHECK(contains(why("ij,jk->ik"), "2 operands for 1 inputs"));
  CHECK(contains(why("ij->ik"), "label k of the output is in no operand"));
  CHECK(contains(why("ij->ii"), "in the output twice"));
  CHECK(contains(why("ii->i"), "axes of 2 and of 3 elements"));
  CHECK(contains(why("i1"), "unexpected character"));
  CHECK(contains(why("i..j"), "unexpected character"));
}

}  // namespace driftscope::test::selection_test
