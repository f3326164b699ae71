// A single node, for tests of corner cases: built through the real reader, run by the kernels.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/eval/infer_shapes.hpp"
#include "unit/ops/graph_case.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test {

/// An input; without a tensor it is omitted.
using Given = std::vector<std::optional<Tensor>>;

struct OneNode {
  std::string op;
  Given inputs;
  std::vector<Attribute> attributes = {};
  std::int64_t opset = 21;
  int outputs = 1;
  std::string domain = "";

  [[nodiscard]] Graph graph() const {
    ModelBuilder builder;
    builder.opset(opset);
    if (!domain.empty()) builder.opset(domain, 1);
    std::vector<std::string> in;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(inputs[i] ? "i" + std::to_string(i) : "");
      if (!inputs[i]) continue;
      std::vector<Dim> dims;
      for (const std::int64_t size : inputs[i]->shape()) dims.emplace_back(size);
      builder.input(in.back(), inputs[i]->dtype(), dims);
    }
    for (int o = 0; o < outputs; ++o) out.push_back("o" + std::to_string(o));
    builder.node(op, in, out, attributes, domain);
    for (const std::string& name : out) builder.output(name);
    return built(builder);
  }

  [[nodiscard]] std::vector<NamedTensor> named() const {
    std::vector<NamedTensor> result;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) result.push_back({"i" + std::to_string(i), *inputs[i]});
    return result;
  }

  /// The strict kernel's results, after checking that all scalars agree on them.
  [[nodiscard]] std::vector<Tensor> run() const {
    const Graph made = graph();
    const std::vector<NamedTensor> given = named();
    const auto results = strict_outputs(made, given);
    REQUIRE_MESSAGE(results.ok(), results.error().message);
    GraphCase c{op, made, given, {}};
    for (std::size_t o = 0; o < results->size(); ++o)
      c.wanted.push_back({"o" + std::to_string(o), (*results)[o]});
    ThreadPool threads(1);
    const auto problems = check_case(c, threads);
    REQUIRE_MESSAGE(problems.ok(), problems.error().message);
    for (const std::string& problem : *problems) FAIL_CHECK(problem);
    return *results;
  }

  /// The first output of the strict kernel, where rounding is the point and the scalars differ.
  [[nodiscard]] std::vector<double> strict_numbers() const {
    const auto results = strict_outputs(graph(), named());
    REQUIRE_MESSAGE(results.ok(), results.error().message);
    return as_doubles((*results)[0]);
  }

  /// The first output as numbers.
  [[nodiscard]] std::vector<double> numbers() const { return as_doubles(run()[0]); }
  [[nodiscard]] Shape shape() const { return run()[0].shape(); }

  /// The error of running it; fails the test when there is none.
  [[nodiscard]] Error error() const {
    const auto results = strict_outputs(graph(), named());
    REQUIRE_MESSAGE(!results.ok(), "the node ran");
    return results.error();
  }

  [[nodiscard]] std::vector<Bounded> bounded() const {
    ThreadPool threads(1);
    const Graph made = graph();
    const auto values = run_graph<Bounded>(made, named(), threads);
    REQUIRE_MESSAGE(values.ok(), values.error().message);
    return (*values)[made.outputs[0]].real;
  }
};

inline Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor<float>(std::move(shape), values);
}
inline Tensor longs(const std::vector<std::int64_t>& values) {
  return tensor<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The inferred shape of the model's value, as text.
[[nodiscard]] inline std::string inferred_shape(const ModelBuilder& builder, const std::string& value) {
  const auto graph = infer_shapes(built(builder));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const auto id = graph->find_value(value);
  REQUIRE(id);
  const auto& shape = graph->values[*id].shape;
  return shape ? shape_text(*shape) : "unknown";
}

/// 0, 1, 2, … in row-major order.
[[nodiscard]] inline Tensor ramp(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return floats(std::move(shape), values);
}

/// The first output of a node whose results are rounded: the reference is near `want`, its bounds are not
/// larger than expected for such numbers, and the strict kernel keeps within them.
inline void close(const OneNode& node, const std::vector<double>& want) {
  const std::vector<Bounded> bounds = node.bounded();
  const std::vector<double> strict = node.strict_numbers();
  REQUIRE(bounds.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO(i);
    CHECK(std::fabs(bounds[i].value - want[i]) <= 2e-6 * (1 + std::fabs(want[i])));
    CHECK(bounds[i].worst <= 1e-3 * (1 + std::fabs(want[i])));
    CHECK(std::fabs(strict[i] - bounds[i].value) <= bounds[i].likely);
  }
}

}  // namespace driftscope::test
