// A small network and what conversions make of it, run by the reference engine and checked.
// Clients: the tests of core/convert_check.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/convert_check/check.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test {

/// A graph with what it computes from seeded inputs.
struct RunModel {
  std::shared_ptr<const Graph> graph;
  Trace trace;
};

inline Graph inferred(const ModelBuilder& builder) {
  auto graph = infer_shapes(built(builder));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

inline RunModel run_model(const Graph& graph, const std::vector<NamedTensor>& inputs) {
  auto bound = bind_inputs(graph, inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine("reference");
  REQUIRE(engine.ok());
  auto session = (*engine)->prepare(bound->graph, {});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  auto trace = record(bound->graph, **session, bound->inputs, {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  return {bound->graph, *std::move(trace)};
}

inline RunModel run_model(const Graph& graph) {
  const auto inputs = seeded_inputs(graph, 7);
  REQUIRE(inputs.ok());
  return run_model(graph, *inputs);
}

/// B on A's input, and the check of both.
inline convert::Check checked(const ModelBuilder& a, const ModelBuilder& b,
                              const convert::ValueMap& map = {}) {
  const RunModel original = run_model(inferred(a));
  const Graph graph = inferred(b);
  std::vector<NamedTensor> inputs;
  for (const ValueId id : original.graph->inputs)
    inputs.push_back({original.graph->value_name(id), *original.trace.find(original.graph->value_name(id))});
  const auto matched = convert::match_inputs(inputs, graph, map);
  REQUIRE_MESSAGE(matched.ok(), matched.error().message);
  const RunModel converted = run_model(graph, matched->tensors);
  const convert::ValueMap whole = convert::with_inputs(map, *matched);
  ThreadPool threads(1);
  auto check =
      convert::check_conversion(convert::Side(original.graph.get(), original.trace),
                                convert::Side(converted.graph.get(), converted.trace), whole, threads);
  REQUIRE_MESSAGE(check.ok(), check.error().message);
  return *std::move(check);
}

/// What a conversion may have done to the network.
struct Conversion {
  std::string prefix = {};  ///< of all names but those of inputs: another exporter's
  std::vector<std::int64_t> pads = {1, 1, 1, 1};
  bool relu = true;
  bool folded = false;    ///< BatchNormalization in the convolution
  float epsilon = 1e-3f;  ///< with which it is folded
  float bias_off = 0.0f;  ///< of every channel of the folded bias
  Tensor weights = {};    ///< of the first convolution
  Tensor dense = {};      ///< [8, 5]
  float alpha = 1.0f;     ///< of the Gemm
};

inline Tensor random_floats(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  return random_tensor(rng, std::move(shape));
}
inline Tensor conv_weights() { return random_floats({8, 3, 3, 3}, 11); }
inline Tensor dense_weights() { return random_floats({8, 5}, 12); }

/// Conv, BatchNormalization, Relu, GlobalAveragePool, Flatten, Gemm: "x" 1x3x7x7 to "y" 1x5.
inline ModelBuilder small_network(Conversion made = {}) {
  if (made.weights.rank() != 4) made.weights = conv_weights();
  if (made.dense.rank() != 2) made.dense = dense_weights();
  const std::string& p = made.prefix;
  const Tensor gamma = random_floats({8}, 1);
  const Tensor beta = random_floats({8}, 2);
  const Tensor mean = random_floats({8}, 3);
  Tensor variance = random_floats({8}, 4);
  for (float& v : variance.mutable_values<float>()) v = v * v + 0.01f;
  ModelBuilder builder("small");
  builder.input("x", DType::float32, {1, 3, 7, 7});
  if (made.folded) {
    Tensor folded = tensor<float>({8, 3, 3, 3}, std::vector<float>(216));
    Tensor bias = tensor<float>({8}, std::vector<float>(8));
    for (std::size_t i = 0; i < 216; ++i) {
      const std::size_t c = i / 27;
      const double r =
          static_cast<double>(gamma.values<float>()[c]) /
          std::sqrt(static_cast<double>(variance.values<float>()[c]) + static_cast<double>(made.epsilon));
      folded.mutable_values<float>()[i] =
          static_cast<float>(r * static_cast<double>(made.weights.values<float>()[i]));
      bias.mutable_values<float>()[c] = static_cast<float>(static_cast<double>(beta.values<float>()[c]) -
                                                           r * static_cast<double>(mean.values<float>()[c]));
    }
    for (float& b : bias.mutable_values<float>()) b += made.bias_off;
    builder.initializer(p + "w", folded).initializer(p + "b", bias);
    builder.node("Conv", {"x", p + "w", p + "b"}, {p + "conv"}, {ints("pads", made.pads)}).named(p + "Conv");
  } else {
    builder.initializer(p + "w", made.weights).initializer(p + "gamma", gamma).initializer(p + "beta", beta);
    builder.initializer(p + "mean", mean).initializer(p + "variance", variance);
    builder.node("Conv", {"x", p + "w"}, {p + "conv"}, {ints("pads", made.pads)}).named(p + "Conv");
    builder
        .node("BatchNormalization", {p + "conv", p + "gamma", p + "beta", p + "mean", p + "variance"},
              {p + "bn"}, {real("epsilon", 1e-3f)})
        .named(p + "BN");
  }
  const std::string before = made.folded ? p + "conv" : p + "bn";
  if (made.relu) builder.node("Relu", {before}, {p + "relu"}).named(p + "Relu");
  builder.node("GlobalAveragePool", {made.relu ? p + "relu" : before}, {p + "pool"}).named(p + "Pool");
  builder.node("Flatten", {p + "pool"}, {p + "flat"}).named(p + "Flatten");
  builder.initializer(p + "dense", made.dense);
  builder.node("Gemm", {p + "flat", p + "dense"}, {p + "y"}, {real("alpha", made.alpha)}).named(p + "Gemm");
  return builder.output(p + "y", DType::float32, {1, 5});
}

}  // namespace driftscope::test
