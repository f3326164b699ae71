// Traces of networks with only inputs and outputs: correct ones are never a fault, in any order of their
// sums; wrong ones never pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/imitation.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::group_estimate_test {
namespace {

// `depth` layers of MatMul, Tanh or Relu, with a skip connection every other one.
Graph deep_net(Rng& rng, int depth, bool smooth) {
  ModelBuilder model("deep");
  model.opset(17).input("x", DType::float32, {5, 24});
  std::string last = "x";
  std::string skip = "x";
  for (int i = 0; i < depth; ++i) {
    const auto name = [&](const char* what) { return what + std::to_string(i); };
    model.initializer(name("w"), drawn({24, 24}, Kind::normal, rng, smooth ? 0.3f : 0.25f))
        .node("MatMul", {last, name("w")}, {name("m")})
        .node(smooth ? "Tanh" : "Relu", {name("m")}, {name("a")});
    last = name("a");
    if (i % 2 == 1) {
      model.node("Add", {last, skip}, {name("s")});
      last = skip = name("s");
    }
  }
  model.initializer("v", drawn({24, 10}, Kind::normal, rng, 0.4f))
      .node("MatMul", {last, "v"}, {"y"})
      .output("y");
  return built(model);
}

Trace outputs_only(const Graph& graph, const Arithmetic& arithmetic, const Tensor& input) {
  Trace trace = Imitation(graph, arithmetic).run({{"x", input}});
  std::erase_if(trace.tensors, [](const NamedTensor& t) { return t.name != "x" && t.name != "y"; });
  return trace;
}

std::vector<std::byte> bytes_of(const Graph& graph, const Trace& trace) {
  std::vector<std::byte> all;
  const auto add = [&](const Tensor& tensor) {
    all.insert(all.end(), tensor.bytes().begin(), tensor.bytes().end());
  };
  for (const NamedTensor& value : trace.tensors) add(value.tensor);
  for (const Value& value : graph.values)
    if (value.constant) add(*value.constant);
  return all;
}

LayerVerdict verdict_of(const Graph& graph, const Trace& trace) {
  ThreadPool threads(2);
  const std::vector<std::byte> before = bytes_of(graph, trace);
  const auto verification = verify(graph, "", trace, threads);
  CHECK(bytes_of(graph, trace) == before);  // the runs perturb copies
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  REQUIRE(verification->layers.size() == 1);
  return verification->layers[0];
}

using Change = void (*)(std::span<float>);
struct Spoiled {
  const char* name;
  Change change;
};
const Spoiled all_spoiled[] = {
    {"zeros", [](std::span<float> y) { std::ranges::fill(y, 0.0f); }},
    {"mean", [](std::span<float> y) { std::ranges::fill(y, y[0]); }},
    {"rolled", [](std::span<float> y) { std::ranges::rotate(y, y.begin() + 1); }},
    {"swapped",
     [](std::span<float> y) { std::iter_swap(std::ranges::max_element(y), std::ranges::min_element(y)); }},
    {"scaled",
     [](std::span<float> y) {
       for (float& x : y) x *= 1.01f;
     }},
    {"negated",
     [](std::span<float> y) {
       for (float& x : y) x = -x;
     }},
};

void check_network(const Graph& graph, const Tensor& input) {
  for (const Arithmetic& arithmetic : correct_arithmetics()) {
    CAPTURE(arithmetic.name);
    const LayerVerdict layer = verdict_of(graph, outputs_only(graph, arithmetic, input));
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used_statistical);
    CHECK(layer.verdict <= Verdict::rounding);
  }
  for (const Spoiled& spoiled : all_spoiled) {
    CAPTURE(spoiled.name);
    Trace trace = outputs_only(graph, correct_arithmetics().front(), input);
    for (NamedTensor& named : trace.tensors)
      if (named.name == "y") spoiled.change(named.tensor.mutable_values<float>());
    const LayerVerdict layer = verdict_of(graph, trace);
    CAPTURE(reason_of(layer));
    CHECK(layer.verdict == Verdict::fault);
    CHECK(layer.budget_used > 1.0);
    CHECK(layer.worst.has_value());
  }
}

}  // namespace

TEST_CASE("Verify_DeepNetworkFromOutputsAlone_TellsRightFromWrong") {
  const std::uint64_t first = test_seed(80);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(4); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Graph graph = deep_net(rng, 12, seed % 2 == 0);
    check_network(graph, drawn({5, 24}, Kind::normal, rng));
  }
}

TEST_CASE("Verify_ConvolutionalNetworkFromOutputsAlone_TellsRightFromWrong" * doctest::test_suite("large")) {
  const std::uint64_t first = test_seed(81);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(2); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Shape shape = {1, 3, 12, 11};
    check_network(convolutional_net(rng, shape), drawn(shape, Kind::normal, rng));
  }
}

TEST_CASE("Verify_GroupThatRounds_IsNeverAFaultByEstimates") {
  // Runs on one side of a jump say nothing about the other side.
  ModelBuilder model;
  Rng rng(4);
  model.opset(17).input("x", DType::float32, {4, 24});
  std::string last = "x";
  for (int i = 0; i < 14; ++i) {
    const auto name = [&](const char* what) { return what + std::to_string(i); };
    model.initializer(name("w"), drawn({24, 24}, Kind::normal, rng, 0.3f))
        .node("MatMul", {last, name("w")}, {name("m")})
        .node("Tanh", {name("m")}, {name("t")});
    last = name("t");
  }
  model.initializer("eight", tensor<float>({}, {8.0f}))
      .node("Mul", {last, "eight"}, {"e"})
      .node("Round", {"e"}, {"r"})
      .initializer("v", drawn({24, 10}, Kind::normal, rng, 0.4f))
      .node("MatMul", {"r", "v"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  Trace trace = outputs_only(graph, correct_arithmetics().front(), drawn({4, 24}, Kind::normal, rng));
  CHECK(verdict_of(graph, trace).verdict < Verdict::suspect);
  for (NamedTensor& named : trace.tensors)
    if (named.name == "y") std::ranges::fill(named.tensor.mutable_values<float>(), 0.0f);
  const LayerVerdict layer = verdict_of(graph, trace);
  CAPTURE(reason_of(layer));
  CHECK(layer.verdict == Verdict::unjudged);
}

TEST_CASE("Verify_GroupWhoseFunctionSaturates_MayRoundWhereTheNextIsSteep") {
  // tanh(40) is 1, whatever unit in the last place x is moved by. A tanh of two units more is correct, and
  // acosh makes 7e-4 of it.
  ModelBuilder model("saturated");
  model.opset(17).input("x", DType::float32, {1, 8}).node("Tanh", {"x"}, {"t"}).node("Acosh", {"t"}, {"y"});
  const Graph graph = built(model.output("y"));
  const std::vector<float> x = {40, 41, 42, 43, 44, 45, 46, 47};
  std::vector<float> y(8, 0.0f);
  Trace trace;
  trace.target = "pc/ort";
  trace.tensors = {{"x", tensor<float>({1, 8}, x)}, {"y", tensor<float>({1, 8}, y)}};
  CHECK(verdict_of(graph, trace).verdict == Verdict::identical);
  y[3] = std::acosh(1.0f + 0x1p-22f);
  trace.tensors[1].tensor = tensor<float>({1, 8}, y);
  const LayerVerdict layer = verdict_of(graph, trace);
  CHECK_MESSAGE(layer.verdict != Verdict::fault, reason_of(layer));
}

TEST_CASE("Verify_GroupWithAnInaccurateFunction_IsGrantedItsAccuracy") {
  // ONNX Runtime's tanh inside RNN is off by up to 2e-7, which is much of a small number.
  ModelBuilder model("small");
  model.opset(17)
      .input("x", DType::float32, {1, 1, 3})
      .initializer("w", tensor<float>({1, 2, 3}, {0.5f, -0.25f, 0.125f, 1.0f, 0.5f, -0.5f}))
      .initializer("r", tensor<float>({1, 2, 2}, {0.5f, 0.25f, -0.5f, 0.125f}))
      .initializer("shape", tensor<std::int64_t>({1}, {2}))
      .node("RNN", {"x", "w", "r"}, {"h"}, {integer("hidden_size", 2)})
      .node("Reshape", {"h", "shape"}, {"y"});
  const Graph graph = built(model.output("y"));
  const float right[] = {0.5e-8f - 0.5e-8f + 0.375e-8f, 1e-8f + 1e-8f - 1.5e-8f};
  Trace trace;
  trace.target = "pc/ort";
  trace.tensors = {{"x", tensor<float>({1, 1, 3}, {1e-8f, 2e-8f, 3e-8f})},
                   {"y", tensor<float>({2}, {right[0] + 4e-8f, right[1]})}};
  const LayerVerdict layer = verdict_of(graph, trace);
  CHECK_MESSAGE(layer.verdict != Verdict::fault, reason_of(layer));
  trace.tensors[1].tensor = tensor<float>({2}, {right[0] + 1e-3f, right[1]});
  CHECK(verdict_of(graph, trace).verdict == Verdict::fault);
}

TEST_CASE("Verify_GroupThatDividesByWhatMayRoundToZero_MayBeInfinite") {
  // ONNX Runtime's tanh inside RNN makes 0 of 1e-8.
  ModelBuilder model("divides");
  model.opset(17)
      .input("x", DType::float32, {1, 1, 3})
      .initializer("w", tensor<float>({1, 4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}))
      .initializer("r", tensor<float>({1, 4, 4}, std::vector<float>(16, 0.0f)))
      .node("RNN", {"x", "w", "r"}, {"h"}, {integer("hidden_size", 4)})
      .node("Reciprocal", {"h"}, {"y"});
  const Graph graph = built(model.output("y"));
  const float infinite = std::numeric_limits<float>::infinity();
  Trace trace;
  trace.target = "pc/ort";
  trace.tensors = {{"x", tensor<float>({1, 1, 3}, {1e-8f, 2e-8f, 3e-8f})},
                   {"y", tensor<float>({1, 1, 1, 4}, {infinite, 5e7f, 3.3333e7f, 1.6667e7f})}};
  const LayerVerdict layer = verdict_of(graph, trace);
  CHECK_MESSAGE(layer.verdict != Verdict::fault, reason_of(layer));
}

TEST_CASE("Verify_GroupWithALaneWithoutVariance_MayNormalizeItsRounding") {
  // One number everywhere: its mean rounds, and what is left of it is divided by its own size.
  ModelBuilder model("constant lanes");
  model.opset(17)
      .input("x", DType::float32, {1})
      .initializer("shape", tensor<std::int64_t>({3}, {1, 4, 17}))
      .initializer("scale", tensor<float>({4}, {1, 1, 1, 1}))
      .initializer("bias", tensor<float>({4}, {0.5f, 1.0f, -0.5f, 0.25f}))
      .node("Expand", {"x", "shape"}, {"w"})
      .node("InstanceNormalization", {"w", "scale", "bias"}, {"z"}, {real("epsilon", 1e-12f)})
      .node("Neg", {"z"}, {"y"});
  const Graph graph = built(model.output("y"));
  std::vector<float> y;
  for (const float bias : {0.5f, 1.0f, -0.5f, 0.25f}) y.insert(y.end(), 17, -bias - 0.99f);
  Trace trace;
  trace.target = "pc/ort";
  trace.tensors = {{"x", tensor<float>({1}, {102.01871f})}, {"y", tensor<float>({1, 4, 17}, y)}};
  const LayerVerdict layer = verdict_of(graph, trace);
  CHECK_MESSAGE(layer.verdict != Verdict::fault, reason_of(layer));
}

}  // namespace driftscope::test::group_estimate_test
