// A fault whose cause is a faulty variant gets its name; another fault does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::causes_test {
namespace {

struct Layer {
  Graph graph;
  std::vector<Tensor> inputs;

  Layer(const std::string& op, const Shape& x, const Shape& w, const Shape& b,
        std::vector<Attribute> attributes) {
    Rng rng(34);
    inputs = {random_tensor(rng, x), random_tensor(rng, w), random_tensor(rng, b)};
    graph = built(ModelBuilder()
                      .input("x", DType::float32, {x.begin(), x.end()})
                      .initializer("w", inputs[1])
                      .initializer("b", inputs[2])
                      .node(op, {"x", "w", "b"}, {"y"}, std::move(attributes))
                      .output("y"));
  }

  /// Of the output that a runtime gave: the node with the first `count` inputs, then changed.
  [[nodiscard]] LayerVerdict verdict(std::size_t count, float factor = 1.0f) const {
    ThreadPool threads(2);
    Node node = graph.nodes[0];
    node.inputs.resize(count);
    std::vector<const Tensor*> read;
    for (std::size_t i = 0; i < count; ++i) read.push_back(&inputs[i]);
    auto outputs = evaluate_strict(node, read, threads);
    REQUIRE(outputs.ok());
    for (float& y : outputs->front().mutable_values<float>()) y *= factor;
    Trace trace;
    trace.tensors = {{"x", inputs[0]}, {"y", outputs->front()}};
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE(verification.ok());
    return verification->layers.front();
  }
};

const Finding* find(const LayerVerdict& layer, std::string_view id) {
  const auto found = std::ranges::find(layer.findings, id, &Finding::id);
  return found == layer.findings.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("Causes_BiasLeftOut_IsNamedWithItsBudgets") {
  const Layer layers[] = {
      {"Conv", {1, 3, 9, 9}, {5, 3, 3, 3}, {5}, {}},
      {"ConvTranspose", {1, 3, 5, 5}, {3, 4, 2, 2}, {4}, {}},
      {"Gemm", {4, 20}, {20, 7}, {7}, {}},
  };
  for (const Layer& layer : layers) {
    CAPTURE(layer.graph.nodes[0].op_type);
    const LayerVerdict without = layer.verdict(2);
    CHECK(without.verdict == Verdict::fault);
    const Finding* cause = find(without, "parameter.bias_missing");
    REQUIRE(cause != nullptr);
    CHECK(cause->number("budget_before") == without.budget_used);
    CHECK(cause->number("budget_before") > 1.0);
    CHECK(cause->number("budget_after") <= 1.0);
    CHECK(reason_of(without).find("as with the bias left out: the largest error is then 0.") == 0);
    // A right layer, and a fault with another cause.
    CHECK(layer.verdict(3).findings.empty());
    const LayerVerdict scaled = layer.verdict(3, 1.01f);
    CHECK(scaled.verdict == Verdict::fault);
    CHECK(find(scaled, "parameter.bias_missing") == nullptr);
    CHECK(find(layer.verdict(2, 1.001f), "parameter.bias_missing") == nullptr);
  }
}

}  // namespace driftscope::test::causes_test
