// com.microsoft Gelu, BiasGelu (x + bias), FastGelu (tanh, with an optional bias): Gelu of ONNX, after the
// sum.
#include <fmt/format.h>

#include "core/ops/shared/composition.hpp"

namespace driftscope::ops::contrib_gelu {

// X and, where there is one, a bias of the size of its last axis.
Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "bias", Kinds::floating));
  constexpr std::array<std::string_view, 2> names = {"X", "bias"};
  DRIFTSCOPE_TRY([[maybe_unused]] const DType dtype,
                 common_dtype(context, std::span(names).first(context.input_count())));
  if (const auto& x = context.input(0).shape; x && context.has_input(1)) {
    if (x->empty()) return bad_input("input 0 (X): expected at least one axis for the bias");
    DRIFTSCOPE_CHECK(expect_shape(context, 1, "bias", {x->back()}));
  }
  return std::vector{context.input(0)};
}

template <bool through_tanh>
struct Gelu {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    typename Composition<S>::Value x = parts.input(0);
    if (context.has_input(1)) {
      DRIFTSCOPE_TRY(x, parts.one("Add", {x, parts.input(1)}));
    }
    DRIFTSCOPE_TRY(x, parts.one("Gelu", {x}, {{"approximate", std::string(through_tanh ? "tanh" : "none")}}));
    return parts.give(0, x);
  }
};

void add_to(OperatorTable& table) {
  const auto add = [&](std::string_view op_type, Count inputs, auto kernel) {
    table.add(with_kernels<decltype(kernel)>({.op_type = op_type,
                                              .domain = microsoft_domain,
                                              .inputs = inputs,
                                              .outputs = {1, 1},
                                              .infer = infer}));
  };
  add("Gelu", {1, 1}, Gelu<false>());
  add("BiasGelu", {2, 2}, Gelu<false>());
  add("FastGelu", {1, 2}, Gelu<true>());
}

}  // namespace driftscope::ops::contrib_gelu
