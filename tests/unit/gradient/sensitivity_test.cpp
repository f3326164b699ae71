// What rounding at each layer does to the answer: predicted, and seen.
#include "core/gradient/sensitivity.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/gradient/gradient.hpp"
#include "core/model/onnx_writer.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/random_tensor.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test {
namespace {

ModelBuilder network(Rng& rng) {
  ModelBuilder builder;
  builder.opset(17).input("x", DType::float32, {1, 2, 8, 8});
  builder.initializer("w", random_tensor(rng, {3, 2, 3, 3})).initializer("v", random_tensor(rng, {3, 4}));
  builder.node("Conv", {"x", "w"}, {"conv"}).node("Tanh", {"conv"}, {"tanh"});
  builder.node("GlobalAveragePool", {"tanh"}, {"pool"}).node("Flatten", {"pool"}, {"flat"});
  return builder.node("MatMul", {"flat", "v"}, {"y"}).output("y");
}

}  // namespace

TEST_CASE("Sensitivity_PredictsWhatFloat32DoesToTheAnswer") {
  const std::uint64_t seed = test_seed(11);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto bytes = network(rng).bytes();
  const auto model = read_onnx(bytes);
  REQUIRE(model.ok());
  const Graph graph = built(bytes);
  const auto shaped = infer_shapes(graph);
  REQUIRE(shaped.ok());
  const auto values = sensitive_values(*shaped);
  CHECK(values == std::vector<std::string>{"conv", "tanh", "pool", "flat", "y"});
  const auto gradient = make_gradient(*model, {.of = "y", .wrt = values});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  const auto written = write_onnx(gradient->model);
  REQUIRE(written.ok());
  const Graph backward = built(*written);
  ThreadPool threads(1);
  const std::vector<NamedTensor> inputs = {{"x", random_tensor(rng, {1, 2, 8, 8})}};
  const auto slopes = run_graph_strict(backward, inputs, threads);
  const auto strict = run_graph_strict(graph, inputs, threads);
  const auto exact = run_graph<double>(graph, inputs, threads);
  REQUIRE((slopes.ok() && strict.ok() && exact.ok()));

  // The layers' own errors are differences from what the node makes of the same inputs; those of the whole
  // network follow by the chain rule. Here: the error of each value, made by its layer alone.
  std::vector<LayerError> errors;
  double seen = 0.0;
  for (const std::string& name : values) {
    const ValueId id = *graph.find_value(name);
    std::vector<Evaluated<double>> read;
    const Node& node = graph.nodes[graph.values[id].producer];
    std::vector<const Evaluated<double>*> pointers;
    for (const ValueId input : node.inputs) {
      const Value& value = graph.values[input];
      read.push_back(known<double>(value.constant              ? *value.constant
                                   : value.producer == no_node ? inputs[0].tensor
                                                               : (*strict)[input]));
    }
    for (const auto& one : read) pointers.push_back(&one);
    const auto made = evaluate<double>(node, pointers, threads);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    const Evaluated<double>& want = (*made)[0];
    const auto wanted = is_known(want) ? lift_values<double>(want.tensor) : want.real;
    const auto got = as_doubles((*strict)[id]);
    errors.push_back({name, {}});
    for (std::size_t i = 0; i < got.size(); ++i) errors.back().error.push_back(got[i] - wanted[i]);
  }
  const auto layers = layer_sensitivity(
      errors, [&](const std::string& name) { return &(*slopes)[*backward.find_value("grad/" + name)]; });
  REQUIRE_MESSAGE(layers.ok(), layers.error().message);
  double moved = 0.0;
  double shares = 0.0;
  for (const LayerSensitivity& layer : *layers) {
    moved += layer.moved;
    shares += layer.share;
    CHECK(std::abs(layer.moved) <= layer.largest);
    CHECK(layer.likely <= layer.largest);
  }
  const ValueId y = *graph.find_value("y");
  const auto got = as_doubles((*strict)[y]);
  for (std::size_t i = 0; i < got.size(); ++i) seen += got[i] - (*exact)[y].real[i];
  const PredictedMove predicted = predicted_move(*layers);
  CHECK(shares == doctest::Approx(1.0));
  CHECK(std::abs(seen) > 0.0);
  CHECK(std::abs(moved - seen) <= 0.01 * std::abs(seen));
  CHECK(std::abs(seen) <= predicted.largest);
  CHECK(std::abs(seen) <= 6.0 * predicted.likely);
}

TEST_CASE("Sensitivity_BadErrors_AreRefused") {
  const Tensor slopes = tensor<float>({2}, {1.0f, 0.0f});
  const auto with = [&](std::vector<double> error, const Tensor* gradient) {
    const std::vector<LayerError> errors = {{"v", std::move(error)}};
    const auto layers = layer_sensitivity(errors, [&](const std::string&) { return gradient; });
    return layers.ok() ? "" : layers.error().message;
  };
  CHECK(with({1.0, 2.0}, nullptr).find("its gradient is not there") != std::string::npos);
  CHECK(with({1.0}, &slopes).find("has 1 elements") != std::string::npos);
  CHECK(with({std::nan(""), 0.0}, &slopes).find("not finite") != std::string::npos);
  // What the answer does not depend on may be unbounded.
  CHECK(with({1.0, HUGE_VAL}, &slopes).empty());
}

}  // namespace driftscope::test
