// Shape, opset 1 to 21 (start and end from 15), and Size: they follow from the type of the input.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::shape {

// The axes of a tensor of this rank that Shape lists: [first, last).
struct Axes {
  std::size_t first = 0;
  std::size_t last = 0;
};

Result<Axes> listed_axes(const Node& node, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (node.opset < 15) return Axes{0, rank};
  DRIFTSCOPE_TRY(const std::int64_t start, int_attribute(node, "start", 0));
  DRIFTSCOPE_TRY(const std::int64_t end, int_attribute(node, "end", size));
  const auto place = [&](std::int64_t at) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size));
  };
  return Axes{place(start), std::max(place(start), place(end))};
}

Result<std::vector<TensorType>> infer_shape(const InferContext& context) {
  SymbolicShape y = unknown_shape(1);
  if (const auto& x = context.input(0).shape) {
    DRIFTSCOPE_TRY(const Axes axes, listed_axes(context.node(), x->size()));
    y[0] = known_dimension(static_cast<std::int64_t>(axes.last - axes.first));
  }
  return std::vector{TensorType{DType::int64, std::move(y)}};
}

Result<std::vector<TensorType>> infer_size(const InferContext& /*context*/) {
  return std::vector{TensorType{DType::int64, SymbolicShape{}}};
}

Result<std::optional<SymbolicShape>> shape_dimensions(const InferContext& context) {
  const auto& x = context.input(0).shape;
  if (!x) return std::optional<SymbolicShape>();
  DRIFTSCOPE_TRY(const Axes axes, listed_axes(context.node(), x->size()));
  return std::optional(SymbolicShape(x->begin() + static_cast<std::ptrdiff_t>(axes.first),
                                     x->begin() + static_cast<std::ptrdiff_t>(axes.last)));
}

Result<std::optional<SymbolicShape>> size_dimensions(const InferContext& context) {
  const auto& x = context.input(0).shape;
  if (!x) return std::optional<SymbolicShape>();
  DRIFTSCOPE_TRY(Dimension size, multiply(*x));
  return std::optional(SymbolicShape{std::move(size)});
}

struct ShapeOf {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const Axes axes, listed_axes(context.node(), x.size()));
    const auto y = context.tensor_output(0).template mutable_values<std::int64_t>();
    for (std::size_t axis = axes.first; axis < axes.last; ++axis) y[axis - axes.first] = x[axis];
    return {};
  }
};

struct Size {
  template <class S>
  static Status run(KernelContext<S>& context) {
    context.tensor_output(0).template mutable_values<std::int64_t>()[0] = element_count(context.shape(0));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ShapeOf>({.op_type = "Shape",
                                   .inputs = {1, 1},
                                   .outputs = {1, 1},
                                   .infer = infer_shape,
                                   .dimensions = shape_dimensions}));
  table.add(with_kernels<Size>({.op_type = "Size",
                                .inputs = {1, 1},
                                .outputs = {1, 1},
                                .infer = infer_size,
                                .dimensions = size_dimensions}));
}

}  // namespace driftscope::ops::shape
