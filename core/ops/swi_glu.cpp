// SwiGLU, opset 28: Swish(A)·B = A·σ(alpha·A)·B, of two tensors of one shape.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::swi_glu {

constexpr std::array<std::string_view, 2> names = {"A", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY([[maybe_unused]] const float alpha, float_attribute(context.node(), "alpha", 1.0F));
  if (context.input(0).shape) DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], *context.input(0).shape));
  return std::vector{
      TensorType{dtype, context.input(0).shape ? context.input(0).shape : context.input(1).shape}};
}

struct SwiGlu {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const float given, float_attribute(context.node(), "alpha", 1.0F));
    const S alpha = math::given<S>(given);
    map_broadcast(context, context.shape(0), context.real(0), context.shape(1), context.real(1),
                  context.real_output(0), [&](S a, S b) { return a * math::sigmoid(alpha * a) * b; });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<SwiGlu>(
      {.op_type = "SwiGLU", .since = 28, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::swi_glu
