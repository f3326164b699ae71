#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/half.hpp"
#include "core/eval/evaluate.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::evaluate_test {
namespace {

Graph one_node(const std::string& op, DType dtype, std::size_t inputs) {
  ModelBuilder model;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs; ++i) {
    names.push_back("x" + std::to_string(i));
    model.input(names.back(), dtype, {2});
  }
  model.node(op, names, {"y"}).output("y");
  return built(model);
}

Tensor halves(const std::vector<double>& values) {
  std::vector<std::uint16_t> bits;
  for (const double x : values) bits.push_back(narrow(float16_format, x));
  auto tensor = Tensor::from_bytes(DType::float16, {static_cast<std::int64_t>(values.size())},
                                   std::as_bytes(std::span(bits)));
  REQUIRE(tensor.ok());
  return *tensor;
}

}  // namespace

TEST_CASE("LiftAndLower_KeepEveryBitOfNumbers") {
  const std::vector<float> values = {0.0f,   -0.0f,    1.5f,
                                     1e-45f, -3.4e38f, std::numeric_limits<float>::infinity()};
  const auto lifted = lift<double>(tensor<float>({6}, values));
  REQUIRE(lifted.ok());
  const auto lowered = lower(*lifted);
  REQUIRE(lowered.ok());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::bit_cast<std::uint32_t>(lowered->values<float>()[i]) ==
          std::bit_cast<std::uint32_t>(values[i]));
}

TEST_CASE("Lower_OnThreads_GivesTheSameElements") {
  std::vector<float> values(100'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.1f;
  const auto lifted = lift<Bounded>(tensor<float>({static_cast<std::int64_t>(values.size())}, values));
  REQUIRE(lifted.ok());
  for (const int count : {1, 2, 3}) {
    ThreadPool threads(count);
    const auto lowered = lower(*lifted, &threads);
    REQUIRE(lowered.ok());
    CHECK(std::ranges::equal(lowered->values<float>(), values));
  }
}

TEST_CASE("LiftAndLower_HalfPrecision_RoundsToIt") {
  auto lifted = lift<Bounded>(halves({1.0, -2.5}));
  REQUIRE(lifted.ok());
  CHECK(lifted->real[1].value == -2.5);
  CHECK(lifted->real[1].worst == 0.0);
  lifted->real[0] = Bounded(1.0 + 0x1p-11 + 0x1p-20);
  const auto lowered = lower(*lifted);
  REQUIRE(lowered.ok());
  CHECK(widen(float16_format, lowered->values<std::uint16_t>()[0]) == 1.0 + 0x1p-10);
}

TEST_CASE("LiftAndLower_Integers_StayTensors") {
  const auto lifted = lift<Bounded>(tensor<std::int64_t>({2}, {5, -7}));
  REQUIRE(lifted.ok());
  CHECK(lifted->real.empty());
  CHECK(lower(*lifted)->values<std::int64_t>()[1] == -7);
}

TEST_CASE("Evaluate_SameNode_AgreesInEveryScalar") {
  const Graph graph = one_node("Add", DType::float32, 2);
  const Tensor a = tensor<float>({2}, {0.1f, 1e30f});
  const Tensor b = tensor<float>({2}, {0.2f, 1.0f});
  ThreadPool threads(1);
  const auto da = lift<double>(a), db = lift<double>(b);
  const Evaluated<double>* plain[] = {&*da, &*db};
  const auto value = evaluate<double>(graph.nodes[0], plain, threads);
  REQUIRE(value.ok());
  const double exact = static_cast<double>(0.1f) + static_cast<double>(0.2f);
  CHECK((*value)[0].real[0] == exact);

  const auto ba = lift<Bounded>(a), bb = lift<Bounded>(b);
  const Evaluated<Bounded>* bounded[] = {&*ba, &*bb};
  const auto bound = evaluate<Bounded>(graph.nodes[0], bounded, threads);
  REQUIRE(bound.ok());
  CHECK((*bound)[0].real[0].value == exact);
  CHECK((*bound)[0].real[0].worst > 0.0);

  const Tensor* tensors[] = {&a, &b};
  const auto strict = evaluate_strict(graph.nodes[0], tensors, threads);
  REQUIRE(strict.ok());
  CHECK((*strict)[0].values<float>()[0] == 0.1f + 0.2f);
}

TEST_CASE("Evaluate_HalfPrecisionNode_HasTheBudgetOfThatType") {
  const Graph graph = one_node("Add", DType::float16, 2);
  ThreadPool threads(1);
  const auto a = lift<Bounded>(halves({1.0, 2.0})), b = lift<Bounded>(halves({0.0009765625, 0.5}));
  const Evaluated<Bounded>* inputs[] = {&*a, &*b};
  const auto result = evaluate<Bounded>(graph.nodes[0], inputs, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK((*result)[0].dtype == DType::float16);
  CHECK((*result)[0].real[0].worst >= 0x1p-11);
  CHECK((*result)[0].real[0].worst < 0x1p-10);
}

TEST_CASE("Evaluate_ShapesThatDoNotFit_NameTheNode") {
  const Graph graph = one_node("Add", DType::float32, 2);
  ThreadPool threads(1);
  const Tensor a = tensor<float>({2}, {1, 2});
  const Tensor b = tensor<float>({3}, {1, 2, 3});
  const Tensor* inputs[] = {&a, &b};
  const auto result = evaluate_strict(graph.nodes[0], inputs, threads);
  REQUIRE(!result.ok());
  CHECK(result.error().message.find("Add_0") != std::string::npos);
}

}  // namespace driftscope::test::evaluate_test
