#include "unit/gradient/gradient_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/gradient/gradient.hpp"
#include "core/model/onnx_writer.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test {
namespace {

Tensor random_doubles(Rng& rng, const Shape& shape, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& x : values) x = low + (high - low) * static_cast<double>(rng.uniform());
  return tensor<double>(shape, values);
}

std::vector<Dim> dims_of(const Shape& shape, bool open_batch) {
  std::vector<Dim> dims;
  for (const std::int64_t size : shape) dims.emplace_back(size);
  if (open_batch && !dims.empty()) dims[0] = "N";
  return dims;
}

// Σ weights·y over all outputs as output "total"; without weights the outputs themselves.
ModelBuilder model_of(const DifferentiatedNode& node, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& weights) {
  ModelBuilder builder;
  builder.opset(node.opset);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.push_back("i" + std::to_string(i));
    builder.input(names.back(), DType::float64, dims_of(inputs[i].shape(), node.open_batch && i == 0));
  }
  for (const NamedTensor& constant : node.constants) {
    builder.initializer(constant.name, constant.tensor);
    names.push_back(constant.name);
  }
  builder.node(node.op, node.names.empty() ? names : node.names, node.outputs, node.attributes).named("n");
  std::string sum;
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    const std::string& y = node.outputs[o];
    if (y.empty()) continue;
    if (weights.empty()) {
      builder.output(y);
      continue;
    }
    builder.initializer("w_" + y, weights[o]);
    builder.node("Mul", {y, "w_" + y}, {"p_" + y});
    builder.node("ReduceSum", {"p_" + y}, {"s_" + y}, {integer("keepdims", 0)});
    if (!sum.empty()) builder.node("Add", {sum, "s_" + y}, {"t_" + y});
    sum = sum.empty() ? "s_" + y : "t_" + y;
  }
  if (!weights.empty()) builder.node("Identity", {sum}, {"total"}).output("total", DType::float64, {});
  return builder;
}

struct Runner {
  Graph graph;
  ThreadPool threads{1};

  std::vector<double> values(const std::vector<Tensor>& inputs, const std::string& name,
                             Shape* shape = nullptr) {
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < inputs.size(); ++i) named.push_back({"i" + std::to_string(i), inputs[i]});
    const auto all = run_graph<double>(graph, named, threads);
    REQUIRE_MESSAGE(all.ok(), all.error().message);
    const Evaluated<double>& value = (*all)[*graph.find_value(name)];
    if (shape != nullptr) *shape = value.shape;
    return is_known(value) ? lift_values<double>(value.tensor) : value.real;
  }
};

}  // namespace

void check_gradient(const DifferentiatedNode& node, std::uint64_t seed) {
  SEED_INFO(seed);
  INFO(node.op);
  Rng rng(seed);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    inputs.push_back(node.values.empty() ? random_doubles(rng, node.inputs[i], node.low, node.high)
                                         : tensor<double>(node.inputs[i], node.values[i]));
  Runner plain{built(model_of(node, inputs, {}))};
  std::vector<Tensor> weights;
  for (const std::string& output : node.outputs) {
    Shape shape;
    if (!output.empty()) plain.values(inputs, output, &shape);
    if (node.open_batch) shape[0] = 1;
    weights.push_back(random_doubles(rng, shape, 0.5, 1.5));
  }
  const auto bytes = model_of(node, inputs, weights).bytes();
  const auto model = read_onnx(bytes);
  REQUIRE(model.ok());
  GradientRequest request{.of = "total"};
  for (std::size_t i = 0; i < inputs.size(); ++i) request.wrt.push_back("i" + std::to_string(i));
  const auto gradient = make_gradient(*model, request);
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  const auto written = write_onnx(gradient->model);
  REQUIRE_MESSAGE(written.ok(), written.error().message);
  Runner forward{built(bytes)};
  Runner backward{built(*written)};
  REQUIRE(infer_shapes(backward.graph).ok());
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    Shape shape;
    const auto got = backward.values(inputs, gradient->gradients[i], &shape);
    CHECK(shape == inputs[i].shape());
    REQUIRE(static_cast<std::int64_t>(got.size()) == inputs[i].elements());
    std::vector<std::pair<std::size_t, double>> wanted;
    double largest = 1e-3;
    for (int sample = 0; sample < 24; ++sample) {
      const std::size_t at = got.size() <= 24 ? static_cast<std::size_t>(sample) : rng.below(got.size());
      if (at >= got.size()) break;
      std::array<double, 2> sums{};
      for (const int side : {0, 1}) {
        std::vector<Tensor> moved = inputs;
        const auto old = moved[i].values<double>();
        std::vector<double> changed(old.begin(), old.end());
        changed[at] += side == 0 ? -step : step;
        moved[i] = tensor<double>(moved[i].shape(), changed);
        sums[static_cast<std::size_t>(side)] = forward.values(moved, "total")[0];
      }
      wanted.emplace_back(at, (sums[1] - sums[0]) / (2.0 * step));
      largest = std::max(largest, std::abs(wanted.back().second));
    }
    for (const auto& [at, want] : wanted) {
      CAPTURE(at);
      CHECK(std::abs(got[at] - want) <= 1e-6 * largest);
    }
  }
}

}  // namespace driftscope::test
