// GatherElements, GatherND, Scatter and similar operators.
#include <doctest/doctest.h>

#include <cmath>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::scatter_test {
namespace {

using Numbers = std::vector<double>;

Tensor index(const Shape& shape, const std::vector<std::int64_t>& values) {
  return tensor<std::int64_t>(shape, values);
}

OneNode add_up(const Tensor& data, const Tensor& indices, const Tensor& updates, const char* reduction,
               std::int64_t opset = 18) {
  return {"ScatterElements", {data, indices, updates}, {text("reduction", reduction)}, opset};
}

}  // namespace

TEST_CASE("GatherElements_SmallerIndicesThanData") {
  const auto x = floats({3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(OneNode{"GatherElements", {x, index({2, 2}, {-1, 0, 1, 2})}}.numbers() == Numbers{6, 1, 3, 7});
  CHECK(OneNode{"GatherElements", {x, index({2, 1}, {2, 0})}, {integer("axis", -1)}}.numbers() ==
        Numbers{2, 3});
  CHECK(OneNode{"GatherElements", {x, index({0, 3}, {})}}.shape() == Shape{0, 3});
  CHECK(contains(OneNode{"GatherElements", {x, index({1, 1}, {3})}}.error().message,
                 "index 3 is outside [-3, 3)"));
  CHECK(contains(OneNode{"GatherElements", {x, index({1, 4}, {0, 0, 0, 0})}}.error().message,
                 "no larger an axis but axis 0, got shape 1x4"));
}

TEST_CASE("GatherND_BatchesAndSlices") {
  const auto x = floats({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(OneNode{"GatherND", {x, index({2, 1}, {1, -2})}}.numbers() == Numbers{4, 5, 6, 7, 0, 1, 2, 3});
  CHECK(OneNode{"GatherND", {x, index({2, 3}, {0, 1, 1, 1, 0, 0})}}.numbers() == Numbers{3, 4});
  CHECK(OneNode{"GatherND", {x, index({2, 1}, {1, 0})}, {integer("batch_dims", 1)}}.numbers() ==
        Numbers{2, 3, 4, 5});
  CHECK(contains(OneNode{"GatherND", {x, index({1, 4}, {0, 0, 0, 0})}}.error().message,
                 "tuples of 4 indices for 3 axes"));
  CHECK(contains(OneNode{"GatherND", {x, index({1, 1}, {2})}}.error().message, "outside [-2, 2)"));
  CHECK(contains(OneNode{"GatherND", {x, index({2, 1}, {0, 0})}, {integer("batch_dims", 3)}}.error().message,
                 "batch_dims: 3 is not below"));
}

TEST_CASE("ScatterElements_ReductionsOverRepeatedIndices") {
  const auto data = floats({4}, {1, 2, 3, 4});
  const auto at = index({3}, {1, 1, -1});
  const auto updates = floats({3}, {10, 20, 30});
  CHECK(add_up(data, at, updates, "none").numbers() == Numbers{1, 20, 3, 30});
  CHECK(add_up(data, at, updates, "add").numbers() == Numbers{1, 32, 3, 34});
  CHECK(add_up(data, at, updates, "mul").numbers() == Numbers{1, 400, 3, 120});
  CHECK(add_up(data, at, updates, "max").numbers() == Numbers{1, 20, 3, 30});
  CHECK(add_up(data, at, updates, "min").numbers() == Numbers{1, 2, 3, 4});
  CHECK(contains(add_up(data, at, updates, "max", 16).error().message, "got 'max'"));
  CHECK(contains(add_up(data, at, floats({2}, {1, 2}), "add").error().message, "expected shape 3, got 2"));
  CHECK(contains(add_up(data, at, tensor<std::int32_t>({3}, {1, 2, 3}), "add").error().message,
                 "expected float32 as data has"));
  CHECK(
      add_up(tensor<std::int8_t>({1}, {100}), index({2}, {0, 0}), tensor<std::int8_t>({2}, {100, 100}), "add")
          .numbers() == Numbers{44});
}

TEST_CASE("ScatterElements_AddBound_CoversEveryOrder") {
  const auto node = add_up(floats({1}, {1e8f}), index({3}, {0, 0, 0}), floats({3}, {1, -1e8f, 1}), "add");
  const Bounded b = node.bounded()[0];
  CHECK(b.value == 2);
  for (const float sum : {((1e8f + 1) + -1e8f) + 1, (1e8f + -1e8f) + 2, (1 + 1) + (-1e8f + 1e8f)})
    CHECK(std::abs(static_cast<double>(sum) - 2) <= b.worst);
}

TEST_CASE("ScatterND_SlicesAndElements") {
  const auto data = floats({3, 2}, {0, 0, 0, 0, 0, 0});
  const auto nd = [&](const Tensor& at, const Tensor& updates) {
    return OneNode{"ScatterND", {data, at, updates}, {text("reduction", "add")}};
  };
  CHECK(nd(index({2, 1}, {2, 2}), floats({2, 2}, {1, 2, 3, 4})).numbers() == Numbers{0, 0, 0, 0, 4, 6});
  CHECK(nd(index({2, 2}, {0, 1, 1, 0}), floats({2}, {5, 6})).numbers() == Numbers{0, 5, 6, 0, 0, 0});
  CHECK(nd(index({0, 1}, {}), floats({0, 2}, {})).numbers() == Numbers(6, 0));
  CHECK(contains(nd(index({1, 1}, {3}), floats({1, 2}, {1, 2})).error().message,
                 "index 3 is outside [-3, 3) of axis 0"));
}

}  // namespace driftscope::test::scatter_test
