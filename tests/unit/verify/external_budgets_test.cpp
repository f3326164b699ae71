// Budgets of the web platform tests beside our verdict: the numbers that their formulas give for these
// shapes, worked out by hand, and the report on an error within and beyond them.
#include "core/verify/external_budgets.hpp"

#include <doctest/doctest.h>

#include <bit>

#include "core/platform/platform.hpp"
#include "core/results/verify_json.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::external_budgets_test {
namespace {

const BudgetSuite& wpt() {
  const auto found = find_budget_suite("wpt");
  REQUIRE(found.ok());
  return **found;
}

/// Of the first node's first output, which has this type and shape; inputs have the shapes of the model.
std::optional<BudgetRule> rule_of(const Graph& graph, const Shape& output, DType dtype = DType::float32) {
  const Node& node = graph.nodes.front();
  return wpt().rule({node, dtype, output, [&](std::size_t i) -> std::optional<Shape> {
                       if (i >= node.inputs.size() || node.inputs[i] == no_value) return std::nullopt;
                       return graph.values[node.inputs[i]].static_shape();
                     }});
}

double budget_of(const Graph& graph, const Shape& output) {
  const auto rule = rule_of(graph, output);
  REQUIRE(rule.has_value());
  return rule->value;
}

ModelBuilder with_inputs(std::initializer_list<Shape> shapes) {
  ModelBuilder model;
  const char* names[] = {"a", "b", "c"};
  std::size_t i = 0;
  for (const Shape& shape : shapes)
    model.input(names[i++], DType::float32, std::vector<Dim>(shape.begin(), shape.end()));
  return model;
}

Trace trace_of(std::initializer_list<NamedTensor> tensors) {
  Trace trace;
  trace.tensors = tensors;
  return trace;
}

/// This many floats further from zero.
float moved(float value, int ulps) { return std::bit_cast<float>(std::bit_cast<std::int32_t>(value) + ulps); }

}  // namespace

TEST_CASE("WptBudgets_Formulas_FollowTheShapes") {
  auto conv = with_inputs({{1, 4, 5, 5}, {6, 2, 3, 3}});
  conv.node("Conv", {"a", "b"}, {"y"}, {integer("group", 2)}).output("y");
  CHECK(budget_of(built(conv), {1, 6, 3, 3}) == 2 * 3 * 3 * 4 / 2);

  auto transposed = with_inputs({{1, 4, 5, 5}, {4, 3, 2, 2}});
  transposed.node("ConvTranspose", {"a", "b"}, {"y"}, {integer("group", 2)}).output("y");
  CHECK(budget_of(built(transposed), {1, 6, 6, 6}) == 2 * 2 * 2 * 4 / 2);

  auto gemm = with_inputs({{7, 2}, {7, 3}, {3}});
  gemm.node("Gemm", {"a", "b", "c"}, {"y"}, {integer("transA", 1), real("alpha", 0.5F)}).output("y");
  CHECK(budget_of(built(gemm), {2, 3}) == 2 * 7 + 1 + 1);

  auto softmax = with_inputs({{2, 9}});
  softmax.node("Softmax", {"a"}, {"y"}).output("y");
  CHECK(budget_of(built(softmax), {2, 9}) == 3 * 9 + 3);

  auto reduce = with_inputs({{2, 3, 5}});
  reduce.node("ReduceL2", {"a"}, {"y"}).output("y");
  CHECK(budget_of(built(reduce), {1, 1, 1}) == 2 * 30 + 1);

  auto pool = with_inputs({{1, 2, 6, 4}});
  pool.node("GlobalAveragePool", {"a"}, {"y"}).output("y");
  CHECK(budget_of(built(pool), {1, 2, 1, 1}) == 6 * 4 + 2);
}

TEST_CASE("WptBudgets_OperatorWithoutOne_HasNone") {
  auto model = with_inputs({{4}});
  model.node("Atan", {"a"}, {"y"}).output("y");
  CHECK_FALSE(rule_of(built(model), {4}).has_value());
  auto doubles = with_inputs({{4}});
  doubles.node("Exp", {"a"}, {"y"}).output("y");
  CHECK_FALSE(rule_of(built(doubles), {4}, DType::float64).has_value());
}

TEST_CASE("ApplyBudgets_SigmoidBeyond34Ulp_IsOverAndTheVerdictStays") {
  auto model = with_inputs({{3}});
  model.node("Sigmoid", {"a"}, {"y"}).output("y");
  const Graph graph = built(model);
  constexpr float half = 0.5F;
  for (const auto& [ulps, within] : {std::pair(34, true), std::pair(35, false)}) {
    const Trace trace = trace_of(
        {{"a", tensor<float>({3}, {0, 0, 0})}, {"y", tensor<float>({3}, {half, moved(half, ulps), half})}});
    ThreadPool threads(1);
    auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    const Verdict before = verification->verdict;
    apply_budgets(*verification, wpt(), graph, TraceView(trace));
    REQUIRE(verification->layers.size() == 1);
    const auto& external = verification->layers.front().external;
    REQUIRE(external.has_value());
    CHECK(external->budget == 34);
    CHECK(external->seen == ulps);
    CHECK(external->within == within);
    CHECK(verification->verdict == before);
    const std::string json = verification_json(*verification);
    CHECK((json.find("\"wpt\"") != std::string::npos));
    CHECK((json.find("\"operators\": \"sigmoid\"") != std::string::npos ||
           json.find("\"operators\":\"sigmoid\"") != std::string::npos));
  }
}

// The suite sums the budgets of a graph's operators: 6 + 18 for batchNormalization and gelu.
TEST_CASE("ApplyBudgets_NodesVerifiedTogether_HaveTheSum") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 1, 2})
      .initializer("scale", tensor<float>({1}, {1}))
      .initializer("bias", tensor<float>({1}, {0}))
      .initializer("mean", tensor<float>({1}, {6}))
      .initializer("variance", tensor<float>({1}, {2}))
      .node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"n"})
      .named("norm")
      .node("Gelu", {"n"}, {"y"})
      .named("gelu")
      .output("y");
  const Graph graph = built(model);
  // TensorFlow Lite's of webmachinelearning/webnn#950, 22 ULP from the correct value; and a correct one.
  const Trace trace = trace_of({{"x", tensor<float>({1, 1, 2}, {3, 4})},
                                {"y", tensor<float>({1, 1, 2}, {-0.035951387137174606F, -0.11122779F})}});
  ThreadPool threads(1);
  auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  apply_budgets(*verification, wpt(), graph, TraceView(trace));
  REQUIRE(verification->layers.size() == 1);
  const auto& external = verification->layers.front().external;
  REQUIRE(external.has_value());
  CHECK(external->operators == "batchNormalization + gelu");
  CHECK(external->budget == 24);
  CHECK(external->seen == 22);
  CHECK(external->within);
}

TEST_CASE("FindBudgetSuite_Unknown_ListsThem") {
  const auto found = find_budget_suite("none");
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind == ErrorKind::bad_input);
  CHECK(found.error().message.find("wpt") != std::string::npos);
}

}  // namespace driftscope::test::external_budgets_test
