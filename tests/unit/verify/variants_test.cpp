// Layers computed by known algorithms pass with their names; faults of similar size do not.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/variant.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::variants_test {
namespace {

Trace trace_of(const std::vector<std::pair<std::string, Tensor>>& tensors, const std::string& run = "{}") {
  Trace trace;
  for (const auto& [name, tensor] : tensors) trace.tensors.push_back({name, tensor});
  trace.run = run;
  return trace;
}

LayerVerdict verdict_of(const Graph& graph, const Trace& trace) {
  ThreadPool threads(2);
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  REQUIRE(verification->layers.size() == 1);
  return verification->layers.front();
}

// y = f(x), element by element, in float.
struct Formula {
  const char* op;
  float (*compute)(float);
  const char* note;  // of the algorithm that explains it
  float low;
  float high;
};

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

const Formula formulas[] = {
    {"Tanh", [](float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }, "tanh as 2σ(2x) − 1", -2.0f, 2.0f},
    {"Sigmoid", [](float x) { return 0.5f * (1.0f + std::tanh(0.5f * x)); }, "sigmoid as (1 + tanh(x/2))/2",
     -12.0f, 4.0f},
    {"Exp", [](float x) { return std::exp2(x * 1.44269504f); }, "exp through exp2", -80.0f, 80.0f},
    {"Erf",
     [](float x) {  // Abramowitz and Stegun 7.1.26
       const float t = 1.0f / (1.0f + 0.3275911f * std::fabs(x));
       const float p =
           ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) *
           t;
       return std::copysign(1.0f - p * std::exp(-x * x), x);
     },
     "erf by Abramowitz and Stegun 7.1.26", -3.0f, 3.0f},
};

struct Elementwise {
  Graph graph;
  Tensor x;
  std::vector<float> y;

  explicit Elementwise(const Formula& formula) {
    constexpr std::int64_t count = 20'000;
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(formula.low + (formula.high - formula.low) * static_cast<float>(i) / count);
    for (const float v : values) y.push_back(formula.compute(v));
    x = tensor<float>({count}, values);
    graph =
        built(ModelBuilder().input("x", DType::float32, {count}).node(formula.op, {"x"}, {"y"}).output("y"));
  }
  LayerVerdict verdict(const std::string& run = "{}") const {
    return verdict_of(graph, trace_of({{"x", x}, {"y", tensor<float>({x.shape()[0]}, y)}}, run));
  }
};

// A convolution and what a witness of the table computes for it.
struct Convolution {
  Graph graph;
  Tensor x;
  Tensor y;

  /// `relu`: one follows, and the value before it is not recorded.
  Convolution(const std::string& id, std::uint64_t seed, std::int64_t channels = 24, std::int64_t size = 21,
              bool relu = false) {
    Rng rng(seed);
    x = random_tensor(rng, {2, channels, size, size});
    Tensor w = random_tensor(rng, {16, channels, 3, 3});
    Tensor b = random_tensor(rng, {16});
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, size, size})
        .initializer("w", w)
        .initializer("b", b)
        .node("Conv", {"x", "w", "b"}, {relu ? "c" : "y"}, {ints("pads", {1, 1, 1, 1})});
    if (relu) model.node("Relu", {"c"}, {"y"});
    graph = built(model.output("y"));
    ThreadPool threads(2);
    for (const Variant& algorithm : variant_table().all())
      if (algorithm.id == id) {
        const std::array<const Tensor*, 3> inputs = {&x, &w, &b};
        auto made = algorithm.witness(graph.nodes[0], inputs, threads);
        REQUIRE(made);
        y = *std::move(made);
      }
    REQUIRE(y.elements() > 0);
    for (float& v : y.mutable_values<float>())
      if (relu) v = std::max(v, 0.0f);
  }
  LayerVerdict verdict(const std::function<void(std::span<float>)>& change = {},
                       const std::string& run = "{}") const {
    Tensor changed = tensor<float>(y.shape(), {y.values<float>().begin(), y.values<float>().end()});
    if (change) change(changed.mutable_values<float>());
    return verdict_of(graph, trace_of({{"x", x}, {"y", changed}}, run));
  }
};

}  // namespace

TEST_CASE("Variants_FunctionsByOtherFormulas_AreNamed") {
  for (const Formula& formula : formulas) {
    CAPTURE(std::string(formula.op));
    const LayerVerdict layer = Elementwise(formula).verdict();
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used);
    CHECK(layer.verdict == Verdict::rounding);
    CHECK(reason_of(layer).find(std::string("as by ") + formula.note) == 0);
  }
}

TEST_CASE("Variants_OneElementBeyondTheFormula_IsAFault") {
  for (const Formula& formula : formulas) {
    CAPTURE(std::string(formula.op));
    Elementwise changed(formula);
    changed.y[7'000] += 4e-6f + 1e-4f * std::fabs(changed.y[7'000]);
    CHECK(changed.verdict().verdict == Verdict::fault);
  }
}

TEST_CASE("Variants_Winograd_IsNamed") {
  const std::uint64_t seed = test_seed(20261123);
  SEED_INFO(seed);
  for (const char* id : {"winograd-f4x3", "winograd-f6x3", "fft"}) {
    CAPTURE(std::string(id));
    const LayerVerdict layer = Convolution(id, seed).verdict();
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used);
    CHECK((layer.verdict == Verdict::rounding || layer.verdict == Verdict::identical));
  }
}

// The worst case of a sum is wide for many terms: with few channels the algorithms exceed it.
TEST_CASE("Variants_WinogradBeyondTheBudget_HasItsName") {
  const LayerVerdict layer = Convolution("winograd-f6x3", 1, 1).verdict();
  CAPTURE(layer.budget_used);
  CHECK(layer.verdict == Verdict::rounding);
  CHECK(reason_of(layer).find("as by Winograd F(") == 0);
  // A trace that names another algorithm is judged by that one.
  const Convolution conv("winograd-f6x3", 1, 1);
  CHECK(conv.verdict({}, R"({"algorithms": ["winograd-f2x3"]})").verdict != Verdict::rounding);
  CHECK(conv.verdict({}, R"({"algorithms": "winograd-f6x3"})").verdict == Verdict::rounding);
}

TEST_CASE("Variants_FaultOfWinogradsSize_IsNotExcused" * doctest::test_suite("large")) {
  const Convolution conv("winograd-f6x3", 1, 1);
  const auto values = conv.y.values<float>();
  float largest = 0.0f;
  for (const float v : values) largest = std::max(largest, std::fabs(v));
  CHECK(conv.verdict([&](std::span<float> y) { y[100] += 1e-4f * largest; }).verdict == Verdict::fault);
  CHECK(conv.verdict([&](std::span<float> y) {  // one channel
              for (std::size_t i = 0; i < 21 * 21; ++i) y[i] *= 1.0002f;
            })
            .verdict == Verdict::fault);
  CHECK(conv.verdict([&](std::span<float> y) {  // ten bits of mantissa
              for (float& v : y) v = static_cast<float>(std::ldexp(std::round(std::ldexp(v, 10)), -10));
            })
            .verdict == Verdict::fault);
}

TEST_CASE("Variants_WinogradBeforeARelu_IsNamedAndItsFaultsAreNot") {
  const Convolution conv("winograd-f6x3", 1, 1, 21, true);
  const LayerVerdict clean = conv.verdict();
  CAPTURE(reason_of(clean));
  CHECK(clean.verdict == Verdict::rounding);
  CHECK(reason_of(clean).find("as by Winograd F(") == 0);
  const auto values = conv.y.values<float>();
  const float largest = *std::ranges::max_element(values);
  CHECK(is_bad(conv.verdict([&](std::span<float> y) { y[100] += 1e-4f * largest; }).verdict));
  CHECK(is_bad(conv.verdict([&](std::span<float> y) {  // one channel
                     for (std::size_t i = 0; i < 21 * 21; ++i) y[i] *= 1.0002f;
                   })
                   .verdict));
  CHECK(is_bad(conv.verdict([&](std::span<float> y) { y[7] = std::nanf(""); }).verdict));
}

TEST_CASE("Variants_Witnesses_ComputeTheConvolution") {
  for (const Variant& algorithm : variant_table().all()) {
    const bool of_short_sums = algorithm.id == "fft" || algorithm.id.starts_with("winograd");
    if (algorithm.witness == nullptr || !of_short_sums) continue;
    CAPTURE(std::string(algorithm.id));
    Rng rng(5);
    struct Case {
      Shape x, w;
      std::vector<Attribute> attributes;
    };
    const Case cases[] = {
        {{1, 2, 9, 11}, {3, 2, 3, 3}, {}},
        {{2, 4, 8, 5}, {4, 2, 3, 3}, {ints("pads", {1, 0, 2, 1}), integer("group", 2)}},
        {{1, 3, 7, 7}, {6, 1, 3, 3}, {ints("pads", {1, 1, 1, 1}), integer("group", 3)}},
        {{1, 2, 12, 9}, {2, 2, 5, 2}, {ints("strides", {2, 1}), ints("pads", {2, 1, 2, 0})}},
        {{1, 3, 10, 9}, {2, 3, 5, 5}, {ints("pads", {2, 2, 1, 0})}},
    };
    for (const Case& one : cases) {
      const Tensor x = random_tensor(rng, one.x);
      const Tensor w = random_tensor(rng, one.w);
      std::vector<Dim> dims(one.x.begin(), one.x.end());
      const Graph graph = built(ModelBuilder()
                                    .input("x", DType::float32, dims)
                                    .initializer("w", w)
                                    .node("Conv", {"x", "w"}, {"y"}, one.attributes)
                                    .output("y"));
      ThreadPool threads(2);
      const std::array<const Tensor*, 2> inputs = {&x, &w};
      const auto made = algorithm.witness(graph.nodes[0], inputs, threads);
      if (!made) {
        CHECK(algorithm.id != "fft");
        const bool square = one.w[2] == one.w[3];
        CHECK(!(square && algorithm.id.ends_with(one.w[2] == 3 ? "x3" : "x5")));
        continue;
      }
      const auto want = evaluate_strict(graph.nodes[0], inputs, threads);
      REQUIRE(want.ok());
      REQUIRE(made->shape() == want->front().shape());
      for (std::size_t i = 0; i < made->values<float>().size(); ++i)
        CHECK(made->values<float>()[i] == doctest::Approx(want->front().values<float>()[i]).epsilon(1e-4));
    }
  }
}

}  // namespace driftscope::test::variants_test
