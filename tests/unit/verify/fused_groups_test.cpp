// Operators written in parts that runtimes compute as one: what is right of the operator is right of its
// parts, and what is wrong stays wrong.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/half.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::fused_groups_test {
namespace {

Verification verified(const ModelBuilder& model, const std::vector<NamedTensor>& tensors,
                      const std::string& run = "{}") {
  Trace trace;
  trace.tensors = tensors;
  trace.run = run;
  ThreadPool threads(1);
  auto result = verify(built(model), "", trace, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *std::move(result);
}

std::string of_engine(const std::string& name) { return R"({"engine":")" + name + R"("})"; }

// ---- Gelu ----

constexpr std::int64_t count = 801;

std::vector<float> gelu_inputs() {
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) x.push_back(static_cast<float>(i - 400) * 0.01f);
  return x;
}

/// With an erf that is off by this much, one way and the other.
std::vector<float> gelu_with(double erf_error) {
  std::vector<float> y;
  double sign = 1.0;
  for (const float x : gelu_inputs()) {
    const auto t = static_cast<double>(x);
    y.push_back(static_cast<float>(0.5 * t * (1.0 + std::erf(t * std::sqrt(0.5)) + sign * erf_error)));
    sign = -sign;
  }
  return y;
}

Tensor of_type(DType dtype, Shape shape, const std::vector<float>& values) {
  if (dtype == DType::float32) return tensor<float>(std::move(shape), values);
  auto made = Tensor::make(dtype, std::move(shape));
  REQUIRE(made.ok());
  for (std::size_t i = 0; i < values.size(); ++i)
    made->mutable_values<std::uint16_t>()[i] = narrow(float16_format, static_cast<double>(values[i]));
  return *std::move(made);
}

ModelBuilder gelu(bool in_parts, DType dtype = DType::float32) {
  ModelBuilder model;
  model.input("x", dtype, {count});
  if (!in_parts) return model.node("Gelu", {"x"}, {"y"}).output("y");
  const auto number = [&](float value) { return of_type(dtype, {}, {value}); };
  return model.initializer("root", number(1.41421354f))
      .initializer("one", number(1.0f))
      .initializer("half", number(0.5f))
      .node("Div", {"x", "root"}, {"a"})
      .node("Erf", {"a"}, {"e"})
      .node("Add", {"e", "one"}, {"s"})
      .node("Mul", {"x", "s"}, {"p"})
      .node("Mul", {"p", "half"}, {"y"})
      .output("y");
}

LayerVerdict gelu_verdict(bool in_parts, double erf_error, const std::string& engine,
                          DType dtype = DType::float32) {
  const Verification result = verified(
      gelu(in_parts, dtype),
      {{"x", of_type(dtype, {count}, gelu_inputs())}, {"y", of_type(dtype, {count}, gelu_with(erf_error))}},
      of_engine(engine));
  REQUIRE(result.layers.size() == 1);
  return result.layers.front();
}

}  // namespace

TEST_CASE("Verify_GeluInPartsAsOne_HasTheErrorsOfTheRuntimesGelu") {
  for (const bool in_parts : {false, true}) {
    CAPTURE(in_parts);
    CHECK(gelu_verdict(in_parts, 5.5e-7, "litert-wasm").verdict == Verdict::rounding);
    CHECK(gelu_verdict(in_parts, 5.5e-7, "someone").verdict == Verdict::rounding);
    CHECK(gelu_verdict(in_parts, 4e-6, "litert-wasm").verdict == Verdict::fault);
    CHECK(gelu_verdict(in_parts, 4e-6, "someone").verdict == Verdict::fault);
    CHECK(gelu_verdict(in_parts, 5.5e-7, "litert-wasm", DType::float16).verdict < Verdict::unjudged);
  }
  CHECK(reason_of(gelu_verdict(true, 5.5e-7, "litert-wasm")).starts_with("as by one Gelu, with the erf"));
  CHECK(reason_of(gelu_verdict(true, 5.5e-7, "someone")).starts_with("as by erf by Abramowitz"));
}

// ---- LayerNormalization ----

namespace {

constexpr std::int64_t rows = 6;
constexpr std::int64_t width = 64;

std::vector<float> far_from_zero() {
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * width; ++i)
    x.push_back(60.0f + std::sin(static_cast<float>(i) * 1.7f) + 0.3f * std::cos(static_cast<float>(i * i)));
  return x;
}
float scale_at(std::int64_t i) { return 0.5f + 0.01f * static_cast<float>(i); }
float shift_at(std::int64_t i) { return 0.25f - 0.01f * static_cast<float>(i); }

/// The variance of a row, given the sums of x and of x² in float32.
using Variance = std::function<float(std::span<const float> row, float mean)>;

float in_one_pass(std::span<const float> row, float mean) {
  float squares = 0.0f;
  for (const float x : row) squares += x * x;
  return squares / static_cast<float>(width) - mean * mean;
}

std::vector<float> normalized(const Variance& variance) {
  const std::vector<float> x = far_from_zero();
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::span row = std::span(x).subspan(static_cast<std::size_t>(r * width), width);
    float sum = 0.0f;
    for (const float v : row) sum += v;
    const float mean = sum / static_cast<float>(width);
    const float inverse = 1.0f / std::sqrt(variance(row, mean) + 1e-5f);
    for (std::int64_t i = 0; i < width; ++i)
      y.push_back((row[static_cast<std::size_t>(i)] - mean) * inverse * scale_at(i) + shift_at(i));
  }
  return y;
}

ModelBuilder layer_normalization(bool in_parts, bool by_pow) {
  std::vector<float> scale;
  std::vector<float> shift;
  for (std::int64_t i = 0; i < width; ++i) {
    scale.push_back(scale_at(i));
    shift.push_back(shift_at(i));
  }
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {rows, width})
      .initializer("scale", tensor<float>({width}, scale))
      .initializer("shift", tensor<float>({width}, shift));
  if (!in_parts)
    return model.node("LayerNormalization", {"x", "scale", "shift"}, {"y"}, {integer("axis", -1)})
        .output("y");
  model.initializer("two", tensor<float>({}, {2.0f})).initializer("eps", tensor<float>({}, {1e-5f}));
  model.node("ReduceMean", {"x"}, {"m"}, {ints("axes", {-1})}).node("Sub", {"x", "m"}, {"d"});
  if (by_pow)
    model.node("Pow", {"d", "two"}, {"q"});
  else
    model.node("Mul", {"d", "d"}, {"q"});
  return model.node("ReduceMean", {"q"}, {"v"}, {ints("axes", {-1})})
      .node("Add", {"v", "eps"}, {"ve"})
      .node("Sqrt", {"ve"}, {"s"})
      .node("Div", {"d", "s"}, {"n"})
      .node("Mul", {"n", "scale"}, {"g"})
      .node("Add", {"g", "shift"}, {"y"})
      .output("y");
}

Verdict norm_verdict(bool in_parts, bool by_pow, const std::vector<float>& y,
                     const std::string& engine = "someone") {
  return verified(
             layer_normalization(in_parts, by_pow),
             {{"x", tensor<float>({rows, width}, far_from_zero())}, {"y", tensor<float>({rows, width}, y)}},
             of_engine(engine))
      .verdict;
}

}  // namespace

// E[x²] − mean², as ONNX Runtime computes it, where the mean is sixty deviations from 0.
TEST_CASE("Verify_LayerNormalizationInPartsAsOne_HasTheErrorsOfTheOperator") {
  const std::vector<float> right = normalized(in_one_pass);
  const std::vector<float> wrong =
      normalized([](std::span<const float> row, float mean) { return 1.05f * in_one_pass(row, mean); });
  for (const char* engine : {"someone", "ort-webgpu", "ort-webgl"})
    for (const bool in_parts : {false, true})
      for (const bool by_pow : {false, true}) {
        CAPTURE(engine);
        CAPTURE(in_parts);
        CAPTURE(by_pow);
        CHECK(norm_verdict(in_parts, by_pow, right, engine) == Verdict::rounding);
        CHECK(norm_verdict(in_parts, by_pow, wrong, engine) > Verdict::unjudged);
      }
}

// ---- Pow ----

TEST_CASE("Verify_WholePowersOnGpus_AreJudgedForNegativeNumbersToo") {
  std::vector<float> x;
  for (int i = -200; i <= 200; ++i) x.push_back(static_cast<float>(i) * 0.037f);
  const auto size = static_cast<std::int64_t>(x.size());
  for (const char* engine : {"ort-webgpu", "ort-webgl", "someone"})
    for (const float exponent : {1.0f, 2.0f, 3.0f, 4.0f}) {
      CAPTURE(engine);
      CAPTURE(exponent);
      const ModelBuilder model = ModelBuilder()
                                     .input("x", DType::float32, {size})
                                     .initializer("e", tensor<float>({}, {exponent}))
                                     .node("Pow", {"x", "e"}, {"y"})
                                     .output("y");
      std::vector<float> y;
      for (const float v : x) {
        float product = v;
        for (float done = 1.0f; done < exponent; done += 1.0f) product *= v;
        y.push_back(product);
      }
      const auto verdict = [&](const std::vector<float>& values) {
        return verified(model, {{"x", tensor<float>({size}, x)}, {"y", tensor<float>({size}, values)}},
                        of_engine(engine))
            .layers[0]
            .verdict;
      };
      CHECK(verdict(y) < Verdict::unjudged);
      std::vector<float> wrong = y;
      wrong[17] *= 1.001f;
      CHECK(verdict(wrong) == Verdict::fault);
      wrong = y;
      wrong[17] = -wrong[17];
      CHECK(verdict(wrong) == Verdict::fault);
    }
}

// ---- what is not judged says why ----

// Groups of float32 are judged by runs of them, so that these are of float16.
TEST_CASE("Verify_CosineBeyondWhatShadersPromise_SaysSo") {
  const auto reason = [&](bool in_group, const char* engine) {
    const DType dtype = in_group ? DType::float16 : DType::float32;
    ModelBuilder model;
    model.input("x", dtype, {4}).initializer("scale", of_type(dtype, {}, {1.0f}));
    if (in_group) model.node("Mul", {"x", "scale"}, {"a"});
    model.node("Cos", {in_group ? "a" : "x"}, {"y"}).output("y");
    const Verification result = verified(model,
                                         {{"x", of_type(dtype, {4}, {100, 200, 300, 400})},
                                          {"y", of_type(dtype, {4}, {0.87f, 0.48f, -0.03f, -0.53f})}},
                                         of_engine(engine));
    CHECK(result.layers[0].verdict == Verdict::unjudged);
    return reason_of(result.layers[0]);
  };
  for (const bool in_group : {false, true}) {
    CAPTURE(in_group);
    CHECK(reason(in_group, "ort-webgpu")
              .starts_with(
                  "its budget is infinite: WGSL promises an accuracy of sin and cos only for arguments "
                  "from −π to π"));
    CHECK(reason(in_group, "ort-webgl").starts_with("its budget is infinite: GLSL ES promises no accuracy"));
  }
}

TEST_CASE("Verify_DivisorThatMayBeZero_SaysWhere") {
  const ModelBuilder model = ModelBuilder()
                                 .input("a", DType::float32, {2})
                                 .input("b", DType::float32, {2})
                                 .initializer("one", tensor<float>({}, {1.0f}))
                                 .node("Sub", {"a", "b"}, {"d"})
                                 .node("Div", {"one", "d"}, {"y"})
                                 .output("y");
  const Tensor near = tensor<float>({2}, {1e-40f, 3e-40f});
  const Verification result = verified(
      model, {{"a", near}, {"b", tensor<float>({2}, {0, 0})}, {"y", tensor<float>({2}, {3e38f, 2e38f})}},
      of_engine("ort-webgpu"));
  CHECK(reason_of(result.layers[0]).find("an argument of Div_1 (Div) may lie where it is not defined") !=
        std::string::npos);
}

// ---- dynamic quantization ----

namespace {

ModelBuilder dynamic_product(const std::string& product) {
  ModelBuilder model;
  const bool convolution = product == "ConvInteger";
  model.opset(17)
      .input("x", DType::float32, convolution ? std::vector<Dim>{1, 1, 4} : std::vector<Dim>{1, 4})
      .initializer("w", convolution ? tensor<std::int8_t>({1, 1, 4}, {1, -2, 3, 4})
                                    : tensor<std::int8_t>({4, 1}, {1, -2, 3, 4}))
      .initializer("w_scale", tensor<float>({}, {0.5f}))
      .initializer("w_zero", tensor<std::int8_t>({}, {0}))
      .initializer("bias", tensor<float>({1}, {1.0f}))
      .node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})
      .node(product, {"q", "w", "z", "w_zero"}, {"i"})
      .named("product")
      .node("Cast", {"i"}, {"f"}, {integer("to", 1)})
      .node("Mul", {"s", "w_scale"}, {"m"})
      .node("Mul", {"f", "m"}, {"p"})
      .node("Add", {"p", "bias"}, {"y"})
      .named("last");
  return model.output("y");
}

/// Of x = 0, 2.55·(steps) and 255 steps in all: the scale is 0.01, a step 0.005 of the output.
Verification dynamic_verified(const std::string& product, const std::vector<float>& x, float y) {
  const bool convolution = product == "ConvInteger";
  return verified(dynamic_product(product),
                  {{"x", tensor<float>(convolution ? Shape{1, 1, 4} : Shape{1, 4}, x)},
                   {"y", tensor<float>(convolution ? Shape{1, 1, 1} : Shape{1, 1}, {y})}});
}

}  // namespace

TEST_CASE("Verify_FusedDynamicQuantization_IsJudgedThroughTheGroup") {
  for (const char* product : {"MatMulInteger", "ConvInteger"}) {
    CAPTURE(product);
    // Steps 0, 100, 50 and 255, all sure: −200 + 150 + 1020 = 970.
    const std::vector<float> sure = {0.0f, 1.0f, 0.5f, 2.55f};
    const Verification right = dynamic_verified(product, sure, 970 * 0.005f + 1.0f);
    CHECK(right.layers[0].group.size() == 5);
    CHECK(right.verdict < Verdict::unjudged);
    CHECK(dynamic_verified(product, sure, 973 * 0.005f + 1.0f).first_fault == "last");
    // 0.495 lies between two steps: 3 more or less.
    const std::vector<float> between = {0.0f, 1.0f, 0.495f, 2.55f};
    const float low = (-200 + 3 * 49 + 1020) * 0.005f + 1.0f;
    const float high = (-200 + 3 * 50 + 1020) * 0.005f + 1.0f;
    for (const float y : {low, high}) CHECK(dynamic_verified(product, between, y).verdict < Verdict::suspect);
    CHECK(dynamic_verified(product, between, high + 0.02f).verdict == Verdict::fault);
  }
}

// Without a reference an output is not judged, which is no failure of the target.
TEST_CASE("Verify_OutputWithoutAReference_IsUnjudgedWithTheReason") {
  const ModelBuilder model = ModelBuilder()
                                 .opset(17)
                                 .input("x", DType::float32, {3})
                                 .node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})
                                 .node("BitShift", {"q", "q"}, {"b"}, {text("direction", "LEFT")})
                                 .node("Cast", {"b"}, {"y"}, {integer("to", 1)})
                                 .output("y");
  const Verification result = verified(
      model, {{"x", tensor<float>({3}, {0.0f, 0.495f, 2.55f})}, {"y", tensor<float>({3}, {0, 0, 0})}});
  CHECK(result.verdict == Verdict::unjudged);
  CHECK(reason_of(result.layers[0]).find("may have changed its integers") != std::string::npos);
}

}  // namespace driftscope::test::fused_groups_test
