// Expand, opset 8 to 21: broadcasts the input to a shape (both ways: a 1 in the shape keeps the
// input's size). Tile, opset 6 to 21: repeats the input along each axis.
#include <fmt/format.h>

#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::expand {

// A vector of sizes: the value of input 1, where it is known.
Result<std::optional<Ints>> read_sizes(const InferContext& context, std::string_view name) {
  DRIFTSCOPE_CHECK(expect_index(context, 1, name));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, name, 1, 1));
  if (context.constant(1) == nullptr) return std::optional<Ints>();
  DRIFTSCOPE_TRY(Ints sizes, integers_of(*context.constant(1), input_label(1, name)));
  for (const std::int64_t size : sizes)
    if (size < 0)
      return bad_input(fmt::format("{}: expected sizes of 0 or more, got [{}]", input_label(1, name),
                                   fmt::join(sizes, ",")));
  return std::optional<Ints>(std::move(sizes));
}

Result<std::vector<TensorType>> infer_expand(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const auto sizes, read_sizes(context, "shape"));
  TensorType y{context.input(0).dtype, std::nullopt};
  std::optional<SymbolicShape> shape;
  if (sizes)
    shape = symbolic_shape(*sizes);
  else if (const PartialVector* partial = context.partial(1))
    shape = as_sizes(*partial);
  if (context.input(0).shape && shape) {
    DRIFTSCOPE_TRY(y.shape, broadcast(*context.input(0).shape, *shape));
  }
  return std::vector{std::move(y)};
}

struct Expand {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "shape"));
    const Shape& y = context.output_shape(0);
    copy_view(context, 0, {0, y, broadcast_strides(context.shape(0), y)});
    return {};
  }
};

Result<std::vector<TensorType>> infer_tile(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const auto repeats, read_sizes(context, "repeats"));
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  if (repeats && repeats->size() != y.shape->size())
    return bad_input(fmt::format("{}: expected one number for each axis of input 0 (shape {}), got {}",
                                 input_label(1, "repeats"), shape_text(*y.shape), repeats->size()));
  for (std::size_t axis = 0; axis < y.shape->size(); ++axis) {
    Dimension& size = (*y.shape)[axis];
    if (!repeats) {
      size = Dimension{};
      continue;
    }
    const std::array<Dimension, 2> factors = {size, known_dimension((*repeats)[axis])};
    DRIFTSCOPE_TRY(size, multiply(factors));
  }
  return std::vector{std::move(y)};
}

struct Tile {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "repeats"));
    const Shape& x = context.shape(0);
    const Ints repeats = indices_of(context.tensor(1));
    const Shape strides = dense_strides(x);
    StridedView view;
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
      view.add(repeats[axis], 0);
      view.add(x[axis], strides[axis]);
    }
    copy_view(context, 0, std::move(view));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Expand>(
      {.op_type = "Expand", .since = 8, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_expand}));
  table.add(with_kernels<Tile>(
      {.op_type = "Tile", .since = 6, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_tile}));
}

}  // namespace driftscope::ops::expand
