// GatherElements, opset 11 to 21: one index per output element, along one axis.
// GatherND, opset 11 to 21 (batch_dims from 12): index tuples along the last axis of `indices`, each
// choosing a slice.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/shared/index_tuples.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::gather_elements {

Result<std::vector<TensorType>> infer_elements(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "indices"));
  DRIFTSCOPE_CHECK(check_elementwise_indices(context, 1, "indices"));
  return std::vector{TensorType{context.input(0).dtype, context.input(1).shape}};
}

struct GatherElements {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "indices"));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
    DRIFTSCOPE_TRY(const auto at, positions_of(context.tensor(1), x[axis], 1, "indices"));
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      for_each_indexed(x, context.shape(1), axis, [&](std::size_t i, std::int64_t base, std::int64_t stride) {
        target[i] = sources[0][static_cast<std::size_t>(base + at[i] * stride)];
      });
    });
    return {};
  }
};

Result<std::vector<TensorType>> infer_nd(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "indices"));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "data", 1, max_rank));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "indices", 1, max_rank));
  DRIFTSCOPE_TRY(const std::int64_t batch, int_attribute(context.node(), "batch_dims", 0));
  TensorType y{context.input(0).dtype, std::nullopt};
  const auto& x = context.input(0).shape;
  const auto& indices = context.input(1).shape;
  if (!x || !indices) return std::vector{std::move(y)};
  if (batch < 0 || batch >= static_cast<std::int64_t>(std::min(x->size(), indices->size())))
    return bad_input(fmt::format(
        "attribute batch_dims: {} is not below the ranks of data (shape {}) and indices (shape {})", batch,
        shape_text(*x), shape_text(*indices)));
  const auto batches = static_cast<std::size_t>(batch);
  for (std::size_t i = 0; i < batches; ++i)
    if (!unify((*x)[i], (*indices)[i]))
      return bad_input(fmt::format("batch axis {}: data has shape {}, indices {}", i, shape_text(*x),
                                   shape_text(*indices)));
  if (!indices->back().known()) return std::vector{std::move(y)};
  DRIFTSCOPE_CHECK(check_tuple_length(indices->back().size, x->size() - batches, "indices"));
  const std::size_t used = batches + static_cast<std::size_t>(indices->back().size);
  y.shape.emplace(indices->begin(), indices->end() - 1);
  y.shape->insert(y.shape->end(), x->begin() + static_cast<std::ptrdiff_t>(used), x->end());
  return std::vector{std::move(y)};
}

struct GatherND {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "indices"));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const std::int64_t batch, int_attribute(context.node(), "batch_dims", 0));
    if (element_count(context.output_shape(0)) == 0) return {};
    DRIFTSCOPE_TRY(const TupleOffsets tuples,
                   tuple_offsets(context.tensor(1), x, static_cast<std::size_t>(batch), "indices"));
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      auto to = target.begin();
      for (const std::int64_t offset : tuples.offsets)
        to = std::copy_n(sources[0].begin() + offset, tuples.slice, to);
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<GatherElements>({.op_type = "GatherElements",
                                          .since = 11,
                                          .inputs = {2, 2},
                                          .outputs = {1, 1},
                                          .infer = infer_elements}));
  table.add(with_kernels<GatherND>(
      {.op_type = "GatherND", .since = 11, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_nd}));
}

}  // namespace driftscope::ops::gather_elements
