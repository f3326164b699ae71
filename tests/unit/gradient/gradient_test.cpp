// The graph of a gradient as a whole: losses, names, errors.
#include "core/gradient/gradient.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/model/onnx_writer.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test {
namespace {

Model read(const ModelBuilder& builder) {
  auto model = read_onnx(builder.bytes());
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  return *std::move(model);
}

// x [N, 2] → logits = x·W [N, 3], then Softmax if asked for.
ModelBuilder classifier(bool softmax, std::int64_t opset = 17) {
  ModelBuilder builder;
  builder.opset(opset);
  builder.input("x", DType::float32, {"N", 2});
  builder.initializer("w", tensor<float>({2, 3}, {1, -2, 0.5f, 0, 3, -1}));
  builder.node("MatMul", {"x", "w"}, {"logits"});
  if (softmax) builder.node("Softmax", {"logits"}, {"p"});
  return builder.output(softmax ? "p" : "logits");
}

std::string message_of(const Model& model, const GradientRequest& request) {
  const auto gradient = make_gradient(model, request);
  return gradient.ok() ? "" : gradient.error().message;
}

std::vector<double> value_of(const GradientModel& gradient, const std::vector<NamedTensor>& inputs,
                             const std::string& name) {
  const auto bytes = write_onnx(gradient.model);
  REQUIRE(bytes.ok());
  const Graph graph = built(*bytes);
  ThreadPool threads(1);
  const auto values = run_graph_strict(graph, inputs, threads);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  return as_doubles((*values)[*graph.find_value(name)]);
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Gradient_OfLoss_IsSoftmaxMinusLabelTimesWeights") {
  for (const bool softmax : {false, true}) {
    const auto gradient = make_gradient(read(classifier(softmax)), {});
    REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
    CHECK(gradient->wrt == std::vector<std::string>{"x"});
    CHECK(gradient->gradients == std::vector<std::string>{"grad/x"});
    CHECK(gradient->logits == "logits");
    CHECK(gradient->classes == 3);
    const std::vector<double> x = {0.5, 1.0, -2.0, 0.25};
    const std::vector<std::int64_t> labels = {1, 0};
    const std::vector<NamedTensor> inputs = {{"x", tensor<float>({2, 2}, {0.5f, 1.0f, -2.0f, 0.25f})},
                                             {"label", tensor<std::int64_t>({2}, labels)}};
    const double w[2][3] = {{1, -2, 0.5}, {0, 3, -1}};
    const auto loss = value_of(*gradient, inputs, "loss");
    const auto slopes = value_of(*gradient, inputs, "grad/x");
    double want_loss = 0.0;
    for (std::size_t n = 0; n < 2; ++n) {
      double logits[3], sum = 0.0;
      for (int c = 0; c < 3; ++c) {
        logits[c] = x[2 * n] * w[0][c] + x[2 * n + 1] * w[1][c];
        sum += std::exp(logits[c]);
      }
      want_loss += std::log(sum) - logits[labels[n]];
      for (std::size_t i = 0; i < 2; ++i) {
        double want = -w[i][labels[n]];
        for (int c = 0; c < 3; ++c) want += w[i][c] * std::exp(logits[c]) / sum;
        CHECK(slopes[2 * n + i] == doctest::Approx(want).epsilon(1e-5));
      }
    }
    CHECK(loss[0] == doctest::Approx(want_loss).epsilon(1e-6));
  }
}

TEST_CASE("Gradient_OfLoss_IsFiniteWhereSoftmaxOverflows") {
  const auto gradient = make_gradient(read(classifier(true)), {});
  REQUIRE(gradient.ok());
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({1, 2}, {500.0f, 0.0f})},
                                           {"label", tensor<std::int64_t>({1}, {1})}};
  CHECK(value_of(*gradient, inputs, "loss")[0] == doctest::Approx(1500.0));
  CHECK(value_of(*gradient, inputs, "grad/x")[0] == doctest::Approx(3.0));
}

TEST_CASE("Gradient_OfLoss_KeepsItsDigitsWhereTheClassifierIsSure") {
  const auto gradient = make_gradient(read(classifier(true)), {});
  REQUIRE(gradient.ok());
  // Logits 30, −60, 15: 1 − p of the label is 3·10⁻⁷, five units in the last place of p.
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({1, 2}, {30.0f, 0.0f})},
                                           {"label", tensor<std::int64_t>({1}, {0})}};
  const double other = std::exp(-15.0) / (1.0 + std::exp(-15.0));
  const auto slopes = value_of(*gradient, inputs, "grad/x");
  CHECK(slopes[0] / (-0.5 * other) == doctest::Approx(1.0).epsilon(1e-5));
  CHECK(slopes[1] / -other == doctest::Approx(1.0).epsilon(1e-5));
}

TEST_CASE("Gradient_OfMargin_IsTheDifferenceOfTwoLogits") {
  const auto gradient = make_gradient(read(classifier(true)), {.of = "margin"});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({1, 2}, {2.0f, 1.0f})},
                                           {"label", tensor<std::int64_t>({1}, {0})},
                                           {"other", tensor<std::int64_t>({1}, {2})}};
  CHECK(value_of(*gradient, inputs, "margin") == std::vector<double>{2.0});  // 2 − (1 − 1)
  CHECK(value_of(*gradient, inputs, "grad/x") == std::vector<double>{0.5, 1.0});
}

TEST_CASE("Gradient_OfTexts_IsOfTheEmbedding") {
  ModelBuilder builder;
  builder.opset(13).input("tokens", DType::int64, {"N", 4});
  builder.initializer("table", tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  builder.node("Gather", {"table", "tokens"}, {"embedded"});
  builder.node("ReduceMean", {"embedded"}, {"logits"}, {ints("axes", {1}), integer("keepdims", 0)});
  const Model model = read(builder.output("logits"));
  const auto gradient = make_gradient(model, {});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  CHECK(gradient->gradients == std::vector<std::string>{"grad/embedded"});
  CHECK(mentions(message_of(model, {.wrt = {"tokens"}}), "its type is int64"));
  // Of the table itself, too: each row as often as it was read.
  const auto table = make_gradient(model, {.of = "logits", .wrt = {"table"}});
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  CHECK(value_of(*table, {{"tokens", tensor<std::int64_t>({1, 4}, {0, 2, 2, 2})}}, "grad/table") ==
        std::vector<double>{0.25, 0.25, 0, 0, 0.75, 0.75});
}

TEST_CASE("Gradient_MaxPool_TiesGoToTheFirst") {
  for (const std::int64_t stride : {1, 2}) {
    ModelBuilder builder;
    builder.opset(13).input("x", DType::float32, {1, 1, 2, 2});
    builder.node("MaxPool", {"x"}, {"y"},
                 {ints("kernel_shape", {2, 2}), ints("strides", {stride, stride}),
                  ints("pads", stride == 1 ? std::vector<std::int64_t>{1, 1, 0, 0}
                                           : std::vector<std::int64_t>{0, 0, 0, 0})});
    const auto gradient = make_gradient(read(builder.output("y")), {.of = "y"});
    REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
    const auto slopes = value_of(*gradient, {{"x", tensor<float>({1, 1, 2, 2}, {7, 7, 7, 7})}}, "grad/x");
    if (stride == 2) CHECK(slopes == std::vector<double>{1, 0, 0, 0});
    // Windows {0}, {0, 1}, {0, 2} and all four.
    if (stride == 1) CHECK(slopes == std::vector<double>{4, 0, 0, 0});
  }
}

TEST_CASE("Gradient_CastLike_ReadsTheTypeAlone") {
  // As torch.onnx writes relu6: limits made like x do not depend on it.
  ModelBuilder builder;
  builder.opset(18).input("x", DType::float32, {3}).initializer("six", tensor<std::int64_t>({}, {6}));
  builder.node("CastLike", {"six", "x"}, {"high"}).node("Clip", {"x", "", "high"}, {"y"});
  const auto gradient = make_gradient(read(builder.output("y")), {.of = "y"});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  CHECK(value_of(*gradient, {{"x", tensor<float>({3}, {-1.0f, 5.0f, 7.0f})}}, "grad/x") ==
        std::vector<double>{1, 1, 0});
}

TEST_CASE("Gradient_LimitsOfClipThatAreInputs_AreRefused") {
  for (const std::size_t place : {std::size_t{1}, std::size_t{2}}) {
    ModelBuilder builder;
    builder.opset(18).input("x", DType::float32, {3}).input("limit", DType::float32, {});
    builder.node(
        "Clip",
        place == 1 ? std::vector<std::string>{"x", "limit"} : std::vector<std::string>{"x", "", "limit"},
        {"y"});
    const std::string message = message_of(read(builder.output("y")), {.of = "y", .wrt = {"limit"}});
    CAPTURE(message);
    CHECK(mentions(message, "a limit of Clip"));
  }
}

TEST_CASE("Gradient_StraightThrough_IsZeroWhereClipped") {
  ModelBuilder builder;
  builder.opset(13).input("x", DType::float32, {4});
  builder.initializer("scale", tensor<float>({}, {0.5f})).initializer("zero", tensor<std::uint8_t>({}, {10}));
  builder.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  builder.node("DequantizeLinear", {"q", "scale", "zero"}, {"y"});
  const Model model = read(builder.output("y"));
  CHECK(mentions(message_of(model, {.of = "y"}), "--straight-through"));
  const auto gradient = make_gradient(model, {.of = "y", .straight_through = true});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  // It holds −5 to 122.5.
  CHECK(value_of(*gradient, {{"x", tensor<float>({4}, {-5.5f, -4.9f, 3.0f, 123.0f})}}, "grad/x") ==
        std::vector<double>{0, 1, 1, 0});
}

TEST_CASE("Gradient_Errors_NameWhatIsMissing") {
  const Model model = read(classifier(true));
  CHECK(mentions(message_of(model, {.wrt = {"nothing"}}), "--wrt nothing: the model has no such value"));
  CHECK(
      mentions(message_of(model, {.of = "x"}), "expected \"loss\", \"margin\" or an output of the model: p"));
  CHECK(mentions(message_of(model, {.wrt = {"x", "x"}}), "given twice"));
  CHECK(mentions(message_of(model, {.wrt = {"p"}}), "does not depend on p"));
  CHECK(mentions(message_of(read(classifier(true, 6)), {}), "opset 6"));

  ModelBuilder without;
  without.input("x", DType::float32, {2, 3, 1}).node("DFT", {"x"}, {"y"}).named("spectrum");
  const Model spectrum = read(without.output("y"));
  CHECK(
      mentions(message_of(spectrum, {.of = "y"}), "node spectrum (DFT, opset 21): DFT has no gradient rule"));
  // An operator that does not lie between is no matter.
  CHECK(message_of(spectrum, {.of = "y", .wrt = {"y"}}).empty());

  ModelBuilder named;
  named.input("label", DType::float32, {2, 3}).node("Relu", {"label"}, {"y"});
  CHECK(mentions(message_of(read(named.output("y")), {}), "label already"));

  ModelBuilder open;
  open.input("x", DType::float32, {"N", 1, "H", "W"});
  open.initializer("w", tensor<float>({1, 1, 3, 3}, std::vector<float>(9, 1.0f)));
  open.node("Conv", {"x", "w"}, {"y"}).named("c");
  const Model picture = read(open.output("y"));
  CHECK(mentions(message_of(picture, {.of = "y"}),
                 "node c (Conv, opset 21): its gradient needs the size of axis 2"));
  CHECK(message_of(picture, {.of = "y", .input_shapes = {{1, 1, 5, 5}}}).empty());
  CHECK(mentions(message_of(picture, {}), "--of y"));
}

TEST_CASE("Gradient_StepRate_GivesTheWeightsAfterAStep") {
  const Model model = read(classifier(false));
  const auto step = make_gradient(model, {.wrt = {"logits", "w"}, .step_rate = 0.5});
  REQUIRE_MESSAGE(step.ok(), step.error().message);
  // Of the weight alone; logits are no initializer.
  CHECK(step->steps == std::vector<std::string>{"step/w"});
  const std::vector<std::int64_t> labels = {1, 0};
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({2, 2}, {0.5f, 1.0f, -2.0f, 0.25f})},
                                           {"label", tensor<std::int64_t>({2}, labels)}};
  const std::vector<double> before = {1, -2, 0.5, 0, 3, -1};
  const auto gradient = value_of(*step, inputs, "grad/w");
  const auto after = value_of(*step, inputs, "step/w");
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    CHECK(after[i] == doctest::Approx(before[i] - 0.5 * gradient[i]).epsilon(1e-6));
  CHECK(mentions(message_of(model, {.wrt = {"x"}, .step_rate = 0.5}), "--sgd: none of x is a weight"));
  CHECK(mentions(message_of(model, {.wrt = {"w"}, .step_rate = INFINITY}), "--sgd inf: expected a finite"));
}

TEST_CASE("Gradient_OldOpsets_AreRaisedWhereNothingChangesMeaning") {
  const auto raised = make_gradient(read(classifier(false, 9)), {});
  REQUIRE_MESSAGE(raised.ok(), raised.error().message);
  CHECK(raised->model.opsets.at("") == 11);
  ModelBuilder builder;
  builder.opset(9).input("x", DType::float32, {2, 3});
  builder.node("Slice", {"x"}, {"y"}, {ints("starts", {0}), ints("ends", {1})}).named("cut");
  CHECK(mentions(message_of(read(builder.output("y")), {.of = "y"}), "Slice cut"));
}

}  // namespace driftscope::test
