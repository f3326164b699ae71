// How far rounding can move an answer: predicted before a run, and compared with it.
#include "core/verify/answer_sensitivity.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/gradient/loss.hpp"
#include "core/graph/multiply_adds.hpp"
#include "core/platform/platform.hpp"
#include "core/results/answer_move_text.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/random_tensor.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::answer_sensitivity_test {
namespace {

ModelBuilder classifier(Rng& rng) {
  ModelBuilder builder;
  builder.opset(17).input("x", DType::float32, {1, 2, 8, 8});
  builder.initializer("w", random_tensor(rng, {3, 2, 3, 3})).initializer("v", random_tensor(rng, {3, 4}));
  builder.node("Conv", {"x", "w"}, {"conv"}).node("Tanh", {"conv"}, {"tanh"});
  builder.node("GlobalAveragePool", {"tanh"}, {"pool"}).node("Flatten", {"pool"}, {"flat"});
  builder.node("MatMul", {"flat", "v"}, {"logits"}).node("Softmax", {"logits"}, {"p"});
  return builder.output("p");
}

/// What the strict engine's kernels record.
Trace recorded(const Graph& graph, const std::vector<NamedTensor>& inputs, ThreadPool& threads) {
  const auto values = run_graph_strict(graph, inputs, threads);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  Trace trace;
  trace.target = "pc/strict";
  trace.tensors = inputs;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs) trace.tensors.push_back({graph.values[id].name, (*values)[id]});
  return trace;
}

struct Case {
  std::uint64_t seed;
  Rng rng{seed};
  Graph graph = *infer_shapes(built(classifier(rng)));
  std::vector<NamedTensor> inputs = {{"x", random_tensor(rng, {1, 2, 8, 8})}};
  ThreadPool threads{1};
  Trace trace = recorded(graph, inputs, threads);

  Result<AnswerSensitivity> prepared(SensitivityWanted wanted = SensitivityWanted::when_cheap) {
    return AnswerSensitivity::prepare(graph, TraceView(trace), wanted, threads);
  }
  Verification verified(const AnswerSensitivity& sensitivity, const Trace& of) {
    const auto predicted = sensitivity.predict(Target{"pc", "strict", {}}, threads);
    REQUIRE_MESSAGE(predicted.ok(), predicted.error().message);
    auto made = verify(graph, "", of, threads, {}, &sensitivity);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    sensitivity.conclude(*predicted, TraceView(of), *made);
    return *std::move(made);
  }
};

}  // namespace

TEST_CASE("AnswerSensitivity_ExplainsHowFarFloat32MovesTheAnswer") {
  Case c{test_seed(7)};
  SEED_INFO(c.seed);
  const auto sensitivity = c.prepared();
  REQUIRE_MESSAGE(sensitivity.ok(), sensitivity.error().message);
  const Verification verification = c.verified(*sensitivity, c.trace);
  REQUIRE(verification.answer);
  const AnswerMove& move = *verification.answer;
  CHECK(move.answer.find("the lead of class ") == 0);
  CHECK(move.left_out.empty());
  CHECK(move.layers == 5);  // all but the Softmax, behind the logits
  CHECK(move.unbounded == 0);

  // Independently: the double run of the test's own evaluator.
  const auto exact = run_graph<double>(c.graph, c.inputs, c.threads);
  REQUIRE(exact.ok());
  const auto logits = (*exact)[*c.graph.find_value("logits")].real;
  std::vector<double> sorted = logits;
  std::sort(sorted.rbegin(), sorted.rend());
  CHECK(move.exact == doctest::Approx(sorted[0] - sorted[1]).epsilon(1e-12));

  CHECK(std::abs(move.seen) > 0.0);
  CHECK(std::abs(move.seen - move.explained) <= 0.01 * std::abs(move.seen));
  CHECK(std::abs(move.seen) <= move.worst);
  CHECK(move.likely < move.worst);
  double shares = 0.0;
  for (const LayerVerdict& layer : verification.layers) {
    if (layer.output == "p") {
      CHECK(std::isnan(layer.sensitivity));
      continue;
    }
    shares += layer.sensitivity;
    CHECK(std::abs(layer.moved) <= layer.can_move);
    CHECK(layer.likely_move <= layer.can_move);
  }
  CHECK(shares == doctest::Approx(1.0));
  CHECK(most_sensitive(verification, 2).size() == 2);
  const std::string text = answer_move_text(move);
  CHECK(text.find("predicted to first order") != std::string::npos);
  CHECK(text.find("more than that estimate") == std::string::npos);
}

TEST_CASE("AnswerSensitivity_AFaultyLayer_HasMovedTheAnswer_AndIsOnlyNoted") {
  Case c{test_seed(8)};
  SEED_INFO(c.seed);
  const auto sensitivity = c.prepared();
  REQUIRE(sensitivity.ok());
  Trace faulty = c.trace;
  for (NamedTensor& tensor : faulty.tensors)
    if (tensor.name == "flat" || tensor.name == "logits") {
      auto values =
          std::vector<float>(tensor.tensor.values<float>().begin(), tensor.tensor.values<float>().end());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += 1e-3f * static_cast<float>(i + 1);
      tensor.tensor = *Tensor::from_values<float>(tensor.tensor.shape(), values);
    }
  const Verification verification = c.verified(*sensitivity, faulty);
  CHECK(std::abs(verification.answer->seen) > verification.answer->worst);
  CHECK(answer_move_text(*verification.answer).find("more than that estimate") != std::string::npos);
  for (const LayerVerdict& layer : verification.layers)
    if (layer.output == "conv") CHECK(std::abs(layer.moved) <= layer.can_move);
}

TEST_CASE("AnswerSensitivity_LooserEngines_CanMoveTheAnswerFurther") {
  Case c{test_seed(9)};
  SEED_INFO(c.seed);
  const auto sensitivity = c.prepared();
  REQUIRE(sensitivity.ok());
  const auto cpu = sensitivity->predict(Target{"pc", "strict", {}}, c.threads);
  const auto gpu = sensitivity->predict(Target{"chrome", "webgpu", {}}, c.threads);
  const auto half = sensitivity->predict(Target{"chrome", "webgpu", {{"fp16", "1"}}}, c.threads);
  REQUIRE((cpu.ok() && gpu.ok() && half.ok()));
  CHECK(cpu->worst < gpu->worst);
  CHECK(100.0 * gpu->worst < half->worst);
}

TEST_CASE("AnswerSensitivity_OtherInputs_AreNotCompared") {
  Case c{test_seed(10)};
  SEED_INFO(c.seed);
  const auto sensitivity = c.prepared();
  REQUIRE(sensitivity.ok());
  const Trace other = recorded(c.graph, {{"x", random_tensor(c.rng, {1, 2, 8, 8})}}, c.threads);
  const Verification verification = c.verified(*sensitivity, other);
  CHECK(std::isnan(verification.answer->seen));
  CHECK(verification.answer->left_out.find("input x is not the one") != std::string::npos);
}

TEST_CASE("AnswerSensitivity_NoClassifier_MovesAsAWhole") {
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {1, 3, 4, 4})
      .node("Exp", {"x"}, {"e"})
      .node("Sqrt", {"e"}, {"y"});
  model.output("y");
  const Graph graph = *infer_shapes(built(model));
  Rng rng(3);
  ThreadPool threads(1);
  const Trace trace = recorded(graph, {{"x", random_tensor(rng, {1, 3, 4, 4})}}, threads);
  const auto made =
      AnswerSensitivity::prepare(graph, TraceView(trace), SensitivityWanted::when_cheap, threads);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  auto verification = verify(graph, "", trace, threads, {}, &*made);
  REQUIRE(verification.ok());
  made->conclude(*made->predict(Target{"pc", "strict", {}}, threads), TraceView(trace), *verification);
  CHECK(verification->answer->answer == "y as a whole (root mean square)");
  CHECK(std::abs(verification->answer->seen) <= verification->answer->worst);
}

TEST_CASE("AnswerSensitivity_ModelsWithoutGradient_SayWhy") {
  ThreadPool threads(1);
  const auto why = [&](const ModelBuilder& model, std::vector<NamedTensor> inputs,
                       SensitivityWanted wanted = SensitivityWanted::when_cheap) {
    const Graph graph = *infer_shapes(built(model));
    const Trace trace = recorded(graph, inputs, threads);
    const auto made = AnswerSensitivity::prepare(graph, TraceView(trace), wanted, threads);
    return made.ok() ? std::string() : made.error().message;
  };
  const std::vector<NamedTensor> x = {{"x", tensor<float>({1, 4}, {1.5f, 2.5f, 3.5f, 0.5f})}};
  ModelBuilder integers;
  integers.opset(17).input("x", DType::float32, {1, 4}).node("ArgMax", {"x"}, {"y"}).output("y");
  CHECK(why(integers, x).find("is int64: rounding moves only floating numbers") != std::string::npos);
  ModelBuilder undefined;
  undefined.opset(17).input("x", DType::float32, {1, 4}).node("Log", {"x"}, {"y"}).output("y");
  CHECK(why(undefined, {{"x", tensor<float>({1, 4}, {-1, 1, 1, 1})}}).find("NaN or infinity") !=
        std::string::npos);
  Rng rng(5);
  ModelBuilder large;
  large.opset(17).input("x", DType::float32, {1, 4}).initializer("w", random_tensor(rng, {4, 4}));
  large.node("MatMul", {"x", "w"}, {"y"}).output("y");
  CHECK(multiply_adds(*infer_shapes(built(large))) == 16.0);
  CHECK(why(large, x).empty());
}

}  // namespace driftscope::test::answer_sensitivity_test
