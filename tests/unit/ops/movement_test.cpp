// Operators that move elements and compute nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::movement_test {
namespace {

using Numbers = std::vector<double>;

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return floats(shape, values);
}

OneNode reshape(const Tensor& x, const std::vector<std::int64_t>& shape, std::int64_t allow_zero = 0) {
  return {"Reshape", {x, longs(shape)}, {integer("allowzero", allow_zero)}, 14};
}

OneNode pad(const Tensor& x, const std::vector<std::int64_t>& pads, const char* mode) {
  return {"Pad", {x, longs(pads)}, {text("mode", mode)}, 19};
}

}  // namespace

TEST_CASE("Reshape_ZeroCopiesAndMinusOneTakesTheRest") {
  const auto x = counting({2, 3, 4});
  CHECK(reshape(x, {0, -1}).shape() == Shape{2, 12});
  CHECK(reshape(x, {-1}).shape() == Shape{24});
  CHECK(reshape(x, {4, 0, 2}).shape() == Shape{4, 3, 2});
  CHECK(reshape(floats({1}, {5}), {}).shape() == Shape{});
  CHECK(reshape(floats({0, 3}, {}), {0, 7}, 1).shape() == Shape{0, 7});
  CHECK(reshape(floats({0, 3}, {}), {-1, 3}).shape() == Shape{0, 3});
  CHECK(contains(reshape(x, {5, -1}).error().message, "24 elements"));
  CHECK(contains(reshape(x, {5, 5}).error().message, "5x5 has 25 elements"));
  CHECK(contains(reshape(x, {-1, -1}).error().message, "more than one −1"));
  CHECK(contains(reshape(x, {24, -2}).error().message, "below −1"));
  CHECK(contains(reshape(x, {24, 1, 1, 0}).error().message, "copies a dimension"));
  CHECK(contains(reshape(floats({0, 3}, {}), {0, -1}, 1).error().message, "exclude each other"));
  CHECK(contains(reshape(x, {std::int64_t{1} << 62, 4}).error().message, "64 bits"));
}

TEST_CASE("Reshape_SymbolicBatch_StaysSymbolic") {
  const auto model = [](const std::vector<std::int64_t>& shape) {
    ModelBuilder builder;
    builder.input("x", DType::float32, {"N", 16, 5, 5}).initializer("s", longs(shape));
    return builder.node("Reshape", {"x", "s"}, {"y"}).output("y");
  };
  CHECK(inferred_shape(model({-1, 400}), "y") == "Nx400");
  CHECK(inferred_shape(model({0, -1}), "y") == "Nx400");
  CHECK(inferred_shape(model({0, 20, -1}), "y") == "Nx20x20");
  CHECK(inferred_shape(model({-1, 200}), "y") == "?x200");
  ModelBuilder open;
  open.input("x", DType::float32, {"N", 4}).input("s", DType::int64, {3});
  open.node("Reshape", {"x", "s"}, {"y"}).output("y");
  CHECK(inferred_shape(open, "y") == "?x?x?");
}

TEST_CASE("Flatten_AxisSplitsTheShape") {
  const auto x = counting({2, 3, 4});
  CHECK(OneNode{"Flatten", {x}}.shape() == Shape{2, 12});
  CHECK(OneNode{"Flatten", {x}, {integer("axis", 0)}}.shape() == Shape{1, 24});
  CHECK(OneNode{"Flatten", {x}, {integer("axis", 3)}}.shape() == Shape{24, 1});
  CHECK(OneNode{"Flatten", {x}, {integer("axis", -1)}}.shape() == Shape{6, 4});
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", 16, 5, 5}).node("Flatten", {"x"}, {"y"}).output("y");
  CHECK(inferred_shape(builder, "y") == "Nx400");
}

TEST_CASE("Transpose_DefaultReverses") {
  const auto x = counting({2, 3});
  CHECK(OneNode{"Transpose", {x}}.numbers() == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(OneNode{"Transpose", {counting({2, 3, 4})}, {ints("perm", {1, 2, 0})}}.shape() == Shape{3, 4, 2});
  CHECK(contains(OneNode{"Transpose", {x}, {ints("perm", {0, 0})}}.error().message,
                 "[0,0] is not a permutation"));
}

TEST_CASE("Movement_AnyElementType_KeepsTheBits") {
  for (const DType dtype : {DType::boolean, DType::uint16, DType::int64, DType::complex64, DType::complex128,
                            DType::uint4, DType::int4}) {
    INFO(dtype_name(dtype));
    const auto size = static_cast<std::size_t>((6 * bits_per_element(dtype) + 7) / 8);
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = dtype == DType::boolean ? std::byte(i % 2) : std::byte(i * 37 + 1);
    const auto x = Tensor::from_bytes(dtype, {2, 3}, bytes);
    REQUIRE(x.ok());
    const Tensor once = OneNode{"Transpose", {*x}}.run()[0];
    CHECK(once.shape() == Shape{3, 2});
    const Tensor twice = OneNode{"Transpose", {once}}.run()[0];
    CHECK(std::ranges::equal(twice.bytes(), x->bytes()));
    CHECK(!std::ranges::equal(once.bytes(), x->bytes()));
    CHECK(std::ranges::equal(OneNode{"Identity", {*x}}.run()[0].bytes(), x->bytes()));
  }
  // The payload of a NaN is moved, not regenerated.
  const auto odd =
      Tensor::from_bytes(DType::float32, {1}, std::as_bytes(std::span<const std::uint32_t>({0x7fc12345u})));
  REQUIRE(odd.ok());
  CHECK(std::ranges::equal(OneNode{"Identity", {*odd}}.run()[0].bytes(), odd->bytes()));
}

TEST_CASE("Concat_JoinsAlongTheAxis") {
  const auto a = counting({2, 1});
  const auto b = counting({2, 2});
  CHECK(OneNode{"Concat", {a, b}, {integer("axis", -1)}}.numbers() == Numbers{0, 0, 1, 1, 2, 3});
  CHECK(OneNode{"Concat", {a, floats({2, 0}, {}), a}, {integer("axis", 1)}}.shape() == Shape{2, 2});
  CHECK(contains(OneNode{"Concat", {a, b}, {integer("axis", 0)}}.error().message,
                 "input 1: expected 1 on axis 1 as the inputs before it have, got shape 2x2"));
  CHECK(contains(OneNode{"Concat", {a, b}}.error().message, "attribute axis"));
  ModelBuilder builder;
  builder.input("a", DType::float32, {"N", 3}).input("b", DType::float32, {"?", 4});
  builder.node("Concat", {"a", "b"}, {"y"}, {integer("axis", 1)}).output("y");
  CHECK(inferred_shape(builder, "y") == "Nx7");
}

TEST_CASE("Pad_EveryMode_InBothOpsetForms") {
  const auto x = counting({1, 3});
  CHECK(pad(x, {0, 1, 0, 2}, "constant").numbers() == Numbers{0, 0, 1, 2, 0, 0});
  CHECK(pad(x, {0, 2, 0, 2}, "reflect").numbers() == Numbers{2, 1, 0, 1, 2, 1, 0});
  CHECK(pad(x, {0, 1, 0, 2}, "edge").numbers() == Numbers{0, 0, 1, 2, 2, 2});
  CHECK(pad(x, {0, 1, 0, 2}, "wrap").numbers() == Numbers{2, 0, 1, 2, 0, 1});
  CHECK(OneNode{"Pad", {x}, {ints("pads", {0, 1, 0, 0}), real("value", 7)}, 7}.numbers() ==
        Numbers{7, 0, 1, 2});
  // From opset 11 on the attribute means nothing: an input took its place.
  CHECK(OneNode{"Pad", {x, longs({0, 1, 0, 0})}, {real("value", 7)}, 13}.numbers() ==
        OneNode{"Pad", {x, longs({0, 1, 0, 0})}, {}, 13}.numbers());
  CHECK(OneNode{"Pad", {x, longs({1, 0}), floats({}, {9}), longs({-1})}, {}, 18}.numbers() ==
        Numbers{9, 0, 1, 2});
  CHECK(OneNode{"Pad", {tensor<std::int64_t>({1}, {4}), longs({1, 0}), tensor<std::int64_t>({}, {-1})}}
            .numbers() == Numbers{-1, 4});
}

TEST_CASE("Pad_NegativePads_Crop") {
  const auto x = counting({2, 3});
  CHECK(pad(x, {-1, 0, 0, -1}, "constant").numbers() == Numbers{3, 4});
  CHECK(pad(counting({4}), {-1, 2}, "reflect").numbers() == Numbers{1, 2, 3, 2, 1});
  CHECK(pad(counting({4}), {-2, -2}, "constant").shape() == Shape{0});
  CHECK(contains(pad(x, {0, -2, 0, -2}, "constant").error().message,
                 "pads: -2 and -2 remove more than the 3 elements of axis 1"));
  CHECK(contains(pad(counting({2}), {-2, 1}, "edge").error().message, "no elements to repeat"));
  CHECK(contains(pad(x, {0, 1}, "constant").error().message, "expected 4 numbers"));
  CHECK(contains(OneNode{"Pad", {x, longs({0, 0, 0, 0})}, {text("mode", "wrap")}, 18}.error().message,
                 "got 'wrap'"));
  CHECK(contains(pad(x, {0, std::int64_t{1} << 62, 0, 0}, "constant").error().message, "2^40"));
}

TEST_CASE("Dropout_Inference_KeepsEverything") {
  const auto x = floats({2}, {1, -2});
  for (const std::int64_t opset : {7, 10, 13}) {
    const auto out = OneNode{"Dropout", {x}, {}, opset, 2}.run();
    CHECK(as_doubles(out[0]) == Numbers{1, -2});
    CHECK(as_doubles(out[1]) == Numbers{1, 1});
    CHECK(out[1].dtype() == (opset < 10 ? DType::float32 : DType::boolean));
  }
  const auto yes = tensor<std::uint8_t>({}, {1});
  const auto flag = Tensor::from_bytes(DType::boolean, {}, yes.bytes());
  REQUIRE(flag.ok());
  CHECK(OneNode{"Dropout", {x, floats({}, {0}), *flag}}.numbers() == Numbers{1, -2});
  CHECK(OneNode{"Dropout", {x, floats({}, {0.5f}), *flag}}.error().kind == ErrorKind::unsupported);
  CHECK(OneNode{"Dropout", {x, std::nullopt, *flag}}.error().kind == ErrorKind::unsupported);
}

TEST_CASE("Constant_EveryFormOfTheValue") {
  CHECK(OneNode{"Constant", {}, {real("value_float", 2.5f)}}.numbers() == Numbers{2.5});
  CHECK(OneNode{"Constant", {}, {reals("value_floats", {1, 2})}}.shape() == Shape{2});
  CHECK(OneNode{"Constant", {}, {integer("value_int", -3)}}.numbers() == Numbers{-3});
  CHECK(OneNode{"Constant", {}, {ints("value_ints", {4, 5})}}.numbers() == Numbers{4, 5});
  CHECK(OneNode{"Constant", {}, {tensor_attribute("value", counting({2, 2}))}}.shape() == Shape{2, 2});
  CHECK(OneNode{"Constant", {}, {text("value_string", "a")}}.error().kind == ErrorKind::unsupported);
  CHECK(contains(OneNode{"Constant", {}, {integer("value_int", 1), real("value_float", 1)}}.error().message,
                 "exclude each other"));
}

}  // namespace driftscope::test::movement_test
