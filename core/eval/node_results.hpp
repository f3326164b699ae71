// The results of one node while its kernel runs: memory for outputs, and the subgraphs. Client:
// evaluate.cpp alone; it chooses the kernel and checks the results.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/eval/room.hpp"
#include "core/eval/subgraph_run.hpp"

namespace driftscope {

template <class S>
Result<std::vector<S>> allocate_values(const Shape& shape, std::string_view what, OutputMemory<S>* memory,
                                       ThreadPool& threads) {
  // The limit on tensors also limits these; a Bounded is four doubles.
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(DType::float64, shape, what));
  const std::size_t size = static_cast<std::size_t>(bytes) / sizeof(double);
  DRIFTSCOPE_CHECK(expect_room(what, shape, sizeof(S)));
  try {
    return memory == nullptr ? std::vector<S>(size) : memory->take(size, threads);
  } catch (const std::bad_alloc&) {
    return no_room(what, shape, sizeof(S));
  }
}

/// Nothing if the type depends on data: the kernel will allocate the output.
inline std::optional<Shape> complete_shape(const TensorType& type) {
  if (type.dtype == DType::undefined || !type.shape) return std::nullopt;
  Shape shape;
  for (const Dimension& dimension : *type.shape) {
    if (!dimension.known()) return std::nullopt;
    shape.push_back(dimension.size);
  }
  return shape;
}

// How a subgraph's values are held and its nodes evaluated.
template <class S, bool in_place>
using HeldBy = std::conditional_t<in_place, Tensor, Evaluated<S>>;

template <class S>
SubgraphRules<S, Evaluated<S>> subgraph_rules(ThreadPool& threads, NodeRunner* /*inside*/,
                                              Evaluated<S>* /*held*/) {
  return {[](const Tensor& constant) -> Result<Evaluated<S>> { return known<S>(constant); },
          [&threads](const Node& node,
                     std::span<const Evaluated<S>* const> inputs) -> Result<std::vector<Evaluated<S>>> {
            DRIFTSCOPE_TRY(auto results, evaluate<S>(node, inputs, threads));
            // In double every value is the correctly rounded one of its own type, inside as outside.
            if constexpr (std::is_same_v<S, double>)
              for (Evaluated<S>& result : results)
                if (!result.real.empty()) {
                  DRIFTSCOPE_TRY(const Tensor rounded, lower(result));
                  result = known<S>(rounded);
                }
            return results;
          },
          [](Evaluated<S> value) -> Result<Evaluated<S>> { return value; },
          [](Evaluated<S> value) { return value; },
          [](const Evaluated<S>& value) -> Result<Tensor> { return lower(value); }};
}

inline SubgraphRules<float, Tensor> subgraph_rules(ThreadPool& threads, NodeRunner* inside,
                                                   Tensor* /*held*/) {
  return {[](const Tensor& constant) -> Result<Tensor> { return constant; },
          [&threads, inside](const Node& node, std::span<const Tensor* const> inputs) {
            return inside != nullptr ? inside->run(node, inputs) : evaluate_strict(node, inputs, threads);
          },
          [](Evaluated<float> value) -> Result<Tensor> { return std::move(value.tensor); },
          [](Tensor value) { return Evaluated<float>{value.dtype(), value.shape(), {}, std::move(value)}; },
          [](const Tensor& value) -> Result<Tensor> { return value; }};
}

/// The outputs of one node while it runs. Floating ones are kept as S; `in_place` writes
/// float32 directly into tensors.
template <class S, bool in_place>
class NodeResults final : public KernelHost<S> {
  using Held = HeldBy<S, in_place>;

 public:
  /// `inputs` in the order of node.reads().
  NodeResults(const Node& node, std::span<const Held* const> inputs, const Evaluation<S>& with,
              ThreadPool& threads, NodeRunner* inside = nullptr)
      : node_(node),
        inputs_(inputs),
        with_(with),
        threads_(threads),
        inside_(inside),
        values_(node.outputs.size()),
        operands_(node.outputs.size()) {}

  Status allocate_known(std::span<const TensorType> types) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      operands_[i].wanted = node_.outputs[i] != no_value;
      if (!operands_[i].wanted) continue;
      if (const auto shape = complete_shape(types[i])) DRIFTSCOPE_CHECK(allocate(i, types[i].dtype, *shape));
    }
    return {};
  }

  Status allocate(std::size_t output, DType dtype, const Shape& shape) override {
    Evaluated<S>& value = values_[output];
    Operand<S>& operand = operands_[output];
    value.dtype = operand.dtype = dtype;
    value.shape = operand.shape = shape;
    if (is_floating(dtype) && !(in_place && dtype == DType::float32)) {
      DRIFTSCOPE_TRY(value.real, allocate_values<S>(shape, node_label(node_), with_.memory, threads_));
      operand.real_out = value.real;
      return {};
    }
    DRIFTSCOPE_TRY(operand.tensor, Tensor::make(dtype, shape, node_label(node_)));
    if constexpr (in_place)
      if (dtype == DType::float32) operand.real_out = operand.tensor.template mutable_values<S>();
    return {};
  }

  Result<std::span<Bounded>> bounds(std::size_t output) override {
    if constexpr (std::is_same_v<S, Bounded>) {
      Evaluated<S>& value = values_[output];
      if (is_floating(value.dtype)) return internal_error("bounds of a floating output");
      DRIFTSCOPE_TRY(value.real, allocate_values<S>(value.shape, node_label(node_), with_.memory, threads_));
      return std::span<Bounded>(value.real);
    }
    return internal_error("only Bounded has bounds");
  }

  Status give(std::size_t output, Evaluated<S> value) override {
    operands_[output].tensor = std::move(value.tensor);
    values_[output] = std::move(value);
    return {};
  }

  Evaluated<S> pass(std::size_t input) override {
    if constexpr (in_place) {
      const Tensor& tensor = *inputs_[input];
      return {tensor.dtype(), tensor.shape(), {}, tensor};
    } else {
      return *inputs_[input];
    }
  }

  const Tensor* recorded(std::size_t output) const override { return output == 0 ? with_.recorded : nullptr; }

  Result<std::unique_ptr<SubgraphRun<S>>> subgraph(std::string_view attribute) override {
    for (const Subgraph& subgraph : node_.subgraphs) {
      if (subgraph.attribute != attribute) continue;
      auto run = std::make_unique<HeldSubgraphRun<S, Held>>(
          node_, subgraph, inputs_.subspan(node_.inputs.size()),
          subgraph_rules(threads_, inside_, static_cast<Held*>(nullptr)));
      DRIFTSCOPE_CHECK(run->prepare());
      return std::unique_ptr<SubgraphRun<S>>(std::move(run));
    }
    return bad_input(fmt::format("attribute {}: a graph is required but absent", attribute));
  }

  std::span<Operand<S>> operands() { return operands_; }

  /// The kernel's outputs; an error if one is missing.
  Result<std::vector<Evaluated<S>>> take() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!operands_[i].wanted) continue;
      if (values_[i].dtype == DType::undefined)
        return internal_error(fmt::format("{}: the kernel made no output {}", node_label(node_), i));
      values_[i].tensor = std::move(operands_[i].tensor);
    }
    return std::move(values_);
  }

 private:
  const Node& node_;
  std::span<const Held* const> inputs_;
  const Evaluation<S> with_;
  ThreadPool& threads_;
  NodeRunner* inside_;
  std::vector<Evaluated<S>> values_;
  std::vector<Operand<S>> operands_;
};

}  // namespace driftscope
