// A convolution between DequantizeLinear nodes whose float32 bias was rounded to int32 steps, as ONNX
// Runtime does from opt=basic up: rounding with that reason where the convolution was recorded, and allowed
// in a group of an ONNX Runtime trace; every other bias remains a fault.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/base/rng.hpp"
#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::quantized_bias_test {
namespace {

constexpr std::int64_t channels = 8, outputs = 6, side = 9;
constexpr float input_scale = 0.0213f;

struct Quantized {
  bool by_channel;
  std::vector<float> scales, bias;
  Graph graph;
  Tensor x;

  Quantized(Rng& rng, bool per_channel) : by_channel(per_channel) {
    std::vector<std::int8_t> weights(outputs * channels * 9);
    for (auto& w : weights) w = static_cast<std::int8_t>(static_cast<int>(rng.below(127)) - 63);
    scales.resize(by_channel ? outputs : 1);
    for (float& s : scales) s = rng.uniform(0.002f, 0.01f);
    bias.resize(outputs);
    for (float& b : bias) b = 0.3f * rng.normal();
    std::vector<float> values(channels * side * side);
    for (float& v : values) v = rng.normal();
    x = tensor<float>({1, channels, side, side}, values);
    const Shape of_scales = by_channel ? Shape{outputs} : Shape{};
    graph = built(
        ModelBuilder()
            .opset(13)
            .input("x", DType::float32, {1, channels, side, side})
            .initializer("xs", tensor<float>({}, {input_scale}))
            .initializer("xz", tensor<std::uint8_t>({}, {117}))
            .initializer("wq", tensor<std::int8_t>({outputs, channels, 3, 3}, weights))
            .initializer("ws", tensor<float>(of_scales, scales))
            .initializer("wz", tensor<std::int8_t>(of_scales, std::vector<std::int8_t>(scales.size(), 0)))
            .initializer("b", tensor<float>({outputs}, bias))
            .initializer("ys", tensor<float>({}, {0.01f}))
            .initializer("yz", tensor<std::uint8_t>({}, {128}))
            .node("QuantizeLinear", {"x", "xs", "xz"}, {"xq"})
            .node("DequantizeLinear", {"xq", "xs", "xz"}, {"xd"})
            .node("DequantizeLinear", {"wq", "ws", "wz"}, {"wd"}, {integer("axis", 0)})
            .node("Conv", {"xd", "wd", "b"}, {"y"}, {ints("pads", {1, 1, 1, 1})})
            .node("QuantizeLinear", {"y", "ys", "yz"}, {"yq"})
            .output("yq"));
  }

  using Bias = std::function<float(float bias, float step)>;

  /// For the convolution and the following nodes; `recorded`: whether the convolution's values are.
  std::vector<LayerVerdict> verdicts(const Bias& of, bool recorded, const char* target) const {
    std::vector<float> used(bias);
    for (std::size_t i = 0; i < used.size(); ++i)
      used[i] = of(used[i], input_scale * scales[by_channel ? i : 0]);
    ThreadPool threads(2);
    std::map<ValueId, Tensor> made;
    Trace trace;
    trace.target = target;
    trace.tensors = {{"x", x}};
    for (const Node& node : graph.nodes) {
      std::vector<Tensor> operands;
      for (const ValueId id : node.reads()) {
        const Value& value = graph.values[id];
        operands.push_back(value.name == "b"   ? tensor<float>({outputs}, used)
                           : value.name == "x" ? x
                           : value.constant    ? *value.constant
                                               : made.at(id));
      }
      std::vector<const Tensor*> pointers;
      for (const Tensor& operand : operands) pointers.push_back(&operand);
      auto result = evaluate_strict(node, pointers, threads);
      REQUIRE(result.ok());
      made[node.outputs[0]] = result->front();
      if (recorded || node.outputs[0] == graph.outputs[0])
        trace.tensors.push_back({graph.values[node.outputs[0]].name, result->front()});
    }
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    return verification->layers;
  }
  LayerVerdict convolution(const Bias& of, const char* target = "") const {
    for (const LayerVerdict& layer : verdicts(of, true, target))
      if (layer.op == "Conv") return layer;
    FAIL("no convolution");
    return {};
  }
};

float as_it_is(float bias, float /*step*/) { return bias; }
float rounded(float bias, float step) { return std::nearbyint(bias / step) * step; }
float a_step_off(float bias, float step) { return (std::nearbyint(bias / step) + 1.0f) * step; }
float towards_zero(float bias, float step) { return std::trunc(bias / step) * step; }
float coarser(float bias, float step) { return std::nearbyint(bias / (4.0f * step)) * 4.0f * step; }

}  // namespace

TEST_CASE("QuantizedBias_OfARecordedConvolution_IsNamed" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(1841);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 6; ++round) {
    const Quantized model(rng, round % 2 == 1);
    CAPTURE(round);
    const LayerVerdict right = model.convolution(as_it_is);
    CHECK(right.verdict <= Verdict::rounding);
    CHECK(right.findings.empty());
    const LayerVerdict layer = model.convolution(rounded);
    CAPTURE(reason_of(layer));
    CHECK(layer.verdict == Verdict::rounding);
    CHECK(reason_of(layer).find("as by a bias rounded to int32 steps") == 0);
    CHECK(model.convolution(a_step_off).verdict == Verdict::fault);
    CHECK(model.convolution(towards_zero).verdict == Verdict::fault);
    CHECK(model.convolution(coarser).verdict == Verdict::fault);
  }
}

TEST_CASE("QuantizedBias_InAGroup_IsAllowedToOnnxRuntimeAlone") {
  const std::uint64_t seed = test_seed(1842);
  SEED_INFO(seed);
  Rng rng(seed);
  int moved = 0;
  for (int round = 0; round < 6; ++round) {
    const Quantized model(rng, round % 2 == 1);
    const auto verdict = [&](const Quantized::Bias& of, const char* target) {
      return model.verdicts(of, false, target).back().verdict;
    };
    CAPTURE(round);
    CHECK(verdict(as_it_is, "pc/ort") <= Verdict::rounding);
    CHECK(verdict(rounded, "pc/ort") <= Verdict::rounding);
    moved += verdict(rounded, "pc/fast") == Verdict::fault ? 1 : 0;
    const auto wrong = [](float bias, float step) { return bias + 40.0f * step; };
    CHECK(verdict(wrong, "pc/ort") == Verdict::fault);
  }
  CHECK(moved > 0);
}

}  // namespace driftscope::test::quantized_bias_test
