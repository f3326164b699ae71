// Layers that are right and were called suspect or a fault until generated models showed it (docs/hunt.md).
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::rounding_found_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

LayerVerdict last_layer(const Graph& graph, const Trace& trace) {
  ThreadPool threads(1);
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  return verification->layers.back();
}

/// Every node in turn in strict float32; the trace holds the inputs and `kept`.
Trace run(const Graph& graph, const std::vector<NamedTensor>& inputs, const std::string& kept) {
  ThreadPool threads(1);
  std::map<std::string, Tensor> values;
  for (const Value& value : graph.values)
    if (value.constant) values[value.name] = *value.constant;
  for (const NamedTensor& input : inputs) values[input.name] = input.tensor;
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> read;
    for (const ValueId id : node.reads()) read.push_back(&values.at(graph.values[id].name));
    auto outputs = evaluate_strict(node, read, threads);
    REQUIRE(outputs.ok());
    values[graph.values[node.outputs[0]].name] = outputs->front();
  }
  Trace trace;
  trace.tensors = inputs;
  trace.tensors.push_back({kept, values.at(kept)});
  return trace;
}

/// InstanceNormalization of lanes of so many elements, in strict.
void check_normalization(std::int64_t lane, const std::function<float(Rng&)>& draw, float epsilon,
                         float shift) {
  const std::uint64_t first = test_seed(8031);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(400); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::vector<float> values;
    for (std::int64_t i = 0; i < 6 * lane; ++i) values.push_back(draw(rng));
    const Graph graph =
        built(ModelBuilder()
                  .input("x", DType::float32, {1, 6, lane})
                  .initializer("scale", random_tensor(rng, {6}))
                  .initializer("shift", tensor<float>({6}, std::vector<float>(6, shift)))
                  .node("InstanceNormalization", {"x", "scale", "shift"}, {"y"}, {real("epsilon", epsilon)})
                  .output("y"));
    const LayerVerdict layer =
        last_layer(graph, run(graph, {{"x", tensor<float>({1, 6, lane}, values)}}, "y"));
    CAPTURE(reason_of(layer));
    CHECK_FALSE(is_bad(layer.verdict));
  }
}

}  // namespace

TEST_CASE("RoundingFound_LanesOfFewDifferentValues") {
  // Their roundings are equal where the values are.
  for (const std::int64_t lane : {10, 200}) {
    check_normalization(lane, [](Rng& rng) { return rng.below(4) == 0 ? 0.031f : 0.0f; }, 0.1f, 1.0f);
    check_normalization(lane, [](Rng& rng) { return 0.031f * static_cast<float>(rng.below(4)); }, 0.1f, 1.0f);
  }
}

TEST_CASE("RoundingFound_LanesThatSpanFewSteps") {
  check_normalization(45, [](Rng& rng) { return 0.111f + 2e-8f * rng.normal(); }, 1e-3f, -2.14f);
  for (const float size : {3e-9f, 1e-8f, 3e-8f})
    check_normalization(200, [size](Rng& rng) { return size * rng.normal(); }, 1e-3f, -2.14f);
}

TEST_CASE("RoundingFound_MeansWhoseTermsAreWeighted") {
  const std::uint64_t first = test_seed(374);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(400); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    // Two terms that nearly cancel, and a zero.
    Tensor x = *Tensor::make(DType::float32, {1, 1, 30}), y = *Tensor::make(DType::float32, {1, 1, 10});
    const float weight = 1.0f / 3.0f;
    for (std::size_t i = 0; i < 10; ++i) {
      const float a = rng.normal(), b = -a * rng.uniform(0.8f, 1.0f);
      x.mutable_values<float>()[3 * i] = a;
      x.mutable_values<float>()[3 * i + 1] = b;
      const float weighted = a * weight;
      y.mutable_values<float>()[i] = weighted + b * weight;
    }
    const Graph graph =
        built(ModelBuilder()
                  .input("x", DType::float32, {1, 1, 30})
                  .node("AveragePool", {"x"}, {"y"}, {ints("kernel_shape", {3}), ints("strides", {3})})
                  .output("y"));
    Trace trace;
    trace.tensors = {{"x", x}, {"y", y}};
    const LayerVerdict layer = last_layer(graph, trace);
    CAPTURE(layer.budget_used_statistical);
    CHECK_FALSE(is_bad(layer.verdict));
  }
}

TEST_CASE("RoundingFound_SubnormalsFlushedInsideAGroup") {
  Graph graph = built(ModelBuilder()
                          .input("x", DType::float32, {6})
                          .node("Neg", {"x"}, {"n"})
                          .node("Sqrt", {"n"}, {"y"})
                          .output("y"));
  Trace trace;
  trace.tensors = {{"x", tensor<float>({6}, {-2e-39f, -5e-39f, -1e-38f, -1.5e-39f, -7e-39f, -3e-39f})},
                   {"y", tensor<float>({6}, std::vector<float>(6, 0.0f))}};
  trace.run = R"({"engine": "fast", "host": "pc"})";  // may read subnormals as 0
  const LayerVerdict flushed = last_layer(graph, trace);
  CAPTURE(reason_of(flushed));
  CHECK_FALSE(is_bad(flushed.verdict));
  trace.tensors[0].tensor = tensor<float>({6}, {-2e-30f, -5e-30f, -1e-30f, -1.5e-30f, -7e-30f, -3e-30f});
  CHECK(last_layer(graph, trace).verdict == Verdict::fault);
}

TEST_CASE("RoundingFound_ComparisonsBehindAnOverflow") {
  // sinh(200) is infinite in float32, so that several elements of a row are the largest.
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {2, 4})
                                .node("Sinh", {"x"}, {"s"})
                                .node("Hardmax", {"s"}, {"y"}, {integer("axis", 1)})
                                .output("y"));
  const auto verdict = [&](const std::vector<float>& x) {
    return last_layer(graph, run(graph, {{"x", tensor<float>({2, 4}, x)}}, "y")).verdict;
  };
  CHECK(verdict({100, 200, 300, 1, 5, 6, 7, 8}) == Verdict::unjudged);
  CHECK_FALSE(is_bad(verdict({1, 2, 3, 1, 5, 6, 7, 8})));
}

TEST_CASE("RoundingFound_ProductsThatUnderflowBeforeAnInfinityComes") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {5})
                                .node("ReduceProd", {"x"}, {"y"}, {integer("keepdims", 0)})
                                .output("y"));
  const auto verdict = [&](const std::vector<float>& x, float y) {
    Trace trace;
    trace.tensors = {{"x", tensor<float>({5}, x)}, {"y", tensor<float>({}, {y})}};
    return last_layer(graph, trace).verdict;
  };
  const float nan = std::nanf("");
  CHECK_FALSE(is_bad(verdict({1e-30f, 1e-30f, 1e-30f, infinity, 1.0f}, nan)));
  CHECK_FALSE(is_bad(verdict({1e-30f, 1e-30f, 1e-30f, infinity, 1.0f}, infinity)));
  CHECK(is_bad(verdict({2.0f, 3.0f, 4.0f, infinity, 1.0f}, nan)));
}

// Where nearly all of a window is zero, the error of the factor is that of every mean.
TEST_CASE("RoundingFound_MeansByAFactorOfTwoUlps_AreRounding") {
  constexpr std::int64_t channels = 4096;
  const float ninth = std::nextafter(std::nextafter(1.0f / 9.0f, 1.0f), 1.0f);
  Rng rng(test_seed(7130));
  std::vector<float> x(9 * channels, 0.0f);
  std::vector<float> y;
  for (std::size_t i = 4; i < x.size(); i += 9) {
    x[i] = rng.uniform(-2.0f, 2.0f);
    y.push_back(x[i] * ninth);
  }
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1, channels, 3, 3})
                                .node("AveragePool", {"x"}, {"y"}, {ints("kernel_shape", {3, 3})})
                                .output("y"));
  Trace trace;
  trace.tensors = {{"x", tensor<float>({1, channels, 3, 3}, x)},
                   {"y", tensor<float>({1, channels, 1, 1}, y)}};
  const LayerVerdict layer = last_layer(graph, trace);
  CAPTURE(reason_of(layer));
  CHECK_FALSE(is_bad(layer.verdict));
}

}  // namespace driftscope::test::rounding_found_test
