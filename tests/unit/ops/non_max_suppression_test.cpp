#include <doctest/doctest.h>

#include "unit/ops/one_node.hpp"

namespace driftscope::test::non_max_suppression_test {
namespace {

using Numbers = std::vector<double>;

OneNode nms(const Tensor& boxes, const Tensor& scores, std::int64_t max_per_class, float iou,
            std::vector<Attribute> attributes = {}) {
  return {"NonMaxSuppression",
          {boxes, scores, tensor<std::int64_t>({}, {max_per_class}), floats({}, {iou}), floats({}, {0.1f})},
          std::move(attributes),
          11};
}

// Two boxes that overlap by a third, one far away.
const std::vector<float> corners = {0, 0, 2, 2, 0, 3, 2, 1, 10, 10, 12, 12};

}  // namespace

TEST_CASE("NonMaxSuppression_OverlapAboveTheThresholdGoes") {
  const auto boxes = floats({1, 3, 4}, corners);
  const auto scores = floats({1, 2, 3}, {0.5f, 0.9f, 0.9f, 0.2f, 0.05f, 0.1f});
  CHECK(nms(boxes, scores, 9, 0.3f).numbers() == Numbers{0, 0, 1, 0, 0, 2, 0, 1, 0});
  CHECK(nms(boxes, scores, 9, 0.4f).shape() == Shape{4, 3});
  CHECK(nms(boxes, scores, 1, 0.4f).numbers() == Numbers{0, 0, 1, 0, 1, 0});
  CHECK(nms(boxes, scores, 0, 0.4f).shape() == Shape{0, 3});
  CHECK(OneNode{"NonMaxSuppression", {boxes, scores}, {}, 10}.shape() == Shape{0, 3});
  const auto centers = floats({1, 3, 4}, {1, 1, 2, 2, 1, 2, 2, 2, 11, 11, 2, 2});
  CHECK(nms(centers, scores, 9, 0.3f, {integer("center_point_box", 1)}).shape() == Shape{3, 3});
  CHECK(contains(nms(floats({1, 2, 4}, std::vector<float>(8)), scores, 1, 0.5f).error().message,
                 "expected batches x classes x boxes"));
}

TEST_CASE("NonMaxSuppression_OverlapWithinRounding_IsNotJudged") {
  const float third = 1.0f / 3.0f;
  const auto node = nms(floats({1, 3, 4}, corners), floats({1, 1, 3}, {0.5f, 0.9f, 0.8f}), 9, third);
  ThreadPool threads(1);
  const auto result = run_graph<Bounded>(node.graph(), node.named(), threads);
  REQUIRE(!result.ok());
  CHECK(result.error().kind == ErrorKind::unsupported);
  CHECK(contains(result.error().message, "within rounding"));
}

}  // namespace driftscope::test::non_max_suppression_test
