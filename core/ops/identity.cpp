// Identity, opset 1 to 21, of tensors.
// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::identity {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  return std::vector{context.input(0)};
}

struct Identity {
  template <class S>
  static Status run(KernelContext<S>& context) {
    copy_elements(context);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Identity>(
      {.op_type = "Identity", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::identity
