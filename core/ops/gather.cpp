// Gather, opset 1 to 21: slices along one axis, chosen by a tensor of indices of any rank; negative
// ones count from the end (also in the earlier opsets, where the specification leaves it open).
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::gather {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "indices"));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "data", 1, max_rank));
  DRIFTSCOPE_TRY(const std::int64_t given_axis, int_attribute(context.node(), "axis", 0));
  TensorType y{context.input(0).dtype, std::nullopt};
  const auto& x = context.input(0).shape;
  const auto& indices = context.input(1).shape;
  if (!x) return std::vector{std::move(y)};
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given_axis, x->size()));
  if (!indices) return std::vector{std::move(y)};
  const auto place = static_cast<std::ptrdiff_t>(axis);
  y.shape.emplace(x->begin(), x->begin() + place);
  y.shape->insert(y.shape->end(), indices->begin(), indices->end());
  y.shape->insert(y.shape->end(), x->begin() + place + 1, x->end());
  return std::vector{std::move(y)};
}

struct Gather {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "indices"));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given_axis, int_attribute(context.node(), "axis", 0));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given_axis, x.size()));
    DRIFTSCOPE_TRY(const auto rows, positions_of(context.tensor(1), x[axis], 1, "indices"));
    if (element_count(context.output_shape(0)) == 0) return {};
    const std::int64_t inner = element_count(std::span(x).subspan(axis + 1));
    const auto count = static_cast<std::int64_t>(rows.size());
    const std::int64_t outer = element_count(std::span(x).first(axis));
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      context.parallel_for(
          outer * count, std::max<std::int64_t>(1, 16384 / inner), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              const std::int64_t row = i / count * x[axis] + rows[static_cast<std::size_t>(i % count)];
              std::copy_n(sources[0].data() + row * inner, inner, target.data() + i * inner);
            }
          });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Gather>(
      {.op_type = "Gather", .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::gather
