// The gradient of If beside central differences in double, on both ways.
#include <doctest/doctest.h>

#include "core/gradient/gradient.hpp"
#include "core/model/onnx_writer.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test {
namespace {

// then: exp(x·w)·k; else: If on the second condition: tanh(x)·w, or x itself. u = Σ If(…) + Σ x².
ModelBuilder branching() {
  ModelBuilder then;
  then.initializer("k", tensor<double>({}, {0.5}))
      .node("Mul", {"x", "w"}, {"xw"})
      .node("Exp", {"xw"}, {"e"})
      .node("Mul", {"e", "k"}, {"ek"})
      .output("ek", DType::float64, {2, 3});
  ModelBuilder deep;
  deep.node("Tanh", {"x"}, {"t"}).node("Mul", {"t", "w"}, {"tw"}).output("tw", DType::float64, {2, 3});
  ModelBuilder itself;
  itself.node("Identity", {"x"}, {"same"}).output("same", DType::float64, {2, 3});
  ModelBuilder other;
  other.node("If", {"d"}, {"inner"})
      .named("second")
      .graph_attribute("then_branch", deep.graph_message())
      .graph_attribute("else_branch", itself.graph_message())
      .output("inner", DType::float64, {2, 3});
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float64, {2, 3})
      .input("c", DType::boolean, {})
      .input("d", DType::boolean, {})
      .initializer("w", tensor<double>({3}, {0.7, -1.2, 0.4}))
      .node("If", {"c"}, {"y"})
      .named("first")
      .graph_attribute("then_branch", then.graph_message())
      .graph_attribute("else_branch", other.graph_message())
      .node("ReduceSumSquare", {"x"}, {"xx"}, {integer("keepdims", 0)})
      .node("ReduceSum", {"y"}, {"sum"}, {integer("keepdims", 0)})
      .node("Add", {"sum", "xx"}, {"total"})
      .output("total", DType::float64, {});
  return model;
}

Tensor truth(bool value) {
  auto made = Tensor::make(DType::boolean, {});
  REQUIRE(made.ok());
  made->mutable_values<std::uint8_t>()[0] = value ? 1 : 0;
  return *made;
}

std::vector<double> values(const Graph& graph, const std::vector<double>& x, bool c, bool d,
                           const std::string& name) {
  ThreadPool threads(1);
  const std::vector<NamedTensor> inputs = {
      {"x", tensor<double>({2, 3}, x)}, {"c", truth(c)}, {"d", truth(d)}};
  const auto all = run_graph<double>(graph, inputs, threads);
  REQUIRE_MESSAGE(all.ok(), all.error().message);
  const Evaluated<double>& value = (*all)[*graph.find_value(name)];
  return is_known(value) ? lift_values<double>(value.tensor) : value.real;
}

// The model with other weights.
Graph weighted(std::size_t place, double step) {
  auto model = read_onnx(branching().bytes());
  REQUIRE(model.ok());
  for (NamedTensor& one : model->graph.initializers) {
    if (one.name != "w") continue;
    const auto old = one.tensor.values<double>();
    std::vector<double> moved(old.begin(), old.end());
    moved[place] += step;
    one.tensor = tensor<double>({3}, moved);
  }
  const auto bytes = write_onnx(*model);
  REQUIRE(bytes.ok());
  return built(*bytes);
}

}  // namespace

TEST_CASE("GradientRules_If_GoesBackThroughTheBranchThatRan") {
  const auto bytes = branching().bytes();
  const auto model = read_onnx(bytes);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const auto gradient = make_gradient(*model, {.of = "total", .wrt = {"x", "w"}});
  REQUIRE_MESSAGE(gradient.ok(), gradient.error().message);
  const auto written = write_onnx(gradient->model);
  REQUIRE_MESSAGE(written.ok(), written.error().message);
  const Graph forward = built(bytes), backward = built(*written);
  const std::vector<double> x = {0.3, -0.8, 1.1, 0.2, 0.9, -0.4};
  constexpr double step = 1e-5;
  for (const bool c : {true, false})
    for (const bool d : {true, false}) {
      CAPTURE(c);
      CAPTURE(d);
      const auto of_x = values(backward, x, c, d, "grad/x");
      REQUIRE(of_x.size() == x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        auto low = x, high = x;
        low[i] -= step;
        high[i] += step;
        const double want =
            (values(forward, high, c, d, "total")[0] - values(forward, low, c, d, "total")[0]) / (2 * step);
        CHECK(of_x[i] == doctest::Approx(want).epsilon(1e-6));
      }
      const auto of_w = values(backward, x, c, d, "grad/w");
      REQUIRE(of_w.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) {
        const double want = (values(weighted(i, step), x, c, d, "total")[0] -
                             values(weighted(i, -step), x, c, d, "total")[0]) /
                            (2 * step);
        CHECK(of_w[i] == doctest::Approx(want).epsilon(1e-6));
      }
    }
}

TEST_CASE("GradientRules_If_RandomBranches_AreRefused") {
  ModelBuilder noisy;
  noisy.node("RandomNormalLike", {"x"}, {"r"})
      .node("Mul", {"r", "x"}, {"rx"})
      .output("rx", DType::float32, {2});
  ModelBuilder plain;
  plain.node("Neg", {"x"}, {"n"}).output("n", DType::float32, {2});
  ModelBuilder model;
  model.opset(17)
      .input("x", DType::float32, {2})
      .input("c", DType::boolean, {})
      .node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", noisy.graph_message())
      .graph_attribute("else_branch", plain.graph_message())
      .output("y", DType::float32, {2});
  const auto read = read_onnx(model.bytes());
  REQUIRE(read.ok());
  const auto gradient = make_gradient(*read, {.of = "y"});
  REQUIRE_FALSE(gradient.ok());
  CHECK(gradient.error().message.find("branches that draw random numbers") != std::string::npos);
}

}  // namespace driftscope::test
