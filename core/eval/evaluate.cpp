#include "core/eval/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "core/eval/infer_shapes.hpp"
#include "core/eval/node_results.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope {
namespace {

// Shape rules read shapes, axes, scales: never more than this many floating elements.
constexpr std::int64_t max_shape_elements = 4096;

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape result;
  result.reserve(shape.size());
  for (const std::int64_t size : shape) result.push_back({size, ""});
  return result;
}

template <class S>
ReferenceKernel<S> kernel_of(const Operator& op) {
  if constexpr (std::is_same_v<S, double>)
    return op.value_kernel;
  else if constexpr (std::is_same_v<S, Bounded>)
    return op.bound_kernel;
  else
    return op.strict_kernel;
}

// Kernels expect the second input of an elementwise operator to be aligned at the end.
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

// Integers with bounds (quantized values that rounding may have changed) need kernels that read the
// bounds; other kernels would take them as exact.
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
      "rounding in earlier nodes may have changed its integers; record them to judge "
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
    } catch (const std::length_error&) {
      return limit_error("it needs more memory than can exist");
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
      // With several types the coarsest counts.
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

// Only exact integers and bools as inputs and outputs: the same for every scalar.
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
  std::optional<ErrorModelScope> scope;
  if (std::is_same_v<S, Bounded> && with.model != nullptr) scope.emplace(*with.model);
  if constexpr (!std::is_same_v<S, float>)
    if (integers_alone<S>(node, inputs, types)) return evaluate_integers<S>(node, inputs, threads);

  NodeResults<S, false> results(node, inputs, with, threads);
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
  // The nodes inside a subgraph choose for themselves; the enclosing node only passes tensors on.
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

  NodeResults<float, true> results(node, inputs, {}, threads, inside);
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
