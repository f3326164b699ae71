// Constant, opset 1 to 21: a tensor, a number or a list of numbers from an attribute.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>

#include "core/eval/evaluate.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::constant {

template <class T>
Result<Tensor> list_tensor(const std::vector<T>& values) {
  return Tensor::from_values<T>({static_cast<std::int64_t>(values.size())}, values);
}

Result<Tensor> constant_tensor(const Node& node) {
  constexpr std::array<std::string_view, 5> names = {"value", "value_float", "value_floats", "value_int",
                                                     "value_ints"};
  const Attribute* given = nullptr;
  for (const std::string_view name : names) {
    const Attribute* attribute = node.attribute(name);
    if (attribute != nullptr && given != nullptr)
      return bad_input(fmt::format("attributes {} and {} exclude each other", given->name, name));
    if (attribute != nullptr) given = attribute;
  }
  if (given == nullptr)
    return unsupported(
        "expected one of the attributes value, value_float(s), value_int(s); strings "
        "and sparse tensors are not supported");
  if (const auto* tensor = std::get_if<Tensor>(&given->value)) return *tensor;
  if (const auto* number = std::get_if<float>(&given->value))
    return Tensor::from_values<float>({}, {number, 1});
  if (const auto* number = std::get_if<std::int64_t>(&given->value))
    return Tensor::from_values<std::int64_t>({}, {number, 1});
  if (const auto* list = std::get_if<std::vector<float>>(&given->value)) return list_tensor(*list);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&given->value)) return list_tensor(*list);
  if (std::holds_alternative<std::monostate>(given->value))
    return unsupported(fmt::format("attribute {}: its elements cannot be held here", given->name));
  return bad_input(fmt::format("attribute {}: expected a tensor or numbers", given->name));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Tensor value, constant_tensor(context.node()));
  return std::vector{TensorType{value.dtype(), symbolic_shape(value.shape())}};
}

struct Constant {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(Tensor value, constant_tensor(context.node()));
    if (!is_floating(value.dtype())) {
      context.tensor_output(0) = std::move(value);
      return {};
    }
    DRIFTSCOPE_TRY(const Evaluated<S> lifted, lift<S>(value));
    std::copy(lifted.real.begin(), lifted.real.end(), context.real_output(0).begin());
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(
      with_kernels<Constant>({.op_type = "Constant", .inputs = {0, 0}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::constant
