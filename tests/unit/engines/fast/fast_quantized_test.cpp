// Quantized networks on the fast engine: its layers between integers, against verify.
#include <doctest/doctest.h>

#include <set>

#include "tests/unit/engines/fast/run_engine.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::fast_quantized_test {
namespace {

// Conv and Relu, a second Conv and a residual Add, a Gemm, each between integers, as exporters of
// quantized models write them.
Graph quantized_net(Rng& rng, bool is_signed, std::int64_t channels = 5) {
  ModelBuilder model;
  const auto bytes = [&](Shape shape) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
    for (std::int8_t& x : values) x = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
    return tensor<std::int8_t>(std::move(shape), values);
  };
  const auto zero = [&](int value) {
    return is_signed ? tensor<std::int8_t>({}, {static_cast<std::int8_t>(value - 128)})
                     : tensor<std::uint8_t>({}, {static_cast<std::uint8_t>(value)});
  };
  constexpr float x_scale = 0.02f;
  const auto weights = [&](const std::string& name, Shape shape, float in_scale, std::size_t axis) {
    const auto outputs = static_cast<std::size_t>(shape[axis]);
    std::vector<float> scales(outputs);
    std::vector<float> products(outputs);
    std::vector<std::int32_t> bias(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      scales[i] = rng.uniform(0.001f, 0.004f);
      products[i] = scales[i] * in_scale;
      bias[i] = static_cast<std::int32_t>(rng.below(2000)) - 1000;
    }
    const auto count = static_cast<std::int64_t>(outputs);
    model.initializer(name, bytes(std::move(shape)))
        .initializer(name + ".scale", tensor<float>({count}, scales))
        .initializer(name + ".bias", tensor<std::int32_t>({count}, bias))
        .initializer(name + ".products", tensor<float>({count}, products))
        .node("DequantizeLinear", {name, name + ".scale"}, {name + ".real"},
              {integer("axis", static_cast<std::int64_t>(axis))})
        .node("DequantizeLinear", {name + ".bias", name + ".products"}, {name + ".b"}, {integer("axis", 0)});
  };
  model.opset(17)
      .input("x", DType::float32, {2, 3, 9, 8})
      .initializer("s", tensor<float>({}, {x_scale}))
      .initializer("t", tensor<float>({}, {0.03f}))
      .initializer("z", zero(120))
      .initializer("low", zero(0));
  weights("w1", {channels, 3, 3, 3}, x_scale, 0);
  weights("w2", {channels, channels, 1, 1}, 0.03f, 0);
  weights("w3", {7, channels * 9 * 8}, 0.03f, 0);
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"})
      .node("DequantizeLinear", {"q", "s", "z"}, {"d"})
      .node("Conv", {"d", "w1.real", "w1.b"}, {"c1"}, {ints("pads", {1, 1, 1, 1})})
      .node("Relu", {"c1"}, {"r1"})
      .node("QuantizeLinear", {"r1", "t", "low"}, {"q1"})
      .node("DequantizeLinear", {"q1", "t", "low"}, {"d1"})
      .node("Conv", {"d1", "w2.real", "w2.b"}, {"c2"})
      .node("QuantizeLinear", {"c2", "t", "z"}, {"q2"})
      .node("DequantizeLinear", {"q2", "t", "z"}, {"d2"})
      .node("Add", {"d2", "d1"}, {"s1"})
      .node("QuantizeLinear", {"s1", "t", "z"}, {"q3"})
      .node("DequantizeLinear", {"q3", "t", "z"}, {"d3"})
      .node("Flatten", {"d3"}, {"f"})
      .node("QuantizeLinear", {"f", "t", "z"}, {"q4"})
      .node("DequantizeLinear", {"q4", "t", "z"}, {"d4"})
      .node("Gemm", {"d4", "w3.real", "w3.b"}, {"g"}, {integer("transB", 1)})
      .node("QuantizeLinear", {"g", "s", "z"}, {"q5"})
      .node("DequantizeLinear", {"q5", "s", "z"}, {"y"})
      .output("y");
  return built(model);
}

}  // namespace

TEST_CASE("FastEngine_QuantizedNet_RunsOnIntegers") {
  const std::uint64_t first = test_seed(8);
  SEED_INFO(first);
  ThreadPool threads(1);
  for (std::uint64_t seed = first; seed < first + repetitions(6); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const bool is_signed = rng.below(2) == 0;
    const Graph graph = quantized_net(rng, is_signed);
    const NamedInputs inputs = {{"x", drawn({2, 3, 9, 8}, Kind::normal, rng)}};
    for (const Capture capture : {Capture::all, Capture::fused}) {
      CAPTURE(static_cast<int>(capture));
      RanWith ran;
      const Trace trace = run_engine(graph, inputs, capture, 1, "fast", &ran);
      check_clean(graph, trace, threads);
      const std::set<std::string> names = names_of(trace);
      CHECK(names.contains("q1"));
      CHECK(names.contains("q3"));
      CHECK(names.contains("c1") == (capture == Capture::all));
      CHECK(names.contains("s1") == (capture == Capture::all));
      if (capture == Capture::fused)  // the input's, around Flatten, the output's
        CHECK(ran.options.at("on_strict") == "DequantizeLinear 2, QuantizeLinear 2");
    }
  }
}

TEST_CASE("FastEngine_LargeInt8Weights_AreNotFreedBeforeTheyArePacked") {
  const std::uint64_t seed = test_seed(8);
  SEED_INFO(seed);
  Rng rng(seed);
  const Graph graph = quantized_net(rng, true, 130);  // 16 kB for the second convolution
  RanWith ran;
  const Trace trace =
      run_engine(graph, {{"x", drawn({2, 3, 9, 8}, Kind::normal, rng)}}, Capture::fused, 1, "fast", &ran);
  ThreadPool threads(1);
  check_clean(graph, trace, threads);
  CHECK(ran.options.at("on_strict") == "DequantizeLinear 2, QuantizeLinear 2");
}

TEST_CASE("FastEngine_DeferredValuesOfIntegers_AreTheSameBits") {
  Rng rng(5);
  for (const bool is_signed : {false, true}) {
    const Graph graph = quantized_net(rng, is_signed);
    const Shape image = *graph.values[graph.inputs[0]].static_shape();
    check_deferred(graph, {{graph.values[graph.inputs[0]].name, drawn(image, Kind::normal, rng)}}, 0);
  }
}

}  // namespace driftscope::test::fast_quantized_test
