#include "core/ops/shared/elementwise.hpp"

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

void for_broadcast_rows(const KernelThreads& threads, const Shape& out, std::span<const Shape> inputs,
                        FunctionRef<void(const BroadcastRow&)> body) {
  const BroadcastRows extent(out);
  std::vector<Shape> strides;
  std::vector<std::int64_t> steps;
  for (const Shape& input : inputs) {
    strides.push_back(broadcast_strides(input, out));
    steps.push_back(out.empty() ? 0 : strides.back().back());
  }
  threads.parallel_for(extent.rows, std::max<std::int64_t>(1, elementwise_grain / extent.columns),
                       [&](std::int64_t begin, std::int64_t end) {
                         std::vector<std::int64_t> offsets(inputs.size());
                         for (std::int64_t row = begin; row < end; ++row) {
                           std::ranges::fill(offsets, 0);
                           std::int64_t index = row;
                           for (std::size_t axis = out.empty() ? 0 : out.size() - 1; axis-- > 0;) {
                             const std::int64_t coordinate = index % out[axis];
                             index /= out[axis];
                             for (std::size_t k = 0; k < offsets.size(); ++k)
                               offsets[k] += coordinate * strides[k][axis];
                           }
                           body({offsets, steps, row * extent.columns, extent.columns});
                         }
                       });
}

}  // namespace driftscope
