// Which axis of an output the classes lie along.
#include "core/verify/top1.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::top1_test {
namespace {

using Classes = std::vector<std::int64_t>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Classes best(const Shape& shape, const std::vector<float>& values) {
  const auto classes = top1(tensor<float>(shape, values));
  REQUIRE(classes.has_value());
  return *classes;
}

}  // namespace

TEST_CASE("Top1_OfClassesAlone_IsOneRow") {
  CHECK(best({3}, {1, 5, 2}) == Classes{1});
  CHECK(best({}, {7}) == Classes{0});
}

TEST_CASE("Top1_OfABatch_IsOneRowPerSample") {
  CHECK(best({1, 3}, {1, 5, 2}) == Classes{1});
  CHECK(best({2, 3}, {1, 5, 2, 9, 5, 2}) == Classes{1, 0});
  CHECK(best({3, 1}, {1, 5, 2}) == Classes{0, 0, 0});  // one score for each of three samples
}

TEST_CASE("Top1_BehindGlobalPooling_LooksPastTheAxesOfLengthOne") {
  CHECK(best({1, 3, 1, 1}, {1, 5, 2}) == Classes{1});
  CHECK(best({2, 3, 1}, {1, 5, 2, 1, 2, 5}) == Classes{1, 2});
}

TEST_CASE("Top1_OfASequence_IsOneRowPerStep") {
  CHECK(best({1, 2, 3}, {1, 5, 2, 9, 5, 2}) == Classes{1, 0});
  CHECK(best({2, 1, 3}, {1, 5, 2, 9, 5, 2}) == Classes{1, 0});
}

TEST_CASE("Top1_OfAMap_HasTheRowsOfThePicture") {
  CHECK(best({1, 2, 2, 2}, {0, 1, 1, 0, 1, 0, 0, 1}) == Classes{1, 0, 0, 1});
  CHECK(class_count({1, 8, 4, 6}) == 6);
}

TEST_CASE("Top1_TiesAndNan_TheFirstNumberWins") {
  CHECK(best({1, 3}, {2, 5, 5}) == Classes{1});
  CHECK(best({1, 3}, {nan, -5, nan}) == Classes{1});
  CHECK(best({2, 2}, {nan, nan, nan, 1}) == Classes{-1, 1});
}

TEST_CASE("Top1_OfNothingOrIntegers_SaysSo") {
  CHECK(best({0, 3}, {}).empty());
  CHECK(best({3, 0}, {}).empty());
  CHECK_FALSE(top1(tensor<std::int64_t>({1, 2}, {1, 2})).has_value());
}

}  // namespace driftscope::test::top1_test
