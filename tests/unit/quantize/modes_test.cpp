// Every mode on a small network: what it computes, what it keeps, what it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/rng.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/quantize/model_run.hpp"
#include "core/quantize/raise_opset.hpp"
#include "core/quantize/study.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::quantize_modes {
namespace {

using namespace quantize;

Tensor random(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& x : values) x = static_cast<float>(rng.normal()) * 0.3F;
  return tensor<float>(std::move(shape), values);
}

Tensor positive(std::int64_t size, std::uint64_t seed) {
  Tensor made = random({size}, seed);
  for (float& x : made.mutable_values<float>()) x = 0.5F + std::fabs(x);
  return made;
}

/// Conv, BatchNormalization, Relu, MaxPool, a residual Add, Flatten, Gemm.
ModelBuilder network(std::int64_t opset = 17) {
  return ModelBuilder()
      .opset(opset)
      .input("x", DType::float32, {"N", 3, 8, 8})
      .initializer("w1", random({4, 3, 3, 3}, 1))
      .initializer("b1", random({4}, 2))
      .initializer("scale", positive(4, 3))
      .initializer("shift", random({4}, 4))
      .initializer("mean", random({4}, 5))
      .initializer("var", positive(4, 6))
      .initializer("w2", random({4, 4, 3, 3}, 7))
      .initializer("w3", random({10, 64}, 8))
      .initializer("b3", random({10}, 9))
      .node("Conv", {"x", "w1", "b1"}, {"c1"}, {ints("pads", {1, 1, 1, 1})})
      .named("conv1")
      .node("BatchNormalization", {"c1", "scale", "shift", "mean", "var"}, {"n1"})
      .named("bn")
      .node("Relu", {"n1"}, {"r1"})
      .named("relu")
      .node("MaxPool", {"r1"}, {"p1"}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})})
      .named("pool")
      .node("Conv", {"p1", "w2"}, {"c2"}, {ints("pads", {1, 1, 1, 1})})
      .named("conv2")
      .node("Add", {"c2", "p1"}, {"a"})
      .named("add")
      .node("Flatten", {"a"}, {"f"})
      .named("flatten")
      .node("Gemm", {"f", "w3", "b3"}, {"y"}, {integer("transB", 1)})
      .named("fc")
      .output("y", DType::float32, {"N", 10});
}

Tensor boolean(bool value) {
  const std::array byte = {static_cast<std::byte>(value)};
  return *Tensor::from_bytes(DType::boolean, {}, byte);
}

Model model_of(const ModelBuilder& builder) {
  auto model = read_onnx(builder.bytes());
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  return *std::move(model);
}

class Samples final : public InputSource {
 public:
  explicit Samples(Shape shape, std::vector<std::int64_t> labels = {})
      : shape_(std::move(shape)), labels_(std::move(labels)) {}
  [[nodiscard]] std::string text() const override { return "samples"; }
  [[nodiscard]] std::optional<std::int64_t> size() const override { return 8; }
  [[nodiscard]] Result<InputItem> item(std::int64_t i) const override {
    return InputItem{{{"x", random(shape_, 100 + static_cast<std::uint64_t>(i))}}, "", ""};
  }
  [[nodiscard]] std::span<const std::int64_t> labels() const override { return labels_; }

 private:
  Shape shape_;
  std::vector<std::int64_t> labels_;
};

const Watch quietly = [](std::string_view, std::int64_t, std::int64_t) { return true; };

Result<Study> studied(const Model& model, std::string_view mode, const InputSource& data,
                      StudyRequest request = {}, bool per_channel = false) {
  DRIFTSCOPE_TRY(const Mode* const found, find_mode(mode));
  DRIFTSCOPE_TRY(const Quantizer quantizer, Quantizer::open(model, *found, per_channel));
  request.data = request.calibration = &data;
  request.samples = request.layer_samples = request.calibration_samples = 8;
  DRIFTSCOPE_TRY(request.method, find_method("minmax"));
  return study(model, quantizer, request, quietly);
}

std::string failure(const ModelBuilder& builder, std::string_view mode, StudyRequest request = {}) {
  const Samples data({1, 3, 8, 8});
  const auto made = studied(model_of(builder), mode, data, std::move(request));
  REQUIRE(!made.ok());
  return made.error().message;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Of the first output.
double sqnr_db(const Model& a, const Model& b, const InputSource& data) {
  auto run_a = ModelRun::prepare(a);
  auto run_b = ModelRun::prepare(b);
  REQUIRE(run_a.ok());
  REQUIRE_MESSAGE(run_b.ok(), run_b.error().message);
  double signal = 0.0;
  double noise = 0.0;
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto inputs = data.item(i);
    const auto x = run_a->run(inputs->tensors);
    const auto y = run_b->run(inputs->tensors);
    REQUIRE_MESSAGE(y.ok(), y.error().message);
    const std::vector<double> p = numbers_of(x->at("y"));
    const std::vector<double> q = numbers_of(y->at("y"));
    REQUIRE(y->at("y").dtype() == DType::float32);
    for (std::size_t k = 0; k < p.size(); ++k) {
      signal += p[k] * p[k];
      noise += (p[k] - q[k]) * (p[k] - q[k]);
    }
  }
  return 10.0 * std::log10(signal / noise);
}

TEST_CASE("Quantize_EveryMode_ComputesNearlyTheSame_AndIsReadAgain") {
  const Model model = model_of(network());
  const Samples data({1, 3, 8, 8});
  const std::map<std::string, double> least = {
      {"int8-dynamic", 30}, {"int8-static", 30}, {"float16", 55},
      {"int4", 12},         {"linear8", 35},     {"linear4", 14},
      {"lut8", 35},         {"lut4", 14},        {"int4-matmulnbits", 12}};
  REQUIRE(mode_table().all().size() == least.size());
  for (const Mode& mode : mode_table().all())
    for (const bool per_channel : {false, true}) {
      if (per_channel && !mode.has_per_channel) continue;
      CAPTURE(mode.name);
      const auto made = studied(model, mode.name, data, {}, per_channel);
      REQUIRE_MESSAGE(made.ok(), made.error().message);
      const auto bytes = write_onnx(made->model);
      REQUIRE(bytes.ok());
      const auto again = read_onnx(*bytes);
      REQUIRE_MESSAGE(again.ok(), again.error().message);
      CHECK(sqnr_db(model, *again, data) > least.at(mode.name));
      double shares = 0.0;
      for (const LayerStudy& layer : made->layers) {
        REQUIRE(layer.sqnr_db.has_value());
        CHECK(*layer.sqnr_db > 10.0);
        shares += layer.drift_share.value_or(0.0);
      }
      CHECK(shares == doctest::Approx(1.0));
      // Quantized models are refused, not quantized twice.
      const auto twice = Quantizer::open(*again, mode, false);
      if (!mode.name.starts_with("lut")) CHECK(!twice.ok());
    }
}

TEST_CASE("Quantize_KeptLayers_StayInFloat") {
  const Model model = model_of(network());
  const Samples data({1, 3, 8, 8});
  for (const Mode& mode : mode_table().all()) {
    CAPTURE(mode.name);
    StudyRequest request;
    request.keep = {"conv2", "fc"};
    const auto made = studied(model, mode.name, data, request);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    int weights = 0;
    for (const NamedTensor& one : made->model.graph.initializers)
      weights += (one.name == "w2" || one.name == "w3") && one.tensor.dtype() == DType::float32 ? 1 : 0;
    CHECK(weights == 2);
    for (const LayerStudy& layer : made->layers) CHECK(layer.node != "conv2");
  }
}

TEST_CASE("QuantizeStatic_NormalizationIsFolded_AndMoversShareSteps") {
  const Samples data({1, 3, 8, 8});
  const auto made = studied(model_of(network()), "int8-static", data);
  REQUIRE(made.ok());
  std::map<std::string, int> operators;
  for (const ModelNode& node : made->model.graph.nodes) ++operators[node.op_type];
  CHECK(operators["BatchNormalization"] == 0);
  // x, r1, p1, c2, a, f; not the output.
  CHECK(operators["QuantizeLinear"] == 6);
  for (const ModelNode& node : made->model.graph.nodes)
    if (node.op_type == "QuantizeLinear" && node.inputs[0] == "p1") CHECK(node.inputs[1] == "r1.scale");
  for (const NamedTensor& one : made->model.graph.initializers)
    if (one.name == "r1.zero_point") CHECK(one.tensor.values<std::uint8_t>()[0] == 0);
}

TEST_CASE("Quantize_BadModels_SayWhatIsNeeded") {
  CHECK(contains(failure(network(), "int3"), "expected one of int8-dynamic, int8-static"));
  StudyRequest unknown;
  unknown.keep = {"conv3"};
  const std::string near = failure(network(), "linear8", unknown);
  CHECK(contains(near, "no node of this name"));
  CHECK(contains(near, "'conv1'"));
  StudyRequest all;
  all.keep = {"conv1", "conv2", "fc"};
  CHECK(contains(failure(network(), "linear8", all), "nothing is left"));
  StudyRequest accuracy;
  accuracy.restore = 0.5;
  CHECK(contains(failure(network(), "linear8", accuracy), "labelled data"));
  const auto relu =
      ModelBuilder().input("x", DType::float32, {"N", 3, 8, 8}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(contains(failure(relu, "linear8"), "nothing to quantize"));
  std::vector<float> weights(12, 1.0F);
  weights[5] = std::numeric_limits<float>::quiet_NaN();
  const auto broken = ModelBuilder()
                          .input("x", DType::float32, {1, 3, 8, 8})
                          .initializer("w", tensor<float>({4, 3, 1, 1}, weights))
                          .node("Conv", {"x", "w"}, {"y"})
                          .named("c")
                          .output("y", DType::float32, {1, 4, 8, 8});
  for (const char* mode : {"int8-dynamic", "int8-static", "int4", "linear4", "lut8"}) {
    CAPTURE(mode);
    CHECK(contains(failure(broken, mode), "element 5 of its weight 'w' is nan"));
  }
  const Samples wrong({1, 3, 9, 9});
  const auto made = studied(model_of(network()), "int8-static", wrong);
  REQUIRE(!made.ok());
  CHECK(contains(made.error().message, "calibration sample 0"));
}

/// Three products; unit 3 of the first two is always 0, and what reads it in the last two has a weight beside
/// which the others are less than a step.
Model with_outliers(std::uint64_t first) {
  const auto weights = [](std::int64_t rows, std::uint64_t seed, bool outliers) {
    Tensor made = random({rows, 4}, seed);
    for (std::int64_t i = 0; i < rows && outliers; ++i)
      made.mutable_values<float>()[static_cast<std::size_t>(4 * i + 3)] = 1000.0F;
    return made;
  };
  return model_of(ModelBuilder()
                      .input("x", DType::float32, {"N", 4})
                      .initializer("w1", weights(4, first, false))
                      .initializer("w2", weights(4, first + 1, true))
                      .initializer("w3", weights(6, first + 2, true))
                      .initializer("b", tensor<float>({4}, {0.0F, 0.01F, 0.02F, -100.0F}))
                      .node("Gemm", {"x", "w1", "b"}, {"a"}, {integer("transB", 1)})
                      .named("g1")
                      .node("Relu", {"a"}, {"p"})
                      .node("Gemm", {"p", "w2", "b"}, {"c"}, {integer("transB", 1)})
                      .named("g2")
                      .node("Relu", {"c"}, {"q"})
                      .node("Gemm", {"q", "w3"}, {"y"}, {integer("transB", 1)})
                      .named("g3")
                      .output("y", DType::float32, {"N", 6}));
}

TEST_CASE("Quantize_Restore_KeepsTheWorstLayersUntilTheAccuracyIsThere") {
  // Labels are what the float model says, so that its accuracy is 1; the first model that says several
  // classes.
  Model model;
  std::vector<std::int64_t> labels = {0};
  for (std::uint64_t seed = 1; seed < 200; seed += 3) {
    model = with_outliers(seed);
    labels.clear();
    auto run = ModelRun::prepare(model);
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto values = run->run(Samples({1, 4}).item(i)->tensors);
      REQUIRE_MESSAGE(values.ok(), values.error().message);
      const std::vector<double> scores = numbers_of(values->at("y"));
      labels.push_back(std::ranges::max_element(scores) - scores.begin());
    }
    if (std::set(labels.begin(), labels.end()).size() >= 3) break;
  }
  REQUIRE(std::set(labels.begin(), labels.end()).size() >= 3);
  const Samples data({1, 4}, labels);
  StudyRequest request;
  request.restore = 1.0;
  const auto made = studied(model, "linear8", data, request);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  CHECK(made->before->share() == 1.0);
  CHECK(made->after->share() == 1.0);
  CHECK(made->restored);
  REQUIRE(made->steps.size() >= 2);
  for (std::size_t i = 0; i + 1 < made->steps.size(); ++i) CHECK(made->steps[i].accuracy.share() < 1.0);
  CHECK(std::ranges::find(made->restored_by, "g3") != made->restored_by.end());
  CHECK(std::ranges::find(made->restored_by, "g1") == made->restored_by.end());
  request.restore = 0.0;
  const auto easy = studied(model, "linear8", data, request);
  REQUIRE(easy.ok());
  CHECK(easy->steps.empty());
  CHECK(easy->after->share() < 1.0);
}

TEST_CASE("Quantize_BranchesThatReadValues_GetThemInFloat") {
  const auto branch = [](const char* op) {
    return ModelBuilder()
        .node(op, {"c"}, {"inner"})
        .output("inner", DType::float32, {1, 4, 8, 8})
        .graph_message();
  };
  const Model model = model_of(ModelBuilder()
                                   .opset(17)
                                   .input("x", DType::float32, {1, 3, 8, 8})
                                   .initializer("w", random({4, 3, 3, 3}, 1))
                                   .initializer("v", random({10, 256}, 2))
                                   .initializer("yes", boolean(true))
                                   .node("Conv", {"x", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1})})
                                   .node("If", {"yes"}, {"i"})
                                   .graph_attribute("then_branch", branch("Neg"))
                                   .graph_attribute("else_branch", branch("Relu"))
                                   .node("Flatten", {"i"}, {"f"})
                                   .node("Gemm", {"f", "v"}, {"y"}, {integer("transB", 1)})
                                   .output("y", DType::float32, {1, 10}));
  const Samples data({1, 3, 8, 8});
  for (const Mode& mode : mode_table().all()) {
    CAPTURE(mode.name);
    const auto made = studied(model, mode.name, data);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    const auto bytes = write_onnx(made->model);
    REQUIRE(bytes.ok());
    CHECK(sqnr_db(model, *read_onnx(*bytes), data) > 12.0);
  }
}

TEST_CASE("RaiseOpset_ListsBecomeInputs_AndChangedMeaningsAreRefused") {
  Model model = model_of(ModelBuilder()
                             .opset(11)
                             .input("x", DType::float32, {2, 3, 4})
                             .node("ReduceMean", {"x"}, {"m"}, {ints("axes", {1})})
                             .node("Squeeze", {"m"}, {"s"}, {ints("axes", {1})})
                             .node("Softmax", {"s"}, {"y"}, {integer("axis", 1)})
                             .output("y"));
  Model other = model;
  REQUIRE(raise_opset(model, 21, {{"s", 2}}).ok());
  CHECK(model.opsets[""] == 21);
  for (const std::size_t i : {0U, 1U}) {
    CHECK(model.graph.nodes[i].inputs.size() == 2);
    CHECK(model.graph.nodes[i].attributes.empty());
  }
  CHECK(model.graph.initializers.size() == 2);
  CHECK(model.graph.initializers[0].tensor.values<std::int64_t>()[0] == 1);
  const Status refused = raise_opset(other, 21, {{"s", 3}});
  REQUIRE(!refused.ok());
  CHECK(contains(refused.error().message, "Softmax means something else since opset 13"));
}

}  // namespace
}  // namespace driftscope::test::quantize_modes
