// LpPool, DFT, STFT, windows beyond the ONNX cases: closed forms and properties.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::signal_test {
TEST_CASE("LpPool_Powers_OneTwoAndThree") {
  const auto pool = [](std::int64_t p) {
    return OneNode{"LpPool",
                   {floats({1, 1, 4}, {3, -4, 0, 2})},
                   {ints("kernel_shape", {2}), ints("strides", {2}), integer("p", p)}};
  };
  CHECK(pool(1).numbers() == std::vector<double>{7, 2});
  CHECK(pool(2).numbers() == std::vector<double>{5, 2});
  close(pool(3), {std::cbrt(91.0), 2});
  close(pool(5), {std::pow(243.0 + 1024.0, 0.2), 2});
  close({"GlobalLpPool", {floats({1, 2, 2}, {3, 4, 5, -12})}}, {5, 13});
}

TEST_CASE("Dft_InverseOfForward_IsTheInput") {
  for (const std::int64_t length : {1, 5, 8, 12}) {
    const Tensor x = ramp({1, length, 2});
    const OneNode forward{"DFT", {x}, {integer("axis", 1)}, 17};
    const auto spectrum = strict_outputs(forward.graph(), forward.named());
    REQUIRE(spectrum.ok());
    const OneNode back{"DFT", {(*spectrum)[0]}, {integer("axis", 1), integer("inverse", 1)}, 17};
    const std::vector<double> got = back.strict_numbers();
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(static_cast<double>(i)).epsilon(1e-5).scale(10));
  }
}

TEST_CASE("Dft_InverseOnesided_MakesTheRealNumbersOfItsBins") {
  for (const std::int64_t length : {2, 6, 8, 7}) {
    const Tensor x = ramp({1, length, 1});
    const OneNode forward{"DFT", {x}, {integer("axis", 1), integer("onesided", 1)}, 17};
    const auto spectrum = strict_outputs(forward.graph(), forward.named());
    REQUIRE(spectrum.ok());
    CHECK((*spectrum)[0].shape() == Shape{1, length / 2 + 1, 2});
    OneNode back{"DFT", {(*spectrum)[0]}, {integer("inverse", 1), integer("onesided", 1)}, 20};
    if (length % 2 == 1) back.inputs.push_back(tensor<std::int64_t>({}, {length}));
    const std::vector<double> got = back.strict_numbers();
    REQUIRE(got.size() == static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(static_cast<double>(i)).epsilon(1e-5).scale(10));
  }
  const std::vector<Attribute> both = {integer("inverse", 1), integer("onesided", 1)};
  CHECK(contains(OneNode{"DFT", {ramp({1, 4, 1})}, both, 20}.error().message, "expected 2 on the last axis"));
  CHECK(contains(OneNode{"DFT", {ramp({1, 1, 2})}, both, 20}.error().message, "needs dft_length"));
}

TEST_CASE("Dft_OnesidedAndLength_CutBinsAndFillZeros") {
  const OneNode node{
      "DFT", {floats({1, 2, 1}, {1, 1}), tensor<std::int64_t>({}, {4})}, {integer("onesided", 1)}, 20};
  CHECK(node.run()[0].shape() == Shape{1, 3, 2});
  close(node, {2, 0, 1, -1, 0, 0});
}

TEST_CASE("Windows_SymmetricHann_IsASquaredSine") {
  const OneNode node{"HannWindow", {tensor<std::int64_t>({}, {5})}, {integer("periodic", 0)}};
  close(node, {0, 0.5, 1, 0.5, 0});
}

}  // namespace driftscope::test::signal_test
