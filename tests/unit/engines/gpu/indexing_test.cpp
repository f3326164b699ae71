// Places of elements as WGSL expressions, by evaluating them for every element.
#include "core/engines/gpu/indexing.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/device/shader_source.hpp"

namespace driftscope::test::gpu_indexing_test {
namespace {

using gpu::WalkAxis;

// The expression for element i, by the preprocessor, which knows the same operators.
std::int64_t value_of(std::string text, std::int64_t i) {
  std::erase(text, 'u');
  const std::string file = "${" + text + "}";
  const auto source = gpu::shader_source({{"f", file}}, "f", {{"i", i}});
  REQUIRE_MESSAGE(source.ok(), source.error().message);
  return std::stoll(*source);
}

TEST_CASE("PlaceOf_EveryElement_IsWhereTheStridesSay") {
  const std::vector<WalkAxis> axes = {{2, {60, 0}}, {3, {20, 4}}, {1, {7, 7}}, {4, {5, 1}}, {5, {1, 0}}};
  for (const std::vector<WalkAxis>& walk : {axes, gpu::joined(axes)})
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const std::string text = gpu::place_of(walk, operand, "i", 11);
      for (std::int64_t i = 0; i < 120; ++i) {
        const std::int64_t at[] = {i / 60, i / 20 % 3, 0, i / 5 % 4, i % 5};
        std::int64_t expected = 11;
        for (std::size_t axis = 0; axis < 5; ++axis) expected += at[axis] * axes[axis].strides[operand];
        CHECK(value_of(text, i) == expected);
      }
    }
}

TEST_CASE("Joined_AxesThatAllWalkThrough_AreOne") {
  const auto walk = gpu::joined({{2, {12, 12}}, {1, {5, 9}}, {3, {4, 4}}, {4, {1, 1}}});
  REQUIRE(walk.size() == 1);
  CHECK(walk[0].size == 24);
  CHECK(gpu::place_of(walk, 0, "i") == "i");
  CHECK(gpu::joined({{1, {1}}}).empty());
  CHECK(gpu::place_of({}, 0, "i") == "0u");
}

TEST_CASE("BroadcastStrides_OfSizeOne_AreZero") {
  CHECK(gpu::broadcast_strides({3, 1, 5}, 4) == std::vector<std::int64_t>{0, 5, 0, 1});
}

TEST_CASE("FloatText_IsTheSameNumberAsAFloat32OfWgsl") {
  CHECK(gpu::float_text(1.0f) == "1.0");
  CHECK(gpu::float_text(-0.5f) == "(-0.5)");
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {0.1f, 3.14159274f, 1e-30f, std::numeric_limits<float>::max()})
    CHECK(std::stod(gpu::float_text(value)) == static_cast<double>(value));
  CHECK(gpu::float_text(infinity) == gpu::float_text(std::numeric_limits<float>::max()));
}

}  // namespace
}  // namespace driftscope::test::gpu_indexing_test
