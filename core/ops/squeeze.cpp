// Squeeze and Unsqueeze, opset 1 to 21: remove or add axes of size 1. The axes are an attribute (opset 1
// to 12) or an input (from 13); Squeeze without them removes every axis of size 1.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::squeeze {

constexpr IntsSource axes_source{"axes", 1, 13};

Result<std::vector<TensorType>> infer_squeeze(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const GivenInts axes, read_ints(context, axes_source));
  TensorType y{context.input(0).dtype, std::nullopt};
  const auto& x = context.input(0).shape;
  if (!x || (axes.given && !axes.values)) return std::vector{std::move(y)};
  std::vector<bool> removed(x->size(), false);
  if (axes.given) {
    DRIFTSCOPE_TRY(const auto places, normalize_axes(*axes.values, x->size()));
    for (const std::size_t axis : places) {
      const Dimension& size = (*x)[axis];
      if (size.known() && size.size != 1)
        return bad_input(
            fmt::format("axes: axis {} of input 0 (shape {}) has the size {}, only 1 can "
                        "be removed",
                        axis, shape_text(*x), size.size));
      removed[axis] = true;
    }
  } else {
    for (std::size_t axis = 0; axis < x->size(); ++axis) {
      if (!(*x)[axis].known()) return std::vector{std::move(y)};
      removed[axis] = (*x)[axis].size == 1;
    }
  }
  y.shape.emplace();
  for (std::size_t axis = 0; axis < x->size(); ++axis)
    if (!removed[axis]) y.shape->push_back((*x)[axis]);
  return std::vector{std::move(y)};
}

Result<std::vector<TensorType>> infer_unsqueeze(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const GivenInts axes, read_ints(context, axes_source));
  if (!axes.given) return bad_input("axes: required, but absent");
  TensorType y{context.input(0).dtype, std::nullopt};
  const auto& x = context.input(0).shape;
  if (!x || !axes.values) return std::vector{std::move(y)};
  const std::size_t rank = x->size() + axes.values->size();
  if (rank > max_rank)
    return limit_error(fmt::format("axes: {} dimensions, the limit is {}", rank, max_rank));
  DRIFTSCOPE_TRY(const auto places, normalize_axes(*axes.values, rank));
  y.shape.emplace();
  std::size_t from = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool added = std::find(places.begin(), places.end(), axis) != places.end();
    y.shape->push_back(added ? known_dimension(1) : (*x)[from++]);
  }
  return std::vector{std::move(y)};
}

struct CopyElements {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "axes"));
    copy_elements(context);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<CopyElements>(
      {.op_type = "Squeeze", .inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_squeeze}));
  table.add(with_kernels<CopyElements>(
      {.op_type = "Unsqueeze", .inputs = {1, 2}, .outputs = {1, 1}, .infer = infer_unsqueeze}));
}

}  // namespace driftscope::ops::squeeze
