// Which layer separates two answers, where it is known: two products of which one rounds otherwise.
#include "core/compare/answer_separation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "core/eval/infer_shapes.hpp"
#include "core/platform/platform.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::answer_separation_test {
namespace {

// x [1, 2] → hidden = x·W₁ → logits = hidden·W₂.
Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2});
  model.initializer("w1", tensor<float>({2, 2}, {1.5f, -0.5f, 0.25f, 2.0f}));
  model.initializer("w2", tensor<float>({2, 2}, {1.0f, -1.0f, 0.5f, 1.0f}));
  model.node("MatMul", {"x", "w1"}, {"hidden"}).named("first");
  model.node("MatMul", {"hidden", "w2"}, {"logits"}).named("second");
  auto inferred = infer_shapes(built(model.output("logits")));
  REQUIRE(inferred.ok());
  return *std::move(inferred);
}

// A run whose first product is off by so many units in the last place, and whose second one is, too.
Trace run(const char* target, int hidden_ulps, float logits_off, bool hidden_recorded = true) {
  const auto moved = [](float value, int ulps) {
    for (; ulps > 0; --ulps) value = std::nextafter(value, 10.0f);
    return value;
  };
  const float h0 = moved(0.3f * 1.5f + 0.7f * 0.25f, hidden_ulps);
  const float h1 = 0.3f * -0.5f + 0.7f * 2.0f;
  Trace trace;
  trace.target = target;
  trace.tensors = {{"x", tensor<float>({1, 2}, {0.3f, 0.7f})},
                   {"logits", tensor<float>({1, 2}, {h0 + 0.5f * h1 + logits_off, h1 - h0})}};
  if (hidden_recorded) trace.tensors.push_back({"hidden", tensor<float>({1, 2}, {h0, h1})});
  trace.nodes = {{"first", "MatMul", {"hidden"}, {5}}, {"second", "MatMul", {"logits"}, {5}}};
  return trace;
}

Result<AnswerSeparation> separated(const Trace& left, const Trace& right) {
  // Of logit 0 minus logit 1.
  const std::map<std::string, Tensor> gradients = {{"hidden", tensor<float>({1, 2}, {2.0f, -0.5f})},
                                                   {"logits", tensor<float>({1, 2}, {1.0f, -1.0f})}};
  ThreadPool threads(1);
  return separate_answers(
      graph(), "", left, right,
      [&](const std::string& name) {
        const auto found = gradients.find(name);
        return found == gradients.end() ? nullptr : &found->second;
      },
      "no gradient", threads);
}

}  // namespace

TEST_CASE("AnswerSeparation_OfAFault_NamesTheFirstOne") {
  const auto layer = separated(run("a", 0, 0.0f), run("b", 1, -0.5f));
  REQUIRE_MESSAGE(layer.ok(), layer.error().message);
  CHECK(layer->beyond_rounding);
  CHECK(layer->node == "second");
  CHECK(layer->right == Verdict::fault);
  CHECK_FALSE(is_bad(layer->left));
}

TEST_CASE("AnswerSeparation_OfRounding_NamesTheLayerThatMovesTheAnswer") {
  // The left run is one unit above the right one in the first layer; the second inherits it.
  const auto layer = separated(run("a", 1, 0.0f), run("b", 0, 0.0f));
  REQUIRE_MESSAGE(layer.ok(), layer.error().message);
  CHECK_FALSE(layer->beyond_rounding);
  CHECK(layer->node == "first");
  CHECK(layer->output == "hidden");
  CHECK(layer->moved / (-2.0 * std::exp2(-24)) == doctest::Approx(1.0).epsilon(1e-3));
}

TEST_CASE("OwnDifferences_OfWhatIsInherited_AreNone") {
  ThreadPool threads(1);
  const auto errors = own_differences(graph(), run("a", 0, 0.0f), run("b", 1000, 0.0f), threads);
  REQUIRE_MESSAGE(errors.ok(), errors.error().message);
  REQUIRE(errors->size() == 2);
  CHECK((*errors)[0].error[0] > 500 * std::exp2(-24));
  for (const double own : (*errors)[1].error) CHECK(std::abs(own) < std::exp2(-22));
}

TEST_CASE("OwnDifferences_OfAnUnrecordedLayer_CountToTheNextOne") {
  ThreadPool threads(1);
  const auto errors = own_differences(graph(), run("a", 0, 0.0f), run("b", 0, 0.25f, false), threads);
  REQUIRE_MESSAGE(errors.ok(), errors.error().message);
  REQUIRE(errors->size() == 1);
  CHECK((*errors)[0].value == "logits");
  CHECK((*errors)[0].error[0] == doctest::Approx(0.25));
  // Nothing in common: an error, not a layer.
  Trace empty;
  empty.target = "c";
  CHECK_FALSE(own_differences(graph(), empty, empty, threads).ok());
}

}  // namespace driftscope::test::answer_separation_test
