#include "core/ops/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <type_traits>

#include "core/base/half.hpp"
#include "core/ops/infer_shapes.hpp"

namespace driftscope {
namespace {

// Shape rules read shapes, axes, scales: never more than this many floating elements.
constexpr std::int64_t max_shape_elements = 4096;

template <class S>
S scalar(double x) {
  if constexpr (std::is_same_v<S, float>) return static_cast<float>(x);
  else return S(x);
}

template <class S>
double plain(const S& x) {
  if constexpr (std::is_same_v<S, Bounded>) return x.value;
  else return static_cast<double>(x);
}

template <class S>
Result<std::vector<S>> allocate(const Shape& shape, std::string_view what) {
  // The limit on tensors also bounds these; Bounded is three doubles.
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(DType::float64, shape, what));
  try {
    return std::vector<S>(static_cast<std::size_t>(bytes) / sizeof(double));
  } catch (const std::bad_alloc&) {
    return limit_error(fmt::format("{}: out of memory for shape {} in double precision", what,
                                   shape_text(shape)));
  }
}

SymbolicShape symbolic(const Shape& shape) {
  SymbolicShape result;
  result.reserve(shape.size());
  for (const std::int64_t size : shape) result.push_back({size, ""});
  return result;
}

Result<Shape> complete_shape(const Node& node, std::size_t output, const TensorType& type) {
  if (type.dtype == DType::undefined || !type.shape)
    return unsupported(fmt::format("{}: the type of output {} is not known before it has run",
                                   node_label(node), output));
  Shape shape;
  for (const Dimension& dimension : *type.shape) {
    if (!dimension.known())
      return unsupported(fmt::format("{}: the shape of output {} depends on its data",
                                     node_label(node), output));
    shape.push_back(dimension.size);
  }
  return shape;
}

template <class S>
ReferenceKernel<S> kernel_of(const Operator& op) {
  if constexpr (std::is_same_v<S, double>) return op.value_kernel;
  else if constexpr (std::is_same_v<S, Bounded>) return op.bound_kernel;
  else return op.strict_kernel;
}

// Types of the outputs, from the operands.
template <class S>
Result<std::vector<TensorType>> output_types(const Node& node, std::span<const Operand<S>> inputs,
                                             std::span<const Tensor* const> constants) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (const Operand<S>& input : inputs)
    types.push_back(input.dtype == DType::undefined
                        ? TensorType{}
                        : TensorType{input.dtype, symbolic(input.shape)});
  return infer_node(node, types, constants);
}

template <class S>
Status run_kernel(const Node& node, std::span<Operand<S>> inputs, std::span<Operand<S>> outputs,
                  ThreadPool& threads) {
  DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
  const ReferenceKernel<S> kernel = kernel_of<S>(*op);
  if (kernel == nullptr)
    return internal_error(fmt::format("{}: the operator has no kernel", node_label(node)));
  KernelContext<S> context(node, inputs, outputs, threads);
  if constexpr (std::is_same_v<S, Bounded>) {
    // The statistical bound holds for all elements of the node's outputs at once.
    ErrorModel model = current_error_model();
    std::int64_t elements = 0;
    for (const Operand<S>& output : outputs) {
      if (output.real_out.empty()) continue;
      model = error_model_for(current_error_model(), output.dtype);
      elements += static_cast<std::int64_t>(output.real_out.size());
    }
    model.elements = std::max<std::int64_t>(elements, 1);
    const ErrorModelScope scope(model);
    if (auto status = kernel(context); !status.ok())
      return in_context(std::move(status).error(), node_label(node));
  } else if (auto status = kernel(context); !status.ok()) {
    return in_context(std::move(status).error(), node_label(node));
  }
  return {};
}

}  // namespace

template <class S>
Result<Evaluated<S>> lift(const Tensor& tensor) {
  Evaluated<S> result;
  result.dtype = tensor.dtype();
  result.shape = tensor.shape();
  if (!is_floating(tensor.dtype())) {
    result.tensor = tensor;
    return result;
  }
  DRIFTSCOPE_TRY(result.real, allocate<S>(tensor.shape(), "tensor"));
  const auto fill = [&](auto values, auto convert) {
    for (std::size_t i = 0; i < result.real.size(); ++i) result.real[i] = convert(values[i]);
  };
  switch (tensor.dtype()) {
    case DType::float32:
      fill(tensor.values<float>(), [](float x) { return S(x); });
      break;
    case DType::float64:
      fill(tensor.values<double>(), [](double x) { return scalar<S>(x); });
      break;
    case DType::float16:
      fill(tensor.values<std::uint16_t>(),
           [](std::uint16_t x) { return scalar<S>(widen(float16_format, x)); });
      break;
    default:
      fill(tensor.values<std::uint16_t>(),
           [](std::uint16_t x) { return scalar<S>(widen(bfloat16_format, x)); });
      break;
  }
  return result;
}

template <class S>
Result<Tensor> lower(const Evaluated<S>& value) {
  if (!is_floating(value.dtype)) return value.tensor;
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(value.dtype, value.shape));
  const auto fill = [&](auto values, auto convert) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert(plain(value.real[i]));
  };
  switch (value.dtype) {
    case DType::float32:
      fill(tensor.mutable_values<float>(), [](double x) { return static_cast<float>(x); });
      break;
    case DType::float64:
      fill(tensor.mutable_values<double>(), [](double x) { return x; });
      break;
    case DType::float16:
      fill(tensor.mutable_values<std::uint16_t>(),
           [](double x) { return narrow(float16_format, x); });
      break;
    default:
      fill(tensor.mutable_values<std::uint16_t>(),
           [](double x) { return narrow(bfloat16_format, x); });
      break;
  }
  return tensor;
}

template <class S>
Result<std::vector<Evaluated<S>>> evaluate(const Node& node,
                                           std::span<const Evaluated<S>* const> inputs,
                                           ThreadPool& threads) {
  std::vector<Operand<S>> operands(inputs.size());
  std::vector<Tensor> small(inputs.size());
  std::vector<const Tensor*> constants(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->dtype == DType::undefined) continue;
    const Evaluated<S>& input = *inputs[i];
    operands[i] = {input.dtype, input.shape, input.real, {}, input.tensor};
    if (!is_floating(input.dtype)) {
      constants[i] = &input.tensor;
    } else if (static_cast<std::int64_t>(input.real.size()) <= max_shape_elements) {
      DRIFTSCOPE_TRY(small[i], lower(input));
      constants[i] = &small[i];
    }
  }
  DRIFTSCOPE_TRY(const auto types, output_types<S>(node, operands, constants));

  std::vector<Evaluated<S>> results(node.outputs.size());
  std::vector<Operand<S>> destinations(node.outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] == no_value) continue;
    Evaluated<S>& result = results[i];
    DRIFTSCOPE_TRY(result.shape, complete_shape(node, i, types[i]));
    result.dtype = types[i].dtype;
    destinations[i].dtype = result.dtype;
    destinations[i].shape = result.shape;
    if (is_floating(result.dtype)) {
      DRIFTSCOPE_TRY(result.real, allocate<S>(result.shape, node_label(node)));
      destinations[i].real_out = result.real;
    } else {
      DRIFTSCOPE_TRY(destinations[i].tensor, Tensor::make(result.dtype, result.shape, node_label(node)));
    }
  }
  DRIFTSCOPE_CHECK(run_kernel<S>(node, operands, destinations, threads));
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].dtype != DType::undefined && !is_floating(results[i].dtype))
      results[i].tensor = std::move(destinations[i].tensor);
  return results;
}

Result<std::vector<Tensor>> evaluate_strict(const Node& node, std::span<const Tensor* const> inputs,
                                            ThreadPool& threads) {
  std::vector<Operand<float>> operands(inputs.size());
  std::vector<Evaluated<float>> widened(inputs.size());  // float16, bfloat16, float64 as float32
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const Tensor& input = *inputs[i];
    operands[i] = {input.dtype(), input.shape(), {}, {}, input};
    if (input.dtype() == DType::float32) {
      operands[i].real = input.values<float>();
    } else if (is_floating(input.dtype())) {
      DRIFTSCOPE_TRY(widened[i], lift<float>(input));
      operands[i].real = widened[i].real;
    }
  }
  DRIFTSCOPE_TRY(const auto types, output_types<float>(node, operands, inputs));

  std::vector<Tensor> results(node.outputs.size());
  std::vector<Evaluated<float>> narrowed(node.outputs.size());
  std::vector<Operand<float>> destinations(node.outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] == no_value) continue;
    Operand<float>& destination = destinations[i];
    DRIFTSCOPE_TRY(destination.shape, complete_shape(node, i, types[i]));
    destination.dtype = types[i].dtype;
    if (is_floating(destination.dtype) && destination.dtype != DType::float32) {
      narrowed[i].dtype = destination.dtype;
      narrowed[i].shape = destination.shape;
      DRIFTSCOPE_TRY(narrowed[i].real, allocate<float>(destination.shape, node_label(node)));
      destination.real_out = narrowed[i].real;
      continue;
    }
    DRIFTSCOPE_TRY(destination.tensor,
                   Tensor::make(destination.dtype, destination.shape, node_label(node)));
    if (destination.dtype == DType::float32)
      destination.real_out = destination.tensor.mutable_values<float>();
  }
  DRIFTSCOPE_CHECK(run_kernel<float>(node, operands, destinations, threads));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (narrowed[i].dtype != DType::undefined) {
      DRIFTSCOPE_TRY(results[i], lower(narrowed[i]));
    } else {
      results[i] = std::move(destinations[i].tensor);
    }
  }
  return results;
}

#define DRIFTSCOPE_EVALUATE(S)                                                             \
  template Result<Evaluated<S>> lift<S>(const Tensor&);                                    \
  template Result<Tensor> lower<S>(const Evaluated<S>&);                                   \
  template Result<std::vector<Evaluated<S>>> evaluate<S>(                                  \
      const Node&, std::span<const Evaluated<S>* const>, ThreadPool&);
DRIFTSCOPE_EVALUATE(double)
DRIFTSCOPE_EVALUATE(Bounded)
DRIFTSCOPE_EVALUATE(float)
#undef DRIFTSCOPE_EVALUATE

}  // namespace driftscope
