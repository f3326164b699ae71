// A runtime with a planted fault, and a convolution for it. Clients: tests of reduce and parameter tables.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/repro/reduce.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test {

/// What a runtime with a fault gives: y, changed in place.
using Fault = std::function<void(const Excerpt&, std::span<float>)>;

/// Runs the excerpt with the strict kernels, changes the output, judges it.
inline RunExcerpt runtime_with(const Fault& fault, int* runs = nullptr) {
  return [fault, runs](Excerpt& excerpt) -> Result<LayerVerdict> {
    if (runs != nullptr) ++*runs;
    ThreadPool threads(1);
    std::vector<Tensor> values(excerpt.graph.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Value& value = excerpt.graph.values[i];
      if (value.constant) values[i] = *value.constant;
      for (const NamedTensor& input : excerpt.inputs)
        if (input.name == value.name) values[i] = input.tensor;
    }
    for (const Node& node : excerpt.graph.nodes) {
      std::vector<const Tensor*> read;
      for (const ValueId id : node.reads()) read.push_back(id == no_value ? nullptr : &values[id]);
      DRIFTSCOPE_TRY(auto outputs, evaluate_strict(node, read, threads));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (node.outputs[i] != no_value) values[node.outputs[i]] = std::move(outputs[i]);
    }
    excerpt.got.tensor = values[excerpt.graph.outputs[0]];
    fault(excerpt, excerpt.got.tensor.mutable_values<float>());
    Trace trace;
    trace.tensors = excerpt.inputs;
    trace.tensors.push_back(excerpt.got);
    DRIFTSCOPE_TRY(const Verification verification, verify(excerpt.graph, "", trace, threads));
    excerpt.verdict = verification.layers.back();
    return excerpt.verdict;
  };
}

inline Excerpt conv(const Shape& x, const Shape& w, std::vector<Attribute> attributes = {}) {
  Rng rng(21);
  Excerpt excerpt;
  const Tensor input = random_tensor(rng, x);
  excerpt.graph = built(ModelBuilder()
                            .input("x0", DType::float32, {x.begin(), x.end()})
                            .initializer("w0", random_tensor(rng, w))
                            .initializer("w1", random_tensor(rng, {w[0]}))
                            .node("Conv", {"x0", "w0", "w1"}, {"y"}, std::move(attributes))
                            .output("y"));
  excerpt.inputs = {{"x0", input}};
  excerpt.got.name = "y";
  return excerpt;
}

inline const Shape& shape_of(const Excerpt& excerpt, std::size_t input) {
  const Value& value = excerpt.graph.values[excerpt.node().inputs[input]];
  return value.constant ? value.constant->shape() : excerpt.inputs[0].tensor.shape();
}

}  // namespace driftscope::test
