// ConstantOfShape, opset 9 to 21: one value (0 as float32 by default) in every element.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/eval/evaluate.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::constant_of_shape {

Result<Tensor> value_of(const Node& node) {
  const Attribute* attribute = node.attribute("value");
  if (attribute == nullptr) return Tensor::make(DType::float32, {1});
  const auto* value = std::get_if<Tensor>(&attribute->value);
  if (value == nullptr) return bad_input("attribute value: expected a tensor");
  if (value->elements() != 1)
    return bad_input(
        fmt::format("attribute value: expected one element, got shape {}", shape_text(value->shape())));
  return *value;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_index(context, 0, "input"));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 1, 1));
  DRIFTSCOPE_TRY(const Tensor value, value_of(context.node()));
  TensorType y{value.dtype(), std::nullopt};
  if (const Tensor* shape = context.constant(0)) {
    DRIFTSCOPE_TRY(const Ints sizes, integers_of(*shape, input_label(0, "input")));
    for (const std::int64_t size : sizes)
      if (size < 0)
        return bad_input(
            fmt::format("input 0 (input): expected sizes of 0 or more, got [{}]", fmt::join(sizes, ",")));
    y.shape = symbolic_shape(sizes);
  } else if (const PartialVector* partial = context.partial(0)) {
    y.shape = as_sizes(*partial);
  } else if (const auto& type = context.input(0).shape;
             type && type->front().known() && type->front().size <= static_cast<std::int64_t>(max_rank)) {
    y.shape = unknown_shape(static_cast<std::size_t>(type->front().size));
  }
  return std::vector{std::move(y)};
}

struct ConstantOfShape {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 0, "input"));
    DRIFTSCOPE_TRY(const Tensor value, value_of(context.node()));
    if (is_floating(value.dtype())) {
      DRIFTSCOPE_TRY(const Evaluated<S> lifted, lift<S>(value));
      std::ranges::fill(context.real_output(0), lifted.real[0]);
      return {};
    }
    Tensor& y = context.tensor_output(0);
    const auto one = value.bytes();
    if (bits_per_element(value.dtype()) < 8) {
      const std::vector<std::uint8_t> elements(static_cast<std::size_t>(y.elements()),
                                               unpacked_elements(value)[0]);
      pack_elements(elements, y);
      return {};
    }
    const auto bytes = y.mutable_bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = one[i % one.size()];
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ConstantOfShape>(
      {.op_type = "ConstantOfShape", .since = 9, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::constant_of_shape
