// Flatten, opset 1 to 21: to a matrix, the axes before `axis` times the axes from it on.
// Compiled for size on the web (cmake/core.cmake).
#include <array>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::flatten {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  const auto& x = context.input(0).shape;
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(context.node(), "axis", 1));
  SymbolicShape y = unknown_shape(2);
  if (x) {
    DRIFTSCOPE_TRY(const std::size_t split, normalize_axis(axis, x->size(), true));
    DRIFTSCOPE_TRY(y[0], multiply(std::span(*x).first(split)));
    DRIFTSCOPE_TRY(y[1], multiply(std::span(*x).subspan(split)));
  }
  return std::vector{TensorType{context.input(0).dtype, std::move(y)}};
}

struct Flatten {
  template <class S>
  static Status run(KernelContext<S>& context) {
    copy_elements(context);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Flatten>(
      {.op_type = "Flatten", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::flatten
