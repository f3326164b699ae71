#include "core/ops/support/elementwise.hpp"

namespace driftscope {

Result<std::vector<TensorType>> broadcast_type(const InferContext& context, DType dtype) {
  TensorType y{dtype, SymbolicShape{}};
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.input(i).shape) return std::vector{TensorType{dtype, std::nullopt}};
    DRIFTSCOPE_TRY(y.shape, broadcast(*y.shape, *context.input(i).shape));
  }
  return std::vector{std::move(y)};
}

}  // namespace driftscope
