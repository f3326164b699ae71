// A fault whose cause is a faulty variant gets its name; another fault does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/narrow_factors.hpp"
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

namespace {

/// A graph of one node, and what a runtime recorded of it.
struct Recorded {
  Graph graph;
  std::vector<NamedTensor> inputs;

  /// The output of the right node, changed.
  [[nodiscard]] LayerVerdict verdict(const std::function<void(std::span<float>)>& change) const {
    ThreadPool threads(1);
    std::vector<const Tensor*> read;
    for (const ValueId id : graph.nodes[0].reads()) {
      const auto given = std::ranges::find(inputs, graph.values[id].name, &NamedTensor::name);
      read.push_back(given == inputs.end() ? &*graph.values[id].constant : &given->tensor);
    }
    auto outputs = evaluate_strict(graph.nodes[0], read, threads);
    REQUIRE(outputs.ok());
    change(outputs->front().mutable_values<float>());
    Trace trace;
    trace.tensors = inputs;
    trace.tensors.push_back({"y", outputs->front()});
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE(verification.ok());
    return verification->layers.front();
  }
};

Recorded one_node(const std::string& op, const Shape& x, std::vector<Attribute> attributes = {},
                  float scale = 1.0f) {
  Rng rng(12);
  Tensor input = random_tensor(rng, x);
  for (float& value : input.mutable_values<float>()) value *= scale;
  return {built(ModelBuilder()
                    .input("x", DType::float32, {x.begin(), x.end()})
                    .node(op, {"x"}, {"y"}, std::move(attributes))
                    .output("y")),
          {{"x", input}}};
}

std::string cause_of(const LayerVerdict& layer) {
  REQUIRE(layer.explanation.has_value());
  return layer.explanation->cause ? layer.explanation->cause->id : "";
}

std::string cause_text_of(const LayerVerdict& layer) {
  return cause_of(layer).empty() ? "" : layer.explanation->cause->text;
}

}  // namespace

TEST_CASE("Causes_PartsNotWritten_AreNamedWithTheirPlaces") {
  const Recorded layer = one_node("Sigmoid", {2, 16, 24});
  const LayerVerdict tile = layer.verdict([](std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i / 24 % 16 >= 8 && i % 24 >= 16) y[i] = 0.0f;
  });
  CHECK(cause_of(tile) == "execution.zero_block");
  CHECK(tile.explanation->pattern->text == "the last 8 columns of the last 8 rows");
  CHECK(tile.explanation->pattern->tile == std::vector<std::int64_t>{1, 8, 16});
  CHECK(tile.explanation->wrong == 128);
  CHECK(tile.explanation->cause->explained == 768);
  const LayerVerdict stale = layer.verdict([](std::span<float> y) {
    for (std::size_t i = y.size(); i-- > 0;)
      if (i / 24 % 16 >= 8 && i % 24 >= 16) y[i] = y[i - 8];
  });
  CHECK(cause_of(stale) == "execution.stale_tile");
  const LayerVerdict unknown = layer.verdict([](std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i % 24 == 5) y[i] = 0.3f + 0.01f * static_cast<float>(i % 7);
  });
  CHECK(cause_of(unknown) == "");
  CHECK(unknown.explanation->pattern->text == "column 5");
  CHECK(explanation_text(*unknown.explanation).find("none of the ") == 0);
  CHECK(explanation_text(*unknown.explanation).find("32 of 768 elements are wrong: column 5") !=
        std::string::npos);
}

TEST_CASE("Causes_ThatNaNOrFewNumbersFit_AreNotNamed") {
  // A sum that runs over the channels keeps a NaN: so would a block that holds what belongs beside it.
  Recorded layer = one_node("LRN", {1, 5, 1, 2}, {integer("size", 5)});
  layer.inputs[0].tensor.mutable_values<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  const LayerVerdict running =
      layer.verdict([](std::span<float> y) { y[7] = y[9] = std::numeric_limits<float>::quiet_NaN(); });
  CHECK(running.verdict == Verdict::fault);
  CHECK(cause_of(running) == "");
  // Hardmax of one element is 1, and a wrong one 0 for many reasons.
  const LayerVerdict zeros =
      one_node("Hardmax", {10, 1}).verdict([](std::span<float> y) { std::ranges::fill(y.subspan(3), 0.0f); });
  CHECK(zeros.verdict == Verdict::fault);
  CHECK(cause_of(zeros) == "");
}

TEST_CASE("Causes_NarrowTypes_AreNamed") {
  const Recorded layer = one_node("Tanh", {3, 40});
  const auto stored = [](NarrowFormat format) {
    return [format](std::span<float> y) {
      for (float& value : y) value = rounded_to(format, value);
    };
  };
  CHECK(cause_of(layer.verdict(stored(NarrowFormat::float16))) == "precision.output_f16");
  CHECK(cause_of(layer.verdict(stored(NarrowFormat::bfloat16))) == "precision.output_bf16");
  // An error of the same size that is not a number of the type.
  const LayerVerdict other = layer.verdict([](std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= i % 2 == 0 ? 1.0003f : 0.9997f;
  });
  CHECK(cause_of(other).substr(0, 16) != "precision.output");
}

TEST_CASE("Causes_FunctionsLeftOutOrNaN_AreNamed") {
  const Recorded relu = one_node("Relu", {50});
  const std::vector<float> x(relu.inputs[0].tensor.values<float>().begin(),
                             relu.inputs[0].tensor.values<float>().end());
  CHECK(cause_of(relu.verdict([&](std::span<float> y) { std::ranges::copy(x, y.begin()); })) ==
        "activation.missing");
  Recorded nan = one_node("Relu", {50});
  for (std::size_t i = 0; i < 50; i += 7) nan.inputs[0].tensor.mutable_values<float>()[i] = NAN;
  CHECK(cause_of(nan.verdict([](std::span<float> y) {
          for (float& value : y) value = std::isnan(value) ? 0.0f : value;
        })) == "activation.nan_swallowed");
  const Recorded softmax = one_node("Softmax", {4, 30}, {}, 100.0f);
  const std::vector<float> logits(softmax.inputs[0].tensor.values<float>().begin(),
                                  softmax.inputs[0].tensor.values<float>().end());
  CHECK(cause_of(softmax.verdict([&](std::span<float> y) {
          for (std::size_t row = 0; row < y.size(); row += 30) {
            float sum = 0.0f;
            for (std::size_t i = row; i < row + 30; ++i) sum += std::exp(logits[i]);
            for (std::size_t i = row; i < row + 30; ++i) y[i] = std::exp(logits[i]) / sum;
          }
        })) == "activation.softmax_without_maximum");
}

TEST_CASE("Causes_ArgumentsOfExpLimited_AreNamed") {
  Recorded exp = one_node("Exp", {40});
  Recorded softplus = one_node("Softplus", {40});
  for (Recorded* const one : {&exp, &softplus})
    for (std::size_t i = 0; i < 40; ++i)
      one->inputs[0].tensor.mutable_values<float>()[i] = 84.9f + 0.1f * static_cast<float>(i);  // 35 is 88.4
  const auto from_35 = [](float value) {
    return [value](std::span<float> y) { std::ranges::fill(y.subspan(35), value); };
  };
  const LayerVerdict infinite = exp.verdict(from_35(HUGE_VALF));
  CHECK(cause_of(infinite) == "activation.exp_limited");
  CHECK(cause_text_of(infinite) == "arguments of exp limited to 88.376 (∞ beyond)");
  CHECK(cause_of(exp.verdict(from_35(std::exp(88.3762626647949f)))) == "activation.exp_limited");
  CHECK(cause_of(softplus.verdict(from_35(88.3762626647949f))) == "activation.exp_limited");
  CHECK(cause_of(softplus.verdict(from_35(87.5f))) == "");
}

TEST_CASE("Causes_MeansOfAnotherDivisor_AreNamed") {
  const std::vector<Attribute> attributes = {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                             {"pads", std::vector<std::int64_t>{0, 2, 1, 0}},
                                             {"strides", std::vector<std::int64_t>{2, 2}},
                                             {"count_include_pad", std::int64_t{1}},
                                             {"ceil_mode", std::int64_t{1}}};
  const Recorded layer = one_node("AveragePool", {2, 3, 5, 6}, attributes);  // to 3×4
  const std::vector<float> x(layer.inputs[0].tensor.values<float>().begin(),
                             layer.inputs[0].tensor.values<float>().end());
  // Rows begin at 0, 2 and 4 of 5, columns at −2, 0, 2 and 4 of 6. `rows` and `columns`: what the last
  // window's divisor counts.
  const auto means = [&](int rows, int columns, double factor = 1.0) {
    return [=, &x](std::span<float> y) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t row = i / 4 % 3;
        const std::size_t column = i % 4;
        double sum = 0.0;
        for (std::size_t r = 2 * row; r < std::min<std::size_t>(2 * row + 3, 5); ++r)
          for (std::size_t c = 2 * column; c < 2 * column + 3; ++c)
            if (c >= 2 && c < 8) sum += static_cast<double>(x[i / 12 * 30 + r * 6 + c - 2]);
        y[i] = static_cast<float>(factor * sum / (row == 2 ? rows : 3) / (column == 3 ? columns : 3));
      }
    };
  };
  CHECK_FALSE(is_bad(layer.verdict(means(2, 2)).verdict));
  const LayerVerdict row = layer.verdict(means(1, 2));
  CHECK(cause_of(row) == "attribute.pool_divisor");
  CHECK(cause_text_of(row) == "a mean divided by another count of elements (padding at the end: 0, 0)");
  const LayerVerdict whole = layer.verdict(means(3, 3));
  CHECK(cause_of(whole) == "attribute.pool_divisor");
  CHECK(cause_text_of(whole) == "a mean divided by another count of elements (padding at the end: any, any)");
  CHECK(cause_of(layer.verdict(means(1, 2, 1.01))) == "");
}

TEST_CASE("Causes_PaddingLeftOutTwice_IsNamed") {
  const Recorded layer =
      one_node("AveragePool", {1, 2, 7},
               {{"kernel_shape", std::vector<std::int64_t>{4}}, {"pads", std::vector<std::int64_t>{3, 3}}});
  const auto twice = [](float last) {
    return [=](std::span<float> y) {  // 1, 2 and 3 of 4 are inside at both ends
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t inside = std::min({i % 10 + 1, 10 - i % 10, std::size_t{4}});
        y[i] *= inside == 3 ? last : 4.0f / static_cast<float>(inside);
      }
    };
  };
  const LayerVerdict wrong = layer.verdict(twice(4.0f / 3.0f));
  CHECK(cause_of(wrong) == "attribute.pool_divisor");
  CHECK(cause_text_of(wrong) == "a mean divided by another count of elements (the padding left out twice)");
  CHECK(cause_of(layer.verdict(twice(1.0f))) == "");
}

TEST_CASE("Causes_PoolingsOfAPad_AreNamed") {
  for (const std::string op : {"AveragePool", "MaxPool"}) {
    CAPTURE(op);
    Rng rng(5);
    Tensor x = random_tensor(rng, {1, 2, 5, 6});
    for (float& value : x.mutable_values<float>()) value = -std::fabs(value);
    const auto graph_of = [&](bool merged) {
      ModelBuilder builder;
      builder.input("x", DType::float32, {1, 2, 5, 6});
      std::vector<Attribute> attributes = {{"kernel_shape", std::vector<std::int64_t>{3, 3}}};
      if (merged)
        attributes.push_back({"pads", std::vector<std::int64_t>{1, 1, 1, 1}});
      else
        builder.initializer("p", tensor<std::int64_t>({8}, {0, 0, 1, 1, 0, 0, 1, 1}))
            .node("Pad", {"x", "p"}, {"a"});
      return built(builder.node(op, {merged ? "x" : "a"}, {"y"}, attributes).output("y"));
    };
    const Graph merged = graph_of(true);
    ThreadPool threads(1);
    const Tensor* const given[] = {&x};
    auto made = evaluate_strict(merged.nodes[0], given, threads);
    REQUIRE(made.ok());
    const Graph graph = graph_of(false);
    const auto cause = [&](float factor) {
      Tensor y = made->front();
      for (float& value : y.mutable_values<float>()) value *= factor;
      Trace trace;
      trace.tensors = {{"x", x}, {"y", y}};
      const auto verification = verify(graph, "", trace, threads);
      REQUIRE(verification.ok());
      return cause_of(verification->layers.back());
    };
    CHECK(cause(1.0f) == "attribute.pad_merged");
    CHECK(cause(1.01f) == "");
  }
}

TEST_CASE("Causes_MaximumFromTheSmallestNumber_IsNamed") {
  Recorded layer = one_node("MaxPool", {1, 2, 8, 8}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  for (float& value : layer.inputs[0].tensor.mutable_values<float>()) value = -std::fabs(value) - 0.1f;
  CHECK(cause_of(layer.verdict([](std::span<float> y) {
          std::ranges::fill(y, std::numeric_limits<float>::min());
        })) == "attribute.maximum_from_smallest");
  CHECK(cause_of(layer.verdict([](std::span<float> y) { std::ranges::fill(y, 0.5f); })) == "");
}

TEST_CASE("Causes_RightLayers_ExplainNothing") {
  for (const char* const op : {"Sigmoid", "Tanh", "Relu", "Softmax"}) {
    const LayerVerdict right = one_node(op, {3, 40}).verdict([](std::span<float>) {});
    CHECK_FALSE(is_bad(right.verdict));
    CHECK_FALSE(right.explanation.has_value());
  }
}

TEST_CASE("Causes_WrongElementsOfAnotherShape_AreNotExplained") {
  ThreadPool threads(1);
  const Recorded layer = one_node("Relu", {4, 6});
  Trace trace;
  trace.tensors = layer.inputs;
  trace.tensors.push_back({"y", tensor<float>({6, 4}, std::vector<float>(24, 1.0f))});
  const auto verification = verify(layer.graph, "", trace, threads);
  REQUIRE(verification.ok());
  CHECK(verification->layers.front().verdict == Verdict::fault);
  CHECK_FALSE(verification->layers.front().explanation.has_value());
}

TEST_CASE("Causes_RightElementsOfAnotherShape_AreNamed") {
  ThreadPool threads(1);
  Rng rng(8);
  const Tensor x = random_tensor(rng, {3, 2, 2});
  const Tensor axes = tensor<std::int64_t>({1}, {1});
  const auto cause = [&](const std::string& op, std::int64_t keeps, const Shape& shape, float factor) {
    std::vector<Attribute> attributes;
    std::vector<std::string> reads = {"x"};
    std::vector<const Tensor*> given = {&x};
    if (op != "Relu") {
      attributes = {{"keepdims", keeps}};
      reads.emplace_back("axes");
      given.push_back(&axes);
    }
    const Graph graph = built(ModelBuilder()
                                  .input("x", DType::float32, {3, 2, 2})
                                  .initializer("axes", axes)
                                  .node(op, reads, {"y"}, attributes)
                                  .output("y"));
    auto made = evaluate_strict(graph.nodes[0], given, threads);
    REQUIRE(made.ok());
    std::vector<float> values(made->front().values<float>().begin(), made->front().values<float>().end());
    values.front() = values.front() * factor + (factor - 1.0f);
    Trace trace;
    trace.tensors = {{"x", x}, {"y", tensor<float>(shape, values)}};
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE(verification.ok());
    const LayerVerdict& verdict = verification->layers.front();
    CHECK(verdict.verdict == Verdict::fault);
    return verdict.explanation ? cause_text_of(verdict) : "";
  };
  CHECK(cause("ReduceSum", 1, {3, 2}, 1.0f) == "keepdims the other way");
  CHECK(cause("ReduceSum", 0, {3, 1, 2}, 1.0f) == "keepdims the other way");
  CHECK(cause("ReduceSum", 1, {2, 3}, 1.0f) == "the right elements in another shape");
  CHECK(cause("ReduceSum", 1, {3, 2}, 1.01f) == "");
  CHECK(cause("Relu", 0, {12}, 1.0f) == "the right elements in another shape");
  CHECK(cause("Relu", 0, {12}, 1.01f) == "");
}

// A few wrong elements may look like many things: nothing is claimed.
TEST_CASE("Causes_FewWrongElements_AreNotEvidence") {
  const LayerVerdict one = one_node("Sigmoid", {16}).verdict([](std::span<float> y) { y[15] = 0.0f; });
  CHECK(is_bad(one.verdict));
  CHECK(cause_of(one) == "");
  CHECK_FALSE(one.explanation->hypotheses.empty());
}

}  // namespace driftscope::test::causes_test
