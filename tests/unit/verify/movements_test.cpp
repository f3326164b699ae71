// Elements in the wrong place: each kind on tensors that are small enough to be written down.
#include "core/verify/movements.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::movements_test {
namespace {

using Places = std::vector<std::int64_t>;

Places places_of(const Movement& movement, std::int64_t count) {
  Places places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(movement.source(i));
  return places;
}

bool contains(const std::vector<Movement>& list, const Places& places) {
  return std::ranges::any_of(list, [&](const Movement& movement) {
    return places_of(movement, static_cast<std::int64_t>(places.size())) == places;
  });
}

}  // namespace

TEST_CASE("Movements_AlongAnAxis_AreThoseOfSlices") {
  const Shape shape = {2, 3};
  CHECK(contains(movements(MovementKind::shifted, shape), {1, 2, 0, 4, 5, 3}));
  CHECK(contains(movements(MovementKind::shifted, shape), {1, 2, -1, 4, 5, -1}));
  CHECK(contains(movements(MovementKind::shifted, shape), {3, 4, 5, 0, 1, 2}));
  CHECK(contains(movements(MovementKind::mirrored, shape), {2, 1, 0, 5, 4, 3}));
  CHECK(contains(movements(MovementKind::last_missing, shape), {0, 1, 2, -1, -1, -1}));
  CHECK(contains(movements(MovementKind::last_repeated, shape), {0, 1, 1, 3, 4, 4}));
  CHECK(contains(movements(MovementKind::first_for_all, shape), {0, 1, 2, 0, 1, 2}));
  CHECK(contains(movements(MovementKind::ends_exchanged, {4}), {3, 1, 2, 0}));
  CHECK(contains(movements(MovementKind::lanes, {6}), {0, 1, 2, 0, 1, 2}));
  CHECK(contains(movements(MovementKind::lanes, {6}), {0, 1, 2, 3, 0, 1}));
  CHECK(contains(movements(MovementKind::lanes, {6}), {0, 0, 0, 0, 4, 4}));
  CHECK(contains(movements(MovementKind::lanes, {10}), {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  CHECK(movements(MovementKind::lanes, {2}).empty());
  CHECK(contains(movements(MovementKind::half_missing, {6}), {0, -1, 2, -1, 4, -1}));
  CHECK(contains(movements(MovementKind::half_missing, {6}), {0, 1, -1, -1, 4, 5}));
}

TEST_CASE("Movements_OfTwoAxes_AreTheOtherOrderInMemory") {
  // [2, 3] whose memory holds [3, 2].
  CHECK(contains(movements(MovementKind::transposed, {2, 3}), {0, 3, 1, 4, 2, 5}));
  const auto channels_last = movements(MovementKind::transposed, {1, 2, 2, 2});
  CHECK(contains(channels_last, {0, 4, 1, 5, 2, 6, 3, 7}));
  CHECK(contains(channels_last, {0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST_CASE("Movements_EveryPlaceIsInside_OfAnyShape") {
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{0, 3}, Shape{1, 1, 5}, Shape{2, 1, 3, 2}, Shape{3, 2, 2, 2, 2}})
    for (const MovementKind kind :
         {MovementKind::shifted, MovementKind::mirrored, MovementKind::ends_exchanged,
          MovementKind::last_missing, MovementKind::last_repeated, MovementKind::first_for_all,
          MovementKind::transposed})
      for (const Movement& movement : movements(kind, shape)) {
        const Places places = places_of(movement, element_count(shape));
        CHECK(std::ranges::all_of(places,
                                  [&](auto place) { return place >= -1 && place < element_count(shape); }));
        CHECK(movement.leaves_out == (std::ranges::find(places, -1) != places.end()));
      }
}

TEST_CASE("Movements_OfATensor_MoveWholeElements") {
  const Tensor tensor = test::tensor<std::uint16_t>({3}, {1, 2, 3});
  const Movement turned{.source = [](std::int64_t i) { return i == 1 ? -1 : 2 - i; }};
  const auto result = moved(tensor, turned);
  REQUIRE(result.ok());
  CHECK(std::ranges::equal(result->values<std::uint16_t>(), std::vector<std::uint16_t>{3, 0, 1}));
}

TEST_CASE("Causes_ThatMayBeChance_AreNotNamed") {
  // Of float16, one element: a slope of 0.01 gives what another wrong number may as well be.
  const auto leaky = [](std::vector<double> x, double slope) {
    const auto count = static_cast<std::int64_t>(x.size());
    const ModelBuilder model = ModelBuilder()
                                   .input("x", DType::float16, {count})
                                   .node("LeakyRelu", {"x"}, {"y"}, {real("alpha", 0.5F)})
                                   .output("y");
    std::vector<double> y;
    for (const double value : x) y.push_back(value < 0.0 ? slope * value : value);
    const Verification verification = verified(model, {{"x", halves({count}, x)}, {"y", halves({count}, y)}});
    REQUIRE(verification.verdict == Verdict::fault);
    return reason_of(verification.layers[0]);
  };
  CHECK(leaky({-1.0, 2.0}, 0.2).find("alpha") == std::string::npos);
  CHECK(leaky({-1.0, -2.0, -0.5, -3.0, 4.0}, 0.2).find("alpha 0.2") != std::string::npos);
  CHECK(leaky({-1.0, -2.0, -0.5, -3.0, 4.0}, 0.23).find("alpha") == std::string::npos);
}

}  // namespace driftscope::test::movements_test
