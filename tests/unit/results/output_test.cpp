// A classifier's output in readable form.
#include "core/results/output.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::output_test {
namespace {

bool probabilities(const Shape& shape, const std::vector<float>& values) {
  return is_distribution(tensor<float>(shape, values));
}

}  // namespace

TEST_CASE("IsDistribution_RowsThatSumToOne") {
  CHECK(probabilities({1, 3}, {0.25f, 0.0f, 0.75f}));
  CHECK(probabilities({2, 2}, {0.5f, 0.5f, 1.0f, 0.0f}));
  CHECK(probabilities({1, 2}, {0.5f, 0.505f}));
}

TEST_CASE("IsDistribution_NegativeOrOtherSums_No") {
  CHECK_FALSE(probabilities({1, 2}, {1.25f, -0.25f}));
  CHECK_FALSE(probabilities({1, 2}, {0.5f, 0.52f}));
  CHECK_FALSE(probabilities({1, 2}, {0.5f, 0.48f}));
  CHECK_FALSE(probabilities({2, 2}, {0.5f, 0.5f, 1.0f, 1.0f}));
  CHECK_FALSE(probabilities({1, 2}, {NAN, 1.0f}));
  CHECK_FALSE(probabilities({0, 2}, {}));
  CHECK_FALSE(is_distribution(tensor<std::int64_t>({1, 1}, {1})));
}

TEST_CASE("TopClasses_LargestFirst_TiesByNumber_NanLast") {
  const auto classes = top_classes(tensor<float>({1, 4}, {0.5f, NAN, 0.75f, 0.5f}), {"a", "b", "c"}, 9);
  REQUIRE(classes.size() == 4);
  CHECK(classes[0].name == "c");
  CHECK(classes[1].index == 0);
  CHECK(classes[2].name == "3");
  CHECK(classes[3].index == 1);
  CHECK(top_classes(tensor<float>({1, 2}, {0.5f, 0.75f}), {}, 1).size() == 1);
}

}  // namespace driftscope::test::output_test
