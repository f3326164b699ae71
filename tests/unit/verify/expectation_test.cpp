#include "core/verify/expectation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::expectation_test {

TEST_CASE("Disagreement_WithinTheTolerance_IsNone") {
  CHECK_FALSE(disagreement(floats({2}, {1.0009f, 0.0f}), floats({2}, {1.0f, 9e-8f})));
  const auto wrong = disagreement(floats({2}, {1.0f, 1.002f}), floats({2}, {1.0f, 1.0f}));
  REQUIRE(wrong);
  CHECK(contains(*wrong, "element 1"));
}

TEST_CASE("Disagreement_SpecialValues_MustBeTheSame") {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  CHECK_FALSE(disagreement(floats({2}, {nan, inf}), floats({2}, {nan, inf})));
  CHECK(disagreement(floats({1}, {nan}), floats({1}, {0.0f})));
  CHECK(disagreement(floats({1}, {0.0f}), floats({1}, {nan})));
  CHECK(disagreement(floats({1}, {-inf}), floats({1}, {inf})));
  CHECK(disagreement(floats({1}, {3e38f}), floats({1}, {inf})));
}

TEST_CASE("Disagreement_Bfloat16_MayBeOneStepOff") {
  const auto bfloats = [](std::uint16_t bits) {
    const auto tensor = Tensor::from_bytes(DType::bfloat16, {1}, std::as_bytes(std::span(&bits, 1)));
    REQUIRE(tensor.ok());
    return *tensor;
  };
  CHECK_FALSE(disagreement(bfloats(0x3f80), bfloats(0x3f81)));
  CHECK_FALSE(disagreement(bfloats(0x3f80), bfloats(0x3f7f)));
  CHECK(disagreement(bfloats(0x3f80), bfloats(0x3f82)));
  CHECK(disagreement(bfloats(0x3f80), bfloats(0xbf80)));  // another sign
}

TEST_CASE("Disagreement_IntegersShapesAndDtypes_AreExact") {
  CHECK_FALSE(disagreement(longs({1, 2}), longs({1, 2})));
  CHECK(contains(disagreement(longs({1, 2, 4}), longs({1, 2, 3})).value_or(""), "element 2"));
  CHECK(disagreement(longs({1}), floats({1}, {1.0f})));
  CHECK(disagreement(floats({1, 2}, {1, 2}), floats({2}, {1, 2})));
}

}  // namespace driftscope::test::expectation_test
