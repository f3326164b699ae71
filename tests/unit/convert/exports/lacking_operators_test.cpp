// Operators that the formats lack, composed of others: exact results. On the runtimes themselves:
// tests/e2e/tfjs/writers.test.mjs.
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/half.hpp"
#include "tests/unit/convert/exports/through.hpp"

namespace driftscope::test::lacking_operators_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

Tensor truth(bool value) {
  const std::array byte = {value ? std::byte{1} : std::byte{0}};
  return *Tensor::from_bytes(DType::boolean, {1}, byte);
}

Tensor halves(const std::vector<std::uint16_t>& bits) {
  return *Tensor::from_bytes(DType::float16, {static_cast<std::int64_t>(bits.size())},
                             std::as_bytes(std::span(bits)));
}

std::string branch(const char* op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}) {
  return ModelBuilder().node(op, inputs, {"r"}, attributes).output("r").graph_message();
}

/// y = −(c ? then : else) of x [2].
ModelBuilder choice(const std::string& yes, const std::string& no, bool known = false) {
  ModelBuilder model;
  model.opset(17).input("x", DType::float32, {2});
  if (known)
    model.initializer("c", truth(true));
  else
    model.input("c", DType::boolean, {1});
  return model.initializer("i", tensor<std::int64_t>({1}, {1}))
      .node("If", {"c"}, {"b"})
      .graph_attribute("then_branch", yes)
      .graph_attribute("else_branch", no)
      .node("Neg", {"b"}, {"y"})
      .output("y");
}

}  // namespace

TEST_CASE("Export_If_IsTheBranchOrAChoiceBetweenBoth") {
  const NamedInputs x = {{"x", tensor<float>({2}, {3, -4})}};
  const std::string relu = branch("Relu", {"x"});
  const std::string doubled = branch("Add", {"x", "x"});
  expect(choice(relu, doubled, true), x, {-3, 0});
  for (const bool condition : {true, false}) {
    CAPTURE(condition);
    const NamedInputs both = {x[0], {"c", truth(condition)}};
    expect(choice(relu, doubled), both, condition ? Numbers{-3, 0} : Numbers{-6, 8});
  }
}

TEST_CASE("Export_IfOfAKnownCondition_NeedsOnlyThatBranch") {
  // A branch that nothing can express, and one that gives what lies around it.
  const NamedInputs x = {{"x", tensor<float>({2}, {3, -4})}};
  expect(choice(branch("Identity", {"x"}), branch("Det", {"x"}), true), x, {-3, 4});
  const std::string nested = ModelBuilder()
                                 .node("If", {"c"}, {"r"})
                                 .graph_attribute("then_branch", branch("Abs", {"x"}))
                                 .graph_attribute("else_branch", branch("Det", {"x"}))
                                 .output("r")
                                 .graph_message();
  expect(choice(nested, branch("Det", {"x"}), true), x, {-3, -4});
}

TEST_CASE("Export_IfWhoseOtherBranchMayFail_IsRefusedWithThatNode") {
  const NamedInputs inputs = {{"x", tensor<float>({2}, {3, -4})}, {"c", truth(true)}};
  const std::string gathered = ModelBuilder()
                                   .node("Cast", {"x"}, {"n"}, {integer("to", 7)})
                                   .node("Gather", {"x", "n"}, {"r"})
                                   .named("the_gather")
                                   .output("r")
                                   .graph_message();
  expect_refusal(choice(branch("Relu", {"x"}), gathered), inputs,
                 {"If_0 (If", "both branches cannot be computed", "the_gather (Gather"});
  expect_refusal(choice(branch("Relu", {"x"}), branch("Slice", {"x", "i", "i"})), inputs,
                 {"If_0 (If", "output 0 has different shapes in both"});
}

TEST_CASE("Export_SizesOfAValue_AreKnownNumbers") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {2, 3})
      .node("Shape", {"x"}, {"s"}, {integer("start", -1)})
      .node("ConstantOfShape", {"s"}, {"k"}, {tensor_attribute("value", tensor<float>({1}, {0.5f}))})
      .node("Size", {"x"}, {"n"})
      .node("Cast", {"n"}, {"f"}, {integer("to", 1)})
      .node("Add", {"x", "k"}, {"a"})
      .node("Mul", {"a", "f"}, {"y"})
      .output("y");
  expect(model, {{"x", tensor<float>({2, 3}, {0, 1, 2, 3, 4, 5})}}, {3, 9, 15, 21, 27, 33});
}

TEST_CASE("Export_SliceByComputedBounds_TakesWhatItsDeclaredShapeSays") {
  const auto sliced = [](std::int64_t start, std::int64_t step, std::int64_t count) {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::float32, {5})
        .input("start", DType::int64, {1})
        .initializer("length", tensor<std::int64_t>({1}, {step * count}))
        .initializer("axes", tensor<std::int64_t>({1}, {0}))
        .initializer("steps", tensor<std::int64_t>({1}, {step}))
        .node("Add", {"start", "length"}, {"end"})
        .node("Slice", {"x", "start", "end", "axes", "steps"}, {"y"})
        .output("y", DType::float32, {static_cast<int>(count)});
    return std::pair(model, NamedInputs{{"x", tensor<float>({5}, {0, 1, 2, 3, 4})},
                                        {"start", tensor<std::int64_t>({1}, {start})}});
  };
  const auto [forward, at_two] = sliced(2, 1, 2);
  expect(forward, at_two, {2, 3});
  const auto [from_end, at_minus_four] = sliced(-4, 1, 2);
  expect(from_end, at_minus_four, {1, 2});
  const auto [backward, at_four] = sliced(4, -2, 2);
  expect(backward, at_four, {4, 2});
}

TEST_CASE("Export_ProductsOfIntegers_AreExactWhateverTheirLength") {
  constexpr std::int64_t inner = 1031;
  std::vector<std::uint8_t> a(2 * inner, 255);
  std::vector<std::int8_t> b(inner * 2, -128);
  for (std::size_t i = 0; i < a.size(); i += 3) a[i] = static_cast<std::uint8_t>(i % 251);
  for (std::size_t i = 0; i < b.size(); i += 5) b[i] = static_cast<std::int8_t>(i % 127);
  Numbers expected(4, 0.0);  // zero points 3, and 1 and −2
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 2; ++column)
      for (std::size_t k = 0; k < inner; ++k)
        expected[row * 2 + column] +=
            (a[row * inner + k] - 3.0) * (b[k * 2 + column] - (column == 0 ? 1.0 : -2.0));
  for (const bool known : {true, false}) {
    CAPTURE(known);
    ModelBuilder model;
    model.opset(17)
        .input("a", DType::uint8, {2, 1, inner})
        .initializer("az", tensor<std::uint8_t>({}, {3}))
        .initializer("bz", tensor<std::int8_t>({2}, {1, -2}));
    NamedInputs inputs = {{"a", *Tensor::from_values<std::uint8_t>({2, 1, inner}, a)}};
    const Tensor right = *Tensor::from_values<std::int8_t>({inner, 2}, b);
    if (known)
      model.initializer("b", right);
    else {
      model.input("b", DType::int8, {inner, 2});
      inputs.push_back({"b", right});
    }
    model.node("MatMulInteger", {"a", "b", "az", "bz"}, {"y"}).output("y");
    expect(model, inputs, expected);
  }
}

TEST_CASE("Export_ScatterThatAdds_AddsEveryUpdate") {
  ModelBuilder model;
  model.opset(18)
      .input("x", DType::float32, {4})
      .input("i", DType::int64, {3})
      .input("u", DType::float32, {3})
      .node("ScatterElements", {"x", "i", "u"}, {"y"}, {text("reduction", "add")})
      .output("y");
  const NamedInputs inputs = {{"x", tensor<float>({4}, {1, 2, 3, 4})},
                              {"i", tensor<std::int64_t>({3}, {1, -1, 1})},
                              {"u", tensor<float>({3}, {10, 20, 30})}};
  expect(model, inputs, {1, 42, 3, 24});
  ModelBuilder largest;
  largest.opset(18)
      .input("x", DType::float32, {4})
      .input("i", DType::int64, {3})
      .input("u", DType::float32, {3})
      .node("ScatterElements", {"x", "i", "u"}, {"y"}, {text("reduction", "max")})
      .output("y");
  expect_refusal(largest, inputs, {"ScatterElements_0", "the reduction max, only none and add"});
}

TEST_CASE("Export_ScatterThatReplaces_PutsZerosAsWell") {
  ModelBuilder model;
  model.opset(18)
      .input("x", DType::float32, {4})
      .input("i", DType::int64, {2})
      .input("u", DType::float32, {2})
      .node("ScatterElements", {"x", "i", "u"}, {"y"})
      .output("y");
  expect(model,
         {{"x", tensor<float>({4}, {1, 2, 3, 4})},
          {"i", tensor<std::int64_t>({2}, {3, 0})},
          {"u", tensor<float>({2}, {0, -7})}},
         {-7, 2, 3, 0});
}

TEST_CASE("Export_NumbersThatAreNone_AreFound") {
  const auto found = [](const char* op, const std::vector<Attribute>& attributes) {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::float32, {4})
        .node(op, {"x"}, {"t"}, attributes)
        .node("Cast", {"t"}, {"y"}, {integer("to", 6)})
        .output("y");
    return model;
  };
  const NamedInputs x = {{"x", tensor<float>({4}, {std::nanf(""), infinity, -infinity, 1})}};
  expect(found("IsNaN", {}), x, {1, 0, 0, 0});
  expect(found("IsInf", {}), x, {0, 1, 1, 0});
  expect(found("IsInf", {integer("detect_positive", 0)}), x, {0, 0, 1, 0});
  expect(found("IsInf", {integer("detect_positive", 0), integer("detect_negative", 0)}), x, {0, 0, 0, 0});
}

TEST_CASE("Export_IntegersBeyondThirtyTwoBits_AreClampedWhereThatIsTheSame") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  const NamedInputs x = {{"x", tensor<std::int64_t>({3}, {most, least, 5})}};
  const auto compared = [](const char* op, std::int64_t with, bool first) {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::int64, {3})
        .initializer("k", tensor<std::int64_t>({}, {with}))
        .node(op, {first ? "k" : "x", first ? "x" : "k"}, {"t"})
        .node("Cast", {"t"}, {"y"}, {integer("to", 6)})
        .output("y");
    return model;
  };
  const Numbers always = {1, 1, 1}, never = {0, 0, 0};
  for (const bool first : {false, true})
    for (const bool above : {false, true}) {
      CAPTURE(first);
      CAPTURE(above);
      const std::int64_t with = above ? far : -far;
      const bool less = first != above;  // x < k, k < x
      expect(compared("Less", with, first), x, less ? always : never);
      expect(compared("LessOrEqual", with, first), x, less ? always : never);
      expect(compared("Greater", with, first), x, less ? never : always);
      expect(compared("GreaterOrEqual", with, first), x, less ? never : always);
      expect(compared("Equal", with, first), x, never);
    }
  const auto extreme = [](const char* op, std::int64_t with) {
    ModelBuilder model;
    model.opset(17)
        .input("x", DType::int64, {3})
        .initializer("k", tensor<std::int64_t>({2, 1}, {with, 3}))
        .node(op, {"x", "k"}, {"y"})
        .output("y");
    return model;
  };
  const Numbers unchanged = {double{most}, double{least}, 5};
  Numbers floored = unchanged, capped = unchanged;
  floored.insert(floored.end(), {double{most}, 3, 5});
  capped.insert(capped.end(), {3, double{least}, 3});
  expect(extreme("Max", -far), x, floored);
  expect(extreme("Min", far), x, capped);
  ModelBuilder sum;
  sum.opset(17)
      .input("x", DType::int64, {3})
      .initializer("k", tensor<std::int64_t>({}, {far}))
      .node("Add", {"x", "k"}, {"y"})
      .output("y");
  expect_refusal(sum, x, {"Add_0", "9223372036854775807, which does not fit int32"});
}

// Every float16 number, and what lies halfway to the next: 1·x + y rounds as float16 does.
TEST_CASE("Export_Float16_RoundsAsItsOwnArithmetic") {
  constexpr SmallFloat format{10, 5};
  std::vector<std::uint16_t> first, second;
  Numbers expected;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double value = widen(format, static_cast<std::uint16_t>(bits));
    // Half of the distance to the next number, where float16 has it.
    const double half = std::ldexp(1.0, std::max(std::ilogb(std::max(value, 0x1p-14)), -14) - 11);
    for (const double more : {half, 0.0, -value * 3.0}) {
      const std::uint16_t added = narrow(format, more);
      if (!std::isfinite(widen(format, added))) continue;
      for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
        first.push_back(static_cast<std::uint16_t>(bits | sign));
        second.push_back(static_cast<std::uint16_t>(added ^ sign));
        expected.push_back(
            widen(format, narrow(format, widen(format, first.back()) + widen(format, second.back()))));
      }
    }
  }
  ModelBuilder model;
  const auto count = static_cast<int>(first.size());
  model.opset(17)
      .input("a", DType::float16, {count})
      .input("b", DType::float16, {count})
      .node("Add", {"a", "b"}, {"y"})
      .output("y");
  expect(model, {{"a", halves(first)}, {"b", halves(second)}}, expected);
}

TEST_CASE("Export_Float16_SaysWhatItBecame") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float16, {2})
      .initializer("w", halves({0x3c00, 0x4000}))
      .node("Mul", {"x", "w"}, {"y"})
      .output("y");
  for (const convert::Format& format : convert_formats().all()) {
    const auto made = format.convert(inferred(model), {});
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    CHECK(made->facts.at("float16_as").starts_with("float32, rounded"));
    CHECK(made->values.at("x").dtype == DType::float32);
    const auto back =
        convert::from_placed(tensor<float>({2}, {1.5f, -2.0f}), made->values.at("y"), DType::float16);
    REQUIRE_MESSAGE(back.ok(), back.error().message);
    CHECK(back->values<std::uint16_t>()[0] == 0x3e00);
    const auto other =
        convert::from_placed(tensor<float>({2}, {1.0001f, 0.0f}), made->values.at("y"), DType::float16);
    REQUIRE_FALSE(other.ok());
    CHECK(other.error().message.find("which float16 cannot hold") != std::string::npos);
  }
}

}  // namespace driftscope::test::lacking_operators_test
