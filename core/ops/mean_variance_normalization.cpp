// MeanVarianceNormalization, opset 9 to 21: (X − mean) / (√variance + 1e-9) over `axes` (default 0, 2, 3).
// ONNX defines the variance in one pass, E[X²] − mean², so that the bound covers it.
//
// Strict definition (float): two passes, moments.hpp; then (x − mean) / (√variance + 1e-9).
// Compiled for size on the web (cmake/core.cmake).
#include "core/graph/attributes.hpp"
#include "core/numerics/moments.hpp"
#include "core/ops/shared/reduction.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::mean_variance_normalization {

Result<std::vector<bool>> reduced_axes(const Node& node, std::size_t rank) {
  DRIFTSCOPE_TRY(const Ints axes, ints_attribute(node, "axes", {0, 2, 3}));
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t axis : axes) {
    auto normal = normalize_axis(axis, rank);
    if (!normal.ok()) return in_context(std::move(normal).error(), "attribute axes");
    reduced[*normal] = true;
  }
  return reduced;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  if (const auto& shape = context.input(0).shape)
    if (auto axes = reduced_axes(context.node(), shape->size()); !axes.ok()) return std::move(axes).error();
  return std::vector{context.input(0)};
}

struct MeanVarianceNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::vector<bool> reduced, reduced_axes(context.node(), context.shape(0).size()));
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (x.empty()) return {};
    const ReducedLanes lanes(context.shape(0), reduced);
    context.parallel_for(lanes.count(), lane_grain(lanes.size()), [&](std::int64_t begin, std::int64_t end) {
      std::vector<S> scratch;
      for (std::int64_t index = begin; index < end; ++index) {
        const std::span<const S> lane = lanes.lane(x, index, scratch);
        const auto [mean, variance] = moments_of(lane, lanes.contiguous(), Passes::one_or_two);
        const S deviation = math::sqrt(variance) + math::rounded_constant<S>(1e-9);
        const std::int64_t base = lanes.base(index);
        for (std::size_t i = 0; i < lane.size(); ++i)
          y[static_cast<std::size_t>(base + lanes.offset(static_cast<std::int64_t>(i)))] =
              (lane[i] - mean) / deviation;
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MeanVarianceNormalization>({.op_type = "MeanVarianceNormalization",
                                                     .since = 9,
                                                     .inputs = {1, 1},
                                                     .outputs = {1, 1},
                                                     .infer = infer}));
}

}  // namespace driftscope::ops::mean_variance_normalization
