// Dropout, opset 7 to 21, inference: the input as it is, and a mask of ones (of the input's type in
// opset 7 to 9, bool from 10). A training_mode input of true drops nothing only when ratio is 0; any
// other ratio is training and not supported.
// Compiled for size on the web (cmake/core.cmake).
#include "core/numerics/math.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::dropout {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::floating));
  if (context.has_input(1)) DRIFTSCOPE_CHECK(expect_kind(context, 1, "ratio", Kinds::floating));
  if (context.has_input(2)) DRIFTSCOPE_CHECK(expect_kind(context, 2, "training_mode", Kinds::boolean));
  const TensorType& data = context.input(0);
  return std::vector{data, TensorType{context.opset() < 10 ? data.dtype : DType::boolean, data.shape}};
}

struct Dropout {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (context.has_input(2)) {
      const auto training = context.tensor(2).bytes();
      const bool trains = !training.empty() && training[0] != std::byte{0};
      // An omitted ratio is 0.5.
      const bool drops =
          !context.has_input(1) || context.real(1).empty() || math::value(context.real(1)[0]) != 0;
      if (trains && drops)
        return unsupported(
            "input 2 (training_mode) is true, which drops elements at random; export "
            "the model for inference");
    }
    copy_elements(context);
    if (!context.wants_output(1)) return {};
    if (is_floating(context.output_dtype(1))) {
      const auto mask = context.real_output(1);
      std::fill(mask.begin(), mask.end(), S(1));
    } else {
      const auto mask = context.tensor_output(1).mutable_bytes();
      std::fill(mask.begin(), mask.end(), std::byte{1});
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Dropout>({.op_type = "Dropout",
                                   .since = 7,
                                   .inputs = {1, 3},
                                   .outputs = {1, 2},
                                   .infer = infer,
                                   .exact_copy = true}));
}

}  // namespace driftscope::ops::dropout
