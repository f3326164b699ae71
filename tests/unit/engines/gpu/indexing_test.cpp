// Places of elements as expressions of shaders, by evaluating them for every element.
#include "core/engines/gpu/indexing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "core/base/rng.hpp"
#include "core/device/shader_source.hpp"
#include "core/engines/gpu/gather.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_indexing_test {
namespace {

using gpu::WalkAxis;

// By the preprocessor, which knows the same operators.
std::int64_t number_of(const std::string& text, const gpu::ShaderValues& values) {
  const std::string file = "${" + text + "}";
  const auto source = gpu::shader_source({{"f", file}}, "f", values);
  REQUIRE_MESSAGE(source.ok(), source.error().message);
  return std::stoll(*source);
}

// The expression for element i.
std::int64_t value_of(const std::string& text, std::int64_t i) { return number_of(text, {{"i", i}}); }

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
  CHECK(gpu::place_of({}, 0, "i") == "0");
}

// As few operations as the operand needs, whatever the others need.
TEST_CASE("PlaceOf_AnOperandThatIsWalkedThrough_IsTheIndex") {
  const std::vector<WalkAxis> axes = {{2, {12, 0}}, {3, {4, 1}}, {4, {1, 0}}};
  CHECK(gpu::place_of(axes, 0, "i") == "i");
  CHECK(gpu::place_of(axes, 1, "i") == "i / 4 % 3");
}

TEST_CASE("InTexels_EveryFourElements_AreWhereTheStridesSay") {
  const std::vector<WalkAxis> axes = {{3, {16, 1}}, {2, {8, 0}}, {8, {1, 0}}};
  const auto walk = gpu::in_texels(axes);
  REQUIRE(walk);
  CHECK(walk->one_for_all == std::vector<bool>{false, true});
  for (std::int64_t t = 0; t < 12; ++t) {
    CHECK(value_of(gpu::place_of(walk->axes, 0, "i"), t) * 4 == value_of(gpu::place_of(axes, 0, "i"), 4 * t));
    CHECK(value_of(gpu::place_of(walk->axes, 1, "i"), t) == value_of(gpu::place_of(axes, 1, "i"), 4 * t));
  }
  CHECK(!gpu::in_texels({{3, {6}}, {6, {1}}}));  // of a row the last are half a texel
  CHECK(!gpu::in_texels({{3, {8}}, {4, {2}}}));  // not side by side
  CHECK(!gpu::in_texels({{3, {6}}, {4, {1}}}));  // rows that begin within a texel
  CHECK(!gpu::in_texels({}));
}

// Of random axes, some backwards, shifted or limited: each element, by the same preprocessor.
TEST_CASE("GatherText_EveryElement_IsWhereTheAxesSay") {
  const std::uint64_t seed = test_seed(62);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto one = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(to - from)));
  };
  int texels = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<gpu::GatherAxis> axes;
    const bool plain = rng.below(2) == 0;
    std::int64_t stride = 1;
    std::int64_t count = 1;
    for (std::int64_t i = one(1, 4); i > 0; --i) {
      gpu::GatherAxis axis{.size = one(1, 6), .stride = stride};
      stride *= one(1, 7);
      if (!plain) axis = {axis.size, axis.stride * one(-1, 2), one(-2, 3), one(0, 2) * one(1, 6)};
      count *= axis.size;
      axes.insert(axes.begin(), axis);
    }
    const std::int64_t offset = 100 + one(0, 3) * 4;
    const gpu::GatherText text = gpu::gather_text(axes, offset, 0.5f);
    CHECK(text.fill == "0.5");
    texels += text.texels ? 1 : 0;
    // "in0_value(PLACE)" or "T(in0_element(PLACE))".
    const std::string moved =
        text.moved.starts_with("T(") ? text.moved.substr(2, text.moved.size() - 3) : text.moved;
    const std::string place = moved.substr(moved.find('('));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t from = offset;
      bool inside = true;
      gpu::ShaderValues values = {{"i", i}};
      std::int64_t below = count;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        below /= axes[k].size;
        const std::int64_t c = i / below % axes[k].size + axes[k].shift;
        values[fmt::format("c{}", k)] = c;
        inside = inside && (axes[k].limit == 0 || (c >= 0 && c < axes[k].limit));
        from += c * axes[k].stride;
      }
      const bool whole = text.texels && moved.starts_with("in0_value");
      if (text.texels) values["i"] = i / 4;
      if (!text.within.empty()) CHECK((number_of(text.within, values) != 0) == inside);
      CHECK(number_of(place, values) * (whole ? 4 : 1) + (whole ? i % 4 : 0) == from);
    }
  }
  CHECK(texels > 5);
}

TEST_CASE("BroadcastStrides_OfSizeOne_AreZero") {
  CHECK(gpu::broadcast_strides({3, 1, 5}, 4) == std::vector<std::int64_t>{0, 5, 0, 1});
}

TEST_CASE("FloatText_IsTheSameNumberAsAFloat32OfWgsl") {
  CHECK(gpu::float_text(1.0f) == "1.0");
  CHECK(gpu::float_text(-0.5f) == "(-0.5)");
  CHECK(gpu::float_text(std::numeric_limits<float>::quiet_NaN()) == "nan()");
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {0.1f, 3.14159274f, 1e-30f, std::numeric_limits<float>::max()})
    CHECK(std::stod(gpu::float_text(value)) == static_cast<double>(value));
  CHECK(gpu::float_text(infinity) == gpu::float_text(std::numeric_limits<float>::max()));
}

}  // namespace
}  // namespace driftscope::test::gpu_indexing_test
