// BitCast (opset 26): the same bits as elements of another type of as many bits.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/eval/evaluated.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::bit_cast {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), "to", 0));
  const auto to = dtype_from_onnx(number);
  if (!to || bits_per_element(*to) == 0)
    return bad_input(fmt::format("attribute to: {} is no element type of fixed size", number));
  const DType from = context.input(0).dtype;
  if (from != DType::undefined && bits_per_element(from) != bits_per_element(*to))
    return bad_input(fmt::format("attribute to: expected a type of {} bits as {} has, got {}",
                                 bits_per_element(from), dtype_name(from), dtype_name(*to)));
  return std::vector{TensorType{*to, context.input(0).shape}};
}

/// The input as it is stored. Errors: rounding may have changed it.
template <class S>
Result<Tensor> stored_input(const KernelContext<S>& context) {
  DRIFTSCOPE_CHECK(expect_certain(context, 0, "input"));
  if (!is_floating(context.dtype(0))) return context.tensor(0);
  if (const Tensor* exact = context.exact(0)) return *exact;
  Evaluated<S> value;
  value.dtype = context.dtype(0);
  value.shape = context.shape(0);
  value.real.assign(context.real(0).begin(), context.real(0).end());
  return lower(value);
}

struct BitCast {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Tensor input, stored_input(context));
    const DType to = context.output_dtype(0);
    if (!is_floating(to)) {
      std::ranges::copy(input.bytes(), context.tensor_output(0).mutable_bytes().begin());
      return {};
    }
    DRIFTSCOPE_TRY(const Tensor output, Tensor::from_bytes(to, input.shape(), input.bytes(), "output"));
    std::ranges::copy(lift_values<S>(output), context.real_output(0).begin());
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<BitCast>(
      {.op_type = "BitCast", .since = 26, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::bit_cast
