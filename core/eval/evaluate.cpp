#include "core/eval/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <type_traits>

#include "core/eval/infer_shapes.hpp"
#include "core/eval/subgraph_run.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope {
namespace {

// Shape rules read shapes, axes, scales: never more than this many floating elements.
constexpr std::int64_t max_shape_elements = 4096;

constexpr std::int64_t filling_grain = 1 << 15;  // elements worth handing to a thread

template <class S>
Result<std::vector<S>> allocate(const Shape& shape, std::string_view what, OutputMemory<S>* memory,
                                ThreadPool& threads) {
  // The limit on tensors also bounds these; Bounded is four doubles.
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(DType::float64, shape, what));
  const std::size_t size = static_cast<std::size_t>(bytes) / sizeof(double);
  try {
    return memory == nullptr ? std::vector<S>(size) : memory->take(size, threads);
  } catch (const std::bad_alloc&) {
    return limit_error(
        fmt::format("{}: out of memory for shape {} in double precision", what, shape_text(shape)));
  }
}

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape result;
  result.reserve(shape.size());
  for (const std::int64_t size : shape) result.push_back({size, ""});
  return result;
}

/// Nothing where the type depends on data: the kernel will allocate the output.
std::optional<Shape> complete_shape(const TensorType& type) {
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
          [&threads](const Node& node, std::span<const Evaluated<S>* const> inputs) {
            return evaluate<S>(node, inputs, threads);
          },
          [](Evaluated<S> value) -> Result<Evaluated<S>> { return value; },
          [](Evaluated<S> value) { return value; }};
}

SubgraphRules<float, Tensor> subgraph_rules(ThreadPool& threads, NodeRunner* inside, Tensor* /*held*/) {
  return {[](const Tensor& constant) -> Result<Tensor> { return constant; },
          [&threads, inside](const Node& node, std::span<const Tensor* const> inputs) {
            return inside != nullptr ? inside->run(node, inputs) : evaluate_strict(node, inputs, threads);
          },
          [](Evaluated<float> value) -> Result<Tensor> { return std::move(value.tensor); },
          [](Tensor value) { return Evaluated<float>{value.dtype(), value.shape(), {}, std::move(value)}; }};
}

/// The outputs of one node while it runs. Floating ones are kept as S, but that `in_place` puts
/// float32 straight into tensors.
template <class S, bool in_place>
class Results final : public KernelHost<S> {
  using Held = HeldBy<S, in_place>;

 public:
  /// `inputs` in the order of node.reads().
  Results(const Node& node, std::span<const Held* const> inputs, const Evaluation<S>& with,
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
      DRIFTSCOPE_TRY(value.real, driftscope::allocate<S>(shape, node_label(node_), with_.memory, threads_));
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
      DRIFTSCOPE_TRY(value.real,
                     driftscope::allocate<S>(value.shape, node_label(node_), with_.memory, threads_));
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
          subgraph, inputs_.subspan(node_.inputs.size()),
          subgraph_rules(threads_, inside_, static_cast<Held*>(nullptr)));
      DRIFTSCOPE_CHECK(run->prepare());
      return std::unique_ptr<SubgraphRun<S>>(std::move(run));
    }
    return bad_input(fmt::format("attribute {}: a graph is required but absent", attribute));
  }

  std::span<Operand<S>> operands() { return operands_; }

  /// What the kernel made, and that nothing is missing.
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

template <class S>
ReferenceKernel<S> kernel_of(const Operator& op) {
  if constexpr (std::is_same_v<S, double>)
    return op.value_kernel;
  else if constexpr (std::is_same_v<S, Bounded>)
    return op.bound_kernel;
  else
    return op.strict_kernel;
}

// Kernels find the second input of an elementwise operator aligned at the end.
template <class S>
Status align_second(const Node& node, std::span<Operand<S>> inputs) {
  if (node.attribute(broadcast_axis) == nullptr || inputs.size() < 2) return {};
  auto aligned = legacy_aligned(node, inputs[0].shape, std::move(inputs[1].shape));
  if (!aligned.ok()) return in_context(std::move(aligned).error(), node_label(node));
  inputs[1].shape = *std::move(aligned);
  return {};
}

// Types of the outputs, from the operands.
template <class S>
Result<std::vector<TensorType>> output_types(const Node& node, std::span<const Operand<S>> inputs,
                                             std::span<const Tensor* const> constants) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (const Operand<S>& input : inputs)
    types.push_back(input.dtype == DType::undefined ? TensorType{}
                                                    : TensorType{input.dtype, symbolic(input.shape)});
  return infer_node(node, types, constants);
}

// Integers with bounds (quantized values that rounding may have moved) are for kernels that look at the
// bounds; to others they would seem exact.
template <class S>
Status expect_handled(const KernelContext<S>& context, std::span<const Operand<S>> inputs) {
  bool handled = !context.missed_integers();
  for (const Operand<S>& input : inputs)
    if (input.dtype != DType::undefined && !is_floating(input.dtype) && !input.real.empty() &&
        context.node().subgraphs.empty())
      handled = handled && input.asked;
  if (handled) return {};
  if constexpr (!std::is_same_v<S, Bounded>)
    return internal_error("integers reached a kernel that is not compiled for them");
  return unsupported(
      "rounding in the nodes before may have changed its integers; record them to judge "
      "this node");
}

template <class S>
Status run_kernel(const Node& node, std::span<Operand<S>> inputs, std::span<Operand<S>> outputs,
                  KernelHost<S>& host, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
  const ReferenceKernel<S> kernel = kernel_of<S>(*op);
  if (kernel == nullptr)
    return internal_error(fmt::format("{}: the operator has no kernel", node_label(node)));
  KernelContext<S> context(node, inputs, outputs, host, threads);
  const auto run = [&]() -> Status {
    try {
      return kernel(context);
    } catch (const std::bad_alloc&) {
      return limit_error("out of memory");
    }
  };
  const auto finish = [&](Status status) -> Status {
    if (status.ok()) status = expect_handled<S>(context, inputs);
    if (!status.ok()) return in_context(std::move(status).error(), node_label(node));
    return {};
  };
  if constexpr (std::is_same_v<S, Bounded>) {
    // The statistical bound holds for all elements of the node's outputs at once.
    ErrorModel model = current_error_model();
    std::int64_t elements = 0;
    for (const Operand<S>& output : outputs) {
      if (output.real_out.empty()) continue;
      // Of several types the coarsest.
      const ErrorModel own = error_model_for(current_error_model(), output.dtype);
      if (elements == 0 || own.unit_roundoff > model.unit_roundoff) model = own;
      elements += static_cast<std::int64_t>(output.real_out.size());
    }
    model.elements = std::max<std::int64_t>(elements, 1);
    const ErrorModelScope scope(model);
    return finish(run());
  }
  return finish(run());
}

// Integers and bools that are what they are, in and out: the same for every scalar.
template <class S>
bool integers_alone(const Node& node, std::span<const Evaluated<S>* const> inputs,
                    std::span<const TensorType> outputs) {
  if (!node.subgraphs.empty()) return false;
  for (const Evaluated<S>* input : inputs)
    if (input != nullptr && (is_floating(input->dtype) || !input->real.empty())) return false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value &&
        (outputs[i].dtype == DType::undefined || is_floating(outputs[i].dtype)))
      return false;
  return true;
}

template <class S>
Result<std::vector<Evaluated<S>>> evaluate_integers(const Node& node,
                                                    std::span<const Evaluated<S>* const> inputs,
                                                    ThreadPool& threads) {
  std::vector<const Tensor*> tensors;
  for (const Evaluated<S>* input : inputs)
    tensors.push_back(input == nullptr || input->dtype == DType::undefined ? nullptr : &input->tensor);
  DRIFTSCOPE_TRY(const std::vector<Tensor> outputs, evaluate_strict(node, tensors, threads));
  std::vector<Evaluated<S>> values(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].dtype() != DType::undefined) values[i] = known<S>(outputs[i]);
  return values;
}

}  // namespace

template <class S>
std::vector<S> OutputMemory<S>::take(std::size_t size, ThreadPool& threads) {
  std::vector<S> values = std::move(spare_);
  spare_ = {};
  if (values.capacity() < size) {
    values = {};  // before the larger one is allocated
    return std::vector<S>(size);
  }
  const std::size_t used = std::min(values.size(), size);
  values.resize(size);
  threads.parallel_for(static_cast<std::int64_t>(used), filling_grain,
                       [&](std::int64_t begin, std::int64_t end) {
                         std::fill(values.begin() + begin, values.begin() + end, S());
                       });
  return values;
}

template <class S>
void OutputMemory<S>::give_back(std::vector<S> values) {
  if (values.capacity() > spare_.capacity()) spare_ = std::move(values);
}

template class OutputMemory<Bounded>;

template <class S>
Result<std::vector<Evaluated<S>>> evaluate(const Node& node, std::span<const Evaluated<S>* const> inputs,
                                           ThreadPool& threads, const Evaluation<S>& with) {
  std::vector<Operand<S>> operands(inputs.size());
  std::vector<Tensor> small(inputs.size());
  std::vector<const Tensor*> constants(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->dtype == DType::undefined) continue;
    const Evaluated<S>& input = *inputs[i];
    operands[i].dtype = input.dtype;
    operands[i].shape = input.shape;
    if (!is_floating(input.dtype)) {
      operands[i].tensor = input.tensor;
      operands[i].real = input.real;
      constants[i] = &input.tensor;
    } else if (is_known(input)) {
      operands[i].exact.set(input.tensor);
      constants[i] = &input.tensor;
    } else {
      operands[i].real = input.real;
    }
    if (constants[i] == nullptr && node.subgraphs.empty() &&
        static_cast<std::int64_t>(input.real.size()) <= max_shape_elements) {
      DRIFTSCOPE_TRY(small[i], lower(input));
      constants[i] = &small[i];
    }
  }
  DRIFTSCOPE_CHECK(align_second<S>(node, operands));
  DRIFTSCOPE_TRY(const auto types, output_types<S>(node, operands, constants));
  if constexpr (!std::is_same_v<S, float>)
    if (integers_alone<S>(node, inputs, types)) return evaluate_integers<S>(node, inputs, threads);

  Results<S, false> results(node, inputs, with, threads);
  DRIFTSCOPE_CHECK(results.allocate_known(types));
  DRIFTSCOPE_CHECK(run_kernel<S>(node, operands, results.operands(), results, threads));
  return results.take();
}

namespace {

bool has_float64(std::span<const Tensor* const> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor* input) {
    return input != nullptr && input->dtype() == DType::float64;
  });
}

// Nodes that read or write float64 are computed in double: + − × ÷ √ and our own functions give the same bits
// everywhere as well.
Result<std::vector<Tensor>> evaluate_in_double(const Node& node, std::span<const Tensor* const> inputs,
                                               ThreadPool& threads) {
  std::vector<Evaluated<double>> values(inputs.size());
  std::vector<const Evaluated<double>*> operands(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    values[i] = known<double>(*inputs[i]);
    operands[i] = &values[i];
  }
  DRIFTSCOPE_TRY(const auto results, evaluate<double>(node, operands, threads));
  std::vector<Tensor> outputs(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].dtype != DType::undefined) {
      DRIFTSCOPE_TRY(outputs[i], lower(results[i]));
    }
  return outputs;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_strict(const Node& node, std::span<const Tensor* const> inputs,
                                            ThreadPool& threads, NodeRunner* inside) {
  // The nodes inside a subgraph choose for themselves; the node around them only passes tensors on.
  const bool passes = !node.subgraphs.empty();
  if (!passes && has_float64(inputs)) return evaluate_in_double(node, inputs, threads);
  std::vector<Operand<float>> operands(inputs.size());
  std::vector<Evaluated<float>> widened(inputs.size());  // float16 and bfloat16 as float32
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const Tensor& input = *inputs[i];
    operands[i].dtype = input.dtype();
    operands[i].shape = input.shape();
    operands[i].tensor = input;
    if (input.dtype() == DType::float32) {
      operands[i].real = input.values<float>();
    } else if (is_floating(input.dtype()) && !passes) {
      DRIFTSCOPE_TRY(widened[i], lift<float>(input));
      operands[i].real = widened[i].real;
    }
  }
  DRIFTSCOPE_CHECK(align_second<float>(node, operands));
  DRIFTSCOPE_TRY(const auto types, output_types<float>(node, operands, inputs));
  const bool writes_float64 =
      std::ranges::any_of(types, [](const TensorType& type) { return type.dtype == DType::float64; });
  if (!passes && writes_float64) return evaluate_in_double(node, inputs, threads);

  Results<float, true> results(node, inputs, {}, threads, inside);
  DRIFTSCOPE_CHECK(results.allocate_known(types));
  DRIFTSCOPE_CHECK(run_kernel<float>(node, operands, results.operands(), results, threads));
  DRIFTSCOPE_TRY(auto values, results.take());
  std::vector<Tensor> outputs(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (passes || !is_floating(values[i].dtype) || values[i].dtype == DType::float32) {
      outputs[i] = std::move(values[i].tensor);
    } else {
      DRIFTSCOPE_TRY(outputs[i], lower(values[i]));
    }
  }
  return outputs;
}

#define DRIFTSCOPE_EVALUATE(S)                                                                              \
  template Result<std::vector<Evaluated<S>>> evaluate<S>(const Node&, std::span<const Evaluated<S>* const>, \
                                                         ThreadPool&, const Evaluation<S>&);
DRIFTSCOPE_EVALUATE(double)
DRIFTSCOPE_EVALUATE(Bounded)
DRIFTSCOPE_EVALUATE(float)
#undef DRIFTSCOPE_EVALUATE

}  // namespace driftscope
