// Reductions, ArgMax and ArgMin, CumSum.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/rng.hpp"
#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::reduce_test {
namespace {

using Numbers = std::vector<double>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

const Tensor& cube() {
  static const Tensor x = floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  return x;
}

}  // namespace

TEST_CASE("ReduceSum_AxesAsAttributeAndAsInput") {
  CHECK(OneNode{"ReduceSum", {cube()}, {ints("axes", {1})}, 11}.numbers() == Numbers{4, 6, 12, 14});
  CHECK(OneNode{"ReduceSum", {cube(), longs({1})}}.numbers() == Numbers{4, 6, 12, 14});
  CHECK(OneNode{"ReduceSum", {cube(), longs({-1, 0})}, {integer("keepdims", 0)}}.numbers() ==
        Numbers{14, 22});
  CHECK(OneNode{"ReduceSum", {cube(), longs({-1, 0})}, {integer("keepdims", 0)}}.shape() == Shape{2});
  CHECK(OneNode{"ReduceSum", {cube()}}.numbers() == Numbers{36});
  CHECK(OneNode{"ReduceSum", {cube()}}.shape() == Shape{1, 1, 1});
}

TEST_CASE("ReduceSum_NoAxes_AllOrNone") {
  CHECK(OneNode{"ReduceSum", {cube(), longs({})}}.numbers() == Numbers{36});
  CHECK(OneNode{"ReduceSum", {cube(), longs({})}, {integer("noop_with_empty_axes", 1)}}.shape() ==
        Shape{2, 2, 2});
  CHECK(OneNode{"ReduceSumSquare", {floats({2}, {2, 3})}, {integer("noop_with_empty_axes", 1)}}.numbers() ==
        Numbers{2, 3});
}

TEST_CASE("Reduce_EveryOperator_HandComputed") {
  const auto x = floats({2, 2}, {1, -2, 3, 4});
  const auto rows = [&](const char* op) {
    return OneNode{op, {x}, {ints("axes", {1}), integer("keepdims", 0)}, 13}.numbers();
  };
  CHECK(rows("ReduceMean") == Numbers{-0.5, 3.5});
  CHECK(rows("ReduceMax") == Numbers{1, 4});
  CHECK(rows("ReduceMin") == Numbers{-2, 3});
  CHECK(rows("ReduceProd") == Numbers{-2, 12});
  CHECK(rows("ReduceL1") == Numbers{3, 7});
  CHECK(rows("ReduceL2")[1] == 5);
  CHECK(rows("ReduceSumSquare") == Numbers{5, 25});
  CHECK(rows("ReduceLogSum")[1] == doctest::Approx(std::log(7.0)));
  CHECK(rows("ReduceLogSumExp")[1] == doctest::Approx(std::log(std::exp(3.0) + std::exp(4.0))));
  const auto large = OneNode{"ReduceLogSumExp", {floats({2}, {1000, 1000})}}.numbers();
  CHECK(large[0] == doctest::Approx(1000 + std::log(2.0)));
}

TEST_CASE("Reduce_Integers_AndBool") {
  const auto x = tensor<std::int32_t>({3}, {-7, 4, 2});
  CHECK(OneNode{"ReduceSum", {x}}.numbers() == Numbers{-1});
  CHECK(OneNode{"ReduceMean", {tensor<std::int32_t>({2}, {-7, 4})}}.numbers() == Numbers{-1});
  CHECK(OneNode{"ReduceL1", {x}}.numbers() == Numbers{13});
  CHECK(OneNode{"ReduceL2", {x}}.numbers() == Numbers{8});
  CHECK(OneNode{"ReduceProd", {x}}.numbers() == Numbers{-56});
  CHECK(OneNode{"ReduceMin", {x}}.numbers() == Numbers{-7});
  const std::vector<std::uint8_t> bytes = {1, 0};
  const auto truth = Tensor::from_bytes(DType::boolean, {2}, std::as_bytes(std::span(bytes)));
  CHECK(OneNode{"ReduceMax", {*truth}}.numbers() == Numbers{1});
  CHECK(OneNode{"ReduceMin", {*truth}}.numbers() == Numbers{0});
  CHECK(contains(OneNode{"ReduceSum", {*truth}}.error().message, "input 0 (data)"));
}

TEST_CASE("Reduce_EmptyLanes_GiveTheNeutralElement") {
  const auto x = floats({2, 0}, {});
  const auto reduce = [&](const char* op) {
    return OneNode{op, {x, longs({1})}, {integer("keepdims", 0)}}.strict_numbers();
  };
  CHECK(reduce("ReduceSum") == Numbers{0, 0});
  CHECK(reduce("ReduceProd") == Numbers{1, 1});
  CHECK(reduce("ReduceMax")[0] == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(reduce("ReduceMean")[1]));
}

TEST_CASE("Reduce_BadAxes_AreSaid") {
  CHECK(contains(OneNode{"ReduceSum", {cube(), longs({3})}}.error().message, "input 1 (axes)"));
  CHECK(contains(OneNode{"ReduceSum", {cube(), longs({0, -3})}}.error().message, "axis 0 is given twice"));
  CHECK(contains(OneNode{"ReduceMax", {cube(), longs({1})}, {}, 13}.error().message,
                 "axes are an attribute in opset 13"));
}

TEST_CASE("ReduceProd_AnyOrder_LiesWithinTheBound") {
  Rng rng(77);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x(50);
    for (float& v : x) v = rng.uniform(0.5f, 2.0f);
    const auto bounds = OneNode{"ReduceProd", {floats({50}, x)}}.bounded();
    float forward = 1;
    float backward = 1;
    for (std::size_t i = 0; i < x.size(); ++i) forward = forward * x[i];
    for (std::size_t i = x.size(); i-- > 0;) backward = backward * x[i];
    for (const float got : {forward, backward})
      CHECK(std::fabs(static_cast<double>(got) - bounds[0].value) <= bounds[0].worst);
    CHECK(bounds[0].worst < 1e-5 * bounds[0].value);
  }
  // Whether 1e-30·1e-30·1e30·1e30 passes through 0 depends on the order.
  const auto open = OneNode{"ReduceProd", {floats({4}, {1e-30f, 1e-30f, 1e30f, 1e30f})}}.bounded();
  CHECK(std::isinf(open[0].worst));
}

// An index is as uncertain as the elements that rounding may bring to the top are far away.
TEST_CASE("ArgMax_OfUncertainElements_ReachesThoseWithinBothBounds") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {4})
                                .node("ArgMax", {"x"}, {"y"}, {integer("axis", 0), integer("keepdims", 0)})
                                .output("y"));
  Evaluated<Bounded> x{DType::float32, {4}, {}, {}};
  x.real = {Bounded(0.0, 0.3, 0.1), Bounded(0.85, 0.3, 0.1), Bounded(1.0, 0.3, 0.1), Bounded(0.5, 0.3, 0.1)};
  const Evaluated<Bounded>* const given[] = {&x};
  ThreadPool threads(1);
  const auto result = evaluate<Bounded>(graph.nodes[0], given, threads);
  REQUIRE(result.ok());
  CHECK(result->front().tensor.values<std::int64_t>()[0] == 2);
  REQUIRE(result->front().real.size() == 1);
  CHECK(result->front().real[0].worst == 1.0);   // 0.85 and 0.5 are within 0.6
  CHECK(result->front().real[0].likely == 1.0);  // 0.85 alone is within 0.2
}

TEST_CASE("ArgMax_TiesNaNAndLastIndex") {
  const auto x = floats({2, 3}, {1, 3, 3, 2, 2, 0});
  CHECK(OneNode{"ArgMax", {x}, {integer("axis", 1)}}.numbers() == Numbers{1, 0});
  CHECK(OneNode{"ArgMax", {x}, {integer("axis", 1), integer("select_last_index", 1)}}.numbers() ==
        Numbers{2, 1});
  CHECK(OneNode{"ArgMin", {x}, {integer("axis", -1), integer("keepdims", 0)}}.shape() == Shape{2});
  CHECK(OneNode{"ArgMin", {x}}.numbers() == Numbers{0, 1, 1});
  CHECK(OneNode{"ArgMax", {floats({3}, {5, nan, 9})}}.numbers() == Numbers{1});
  CHECK(OneNode{"ArgMax", {tensor<std::uint8_t>({3}, {5, 200, 9})}}.numbers() == Numbers{1});
  CHECK(contains(OneNode{"ArgMax", {floats({0}, {})}}.error().message, "is empty"));
}

TEST_CASE("ArgMax_InputWithError_AllowsEveryIndexThatMayWin") {
  ThreadPool threads(1);
  const OneNode node{"ArgMax", {floats({4}, {1, 5, 4.9999f, 2})}};
  auto x = lift<Bounded>(*node.inputs[0]);
  REQUIRE(x.ok());
  for (Bounded& b : x->real) b = Bounded(b.value, 1e-3, 1e-6);
  const std::vector<const Evaluated<Bounded>*> operands = {&*x};
  const auto y = evaluate<Bounded>(node.graph().nodes[0], operands, threads);
  REQUIRE(y.ok());
  REQUIRE((*y)[0].real.size() == 1);
  CHECK((*y)[0].real[0].value == 1);
  CHECK((*y)[0].real[0].worst == 1);
  CHECK((*y)[0].real[0].likely == 0);
}

TEST_CASE("CumSum_ReverseExclusive_StartsWithZero") {
  const auto x = floats({3}, {1, 2, 4});
  const auto axis = tensor<std::int32_t>({}, {0});
  CHECK(OneNode{"CumSum", {x, axis}}.numbers() == Numbers{1, 3, 7});
  CHECK(OneNode{"CumSum", {x, axis}, {integer("exclusive", 1)}}.numbers() == Numbers{0, 1, 3});
  CHECK(OneNode{"CumSum", {x, axis}, {integer("reverse", 1)}}.numbers() == Numbers{7, 6, 4});
  CHECK(OneNode{"CumSum", {x, axis}, {integer("reverse", 1), integer("exclusive", 1)}}.numbers() ==
        Numbers{6, 4, 0});
  CHECK(OneNode{"CumSum", {longs({1, 2}), axis}}.numbers() == Numbers{1, 3});
  CHECK(contains(OneNode{"CumSum", {x, longs({1})}}.error().message, "input 1 (axis)"));
}

TEST_CASE("CumProd_ReverseExclusive_StartsWithOne") {
  const auto x = floats({3}, {3, 2, 4});
  const auto axis = tensor<std::int32_t>({}, {0});
  const auto product = [&](std::vector<Attribute> attributes) {
    return OneNode{"CumProd", {x, axis}, std::move(attributes), 26}.numbers();
  };
  CHECK(product({}) == Numbers{3, 6, 24});
  CHECK(product({integer("exclusive", 1)}) == Numbers{1, 3, 6});
  CHECK(product({integer("reverse", 1)}) == Numbers{24, 8, 4});
  CHECK(product({integer("reverse", 1), integer("exclusive", 1)}) == Numbers{8, 4, 1});
  const auto wide = tensor<std::int32_t>({2}, {1 << 30, 6});
  CHECK(OneNode{"CumProd", {wide, axis}, {}, 26}.numbers() == Numbers{1 << 30, -2147483648.0});
}

}  // namespace driftscope::test::reduce_test
