// MaxUnpool, opset 9 to 21: puts the elements of X at the indices given by MaxPool, 0 elsewhere.
// The indices refer to a tensor of the inferred size; output_shape, which may be larger, only
// appends zeros (as in the reference implementation).
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::ops::max_unpool {

// (in − 1)·stride + kernel − pads on every spatial axis.
Result<Shape> unpooled(const Node& node, const Shape& x) {
  const std::size_t rank = x.size() - 2;
  DRIFTSCOPE_TRY(const Ints kernel, ints_attribute(node, "kernel_shape", {}));
  if (kernel.size() != rank)
    return bad_input(fmt::format("attribute kernel_shape: expected {} values, got {}", rank, kernel.size()));
  DRIFTSCOPE_TRY(const WindowAttributes window, read_window(node, kernel));
  Shape y = x;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto reached = checked_mul(std::max<std::int64_t>(0, x[i + 2] - 1), window.strides[i]);
    const auto size = reached
                          ? checked_add(*reached, window.kernel[i] - window.pads[i] - window.pads[i + rank])
                          : std::nullopt;
    if (!size || *size < 0)
      return bad_input(
          fmt::format("spatial axis {}: stride {}, kernel {} and pads {} and {} give no "
                      "size",
                      i, window.strides[i], window.kernel[i], window.pads[i], window.pads[i + rank]));
    y[i + 2] = *size;
  }
  return y;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 3, 34));
  const auto& x = context.input(0).shape;
  const auto& indices = context.input(1);
  if (indices.dtype != DType::undefined && indices.dtype != DType::int64)
    return bad_input(fmt::format("input 1 (I): expected int64, got {}", dtype_name(indices.dtype)));
  TensorType y{context.input(0).dtype, std::nullopt};
  if (!x) return std::vector{std::move(y)};
  if (indices.shape) {
    bool fits = indices.shape->size() == x->size();
    for (std::size_t i = 0; fits && i < x->size(); ++i)
      fits = unify((*x)[i], (*indices.shape)[i]).has_value();
    if (!fits)
      return bad_input(fmt::format("input 1 (I): expected shape {} as X has, got {}", shape_text(*x),
                                   shape_text(*indices.shape)));
  }
  const auto known = concrete_shape(x);
  if (!known || (context.has_input(2) && context.constant(2) == nullptr)) {
    y.shape = unknown_shape(x->size());
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(Shape shape, unpooled(context.node(), *known));
  if (context.has_input(2)) {
    DRIFTSCOPE_TRY(const Ints asked, integers_of(*context.constant(2), "input 2 (output_shape)"));
    bool fits = asked.size() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = asked[i] >= shape[i];
    if (!fits)
      return bad_input(fmt::format("input 2 (output_shape): expected at least {}, got [{}]",
                                   shape_text(shape), fmt::join(asked, ",")));
    shape = asked;
  }
  y.shape = symbolic_shape(shape);
  return std::vector{std::move(y)};
}

struct MaxUnpool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::span<S> y = context.real_output(0);
    const Shape& outer = context.output_shape(0);
    DRIFTSCOPE_TRY(const Shape inner, unpooled(context.node(), context.shape(0)));
    const std::int64_t elements = element_count(inner);
    std::fill(y.begin(), y.end(), math::exact<S>(0.0));
    const auto indices = context.tensor(1).template values<std::int64_t>();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= elements)
        return bad_input(fmt::format("input 1 (I): element {} is {}, expected 0 to {} (the output is {})", i,
                                     indices[i], elements - 1, shape_text(inner)));
      std::int64_t rest = indices[i];
      std::int64_t target = 0;
      std::int64_t stride = 1;
      for (std::size_t axis = inner.size(); axis-- > 0;) {
        target += rest % inner[axis] * stride;
        rest /= inner[axis];
        stride *= outer[axis];
      }
      y[static_cast<std::size_t>(target)] = context.real(0)[i];
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MaxUnpool>(
      {.op_type = "MaxUnpool", .since = 9, .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::max_unpool
