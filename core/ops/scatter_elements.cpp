// Scatter (opset 9 and 10), ScatterElements and ScatterND, opset 11 to 21: data with some elements or
// slices replaced by updates, or combined with them (reduction: add, mul from opset 16, max, min from
// 18). Of several updates of one element the last in row-major order counts where nothing is combined.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/shared/index_tuples.hpp"
#include "core/ops/shared/scatter.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::scatter_elements {

constexpr std::array<std::string_view, 3> names = {"data", "indices", "updates"};

Result<TensorType> common_type(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, names[0], Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_index(context, 1, names[1]));
  DRIFTSCOPE_TRY(const Reduction reduction, read_reduction(context.node()));
  (void)reduction;
  const DType updates = context.input(2).dtype;
  TensorType y = context.input(0);
  if (updates != DType::undefined && y.dtype != DType::undefined && updates != y.dtype)
    return bad_input(fmt::format("{}: expected {} as data has, got {}", input_label(2, names[2]),
                                 dtype_name(y.dtype), dtype_name(updates)));
  return y;
}

Status expect_updates(const InferContext& context, const SymbolicShape& expected) {
  const auto& updates = context.input(2).shape;
  if (!updates) return {};
  bool fits = updates->size() == expected.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i)
    fits = unify(expected[i], (*updates)[i]).has_value();
  if (fits) return {};
  return bad_input(fmt::format("{}: expected shape {}, got {}", input_label(2, names[2]),
                               shape_text(expected), shape_text(*updates)));
}

Result<std::vector<TensorType>> infer_elements(const InferContext& context) {
  DRIFTSCOPE_TRY(TensorType y, common_type(context));
  DRIFTSCOPE_CHECK(check_elementwise_indices(context, 1, names[1]));
  if (context.input(1).shape) DRIFTSCOPE_CHECK(expect_updates(context, *context.input(1).shape));
  return std::vector{std::move(y)};
}

struct ScatterElements {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, names[1]));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const Reduction reduction, read_reduction(context.node()));
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(context.node(), "axis", 0));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, x.size()));
    DRIFTSCOPE_TRY(auto places, positions_of(context.tensor(1), x[axis], 1, names[1]));
    for_each_indexed(x, context.shape(1), axis, [&](std::size_t i, std::int64_t base, std::int64_t stride) {
      places[i] = base + places[i] * stride;
    });
    return scatter(context, reduction, [&](std::size_t i) { return places[i]; });
  }
};

Result<std::vector<TensorType>> infer_nd(const InferContext& context) {
  DRIFTSCOPE_TRY(TensorType y, common_type(context));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 1, max_rank));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], 1, max_rank));
  const auto& x = context.input(0).shape;
  const auto& indices = context.input(1).shape;
  if (!x || !indices || !indices->back().known()) return std::vector{std::move(y)};
  DRIFTSCOPE_CHECK(check_tuple_length(indices->back().size, x->size(), names[1]));
  SymbolicShape expected(indices->begin(), indices->end() - 1);
  expected.insert(expected.end(), x->begin() + static_cast<std::ptrdiff_t>(indices->back().size), x->end());
  DRIFTSCOPE_CHECK(expect_updates(context, expected));
  return std::vector{std::move(y)};
}

struct ScatterND {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, names[1]));
    DRIFTSCOPE_TRY(const Reduction reduction, read_reduction(context.node()));
    TupleOffsets tuples;
    if (element_count(context.shape(2)) > 0) {
      DRIFTSCOPE_TRY(tuples, tuple_offsets(context.tensor(1), context.shape(0), 0, names[1]));
    }
    const auto slice = static_cast<std::size_t>(tuples.slice);
    return scatter(context, reduction, [&](std::size_t i) {
      return tuples.offsets[i / slice] + static_cast<std::int64_t>(i % slice);
    });
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ScatterElements>(
      {.op_type = "Scatter", .since = 9, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_elements}));
  table.add(with_kernels<ScatterElements>({.op_type = "ScatterElements",
                                           .since = 11,
                                           .inputs = {3, 3},
                                           .outputs = {1, 1},
                                           .infer = infer_elements}));
  table.add(with_kernels<ScatterND>(
      {.op_type = "ScatterND", .since = 11, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_nd}));
}

}  // namespace driftscope::ops::scatter_elements
