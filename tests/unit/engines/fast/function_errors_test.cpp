// The functions of the fast engine stay within its error model: on every 16,384th
// float, and on all floats around the places where tests/bench/fast_functions.cpp found them worst.
#include <doctest/doctest.h>

#include <bit>

#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::function_errors_test {
namespace {

constexpr std::uint64_t stride = 16'384;
constexpr std::int32_t around = 4096;  // floats to either side

std::vector<float> arguments(std::initializer_list<float> worst) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const float at : worst)
    for (std::int32_t k = -around; k <= around; ++k)
      values.push_back(std::bit_cast<float>(std::bit_cast<std::int32_t>(at) + k));
  return values;
}

LayerVerdict verdict_of(const char* op, std::int64_t opset, std::initializer_list<float> worst) {
  const std::vector<float> values = arguments(worst);
  const Shape shape = {static_cast<std::int64_t>(values.size())};
  ModelBuilder model;
  model.opset(opset)
      .input("x", DType::float32, {static_cast<std::int64_t>(values.size())})
      .node(op, {"x"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  const auto bound = bind_inputs(graph, {{"x", tensor<float>(shape, values)}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine("fast");
  REQUIRE(engine.ok());
  const auto session = (*engine)->prepare(bound->graph, {});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  CHECK((*session)->ran_with().options.count("on_strict") == 0);
  const auto trace = record(bound->graph, **session, bound->inputs, {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  ThreadPool threads(2);
  const auto verification = verify(graph, "", *trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  REQUIRE(verification->layers.size() == 1);
  return verification->layers.front();
}

}  // namespace

TEST_CASE("FastFunctions_StayWithinTheirRows") {
  struct Case {
    const char* op;
    std::int64_t opset;
    std::initializer_list<float> worst;
  };
  const Case cases[] = {
      {"Tanh", 13, {0x1.79cec6p+2f, 0x1.c1e476p+2f, 0x1.60cdcep+2f, -0x1.60cdcep+2f}},
      {"Sigmoid", 13, {-0x1.5ca274p+1f, -0x1.f639fp+0f, -0x1.5bc476p+6f, -0x1.5d58ap+6f}},
      {"Gelu", 20, {0x1.2e27bep+2f, 0x1.290304p+2f, -0x1.2e27bep+2f, -0x1.458decp+3f, -0x1.a4ae0ep+3f}},
      {"Exp", 13, {-0x1.e58e2cp-7f}},
      {"Elu", 6, {-0x1p-3f, -1.0f}},
  };
  for (const Case& one : cases) {
    const LayerVerdict layer = verdict_of(one.op, one.opset, one.worst);
    CAPTURE(std::string(one.op));
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used);
    CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding));
    CHECK(layer.budget_used <= 1.0);
  }
}

}  // namespace driftscope::test::function_errors_test
