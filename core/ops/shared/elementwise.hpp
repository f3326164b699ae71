// Shape rules and kernels that elementwise operators share: one input; two or more, broadcast.
// Clients: the elementwise operators. A row defines only the operation on one element.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "core/eval/integers.hpp"
#include "core/eval/operator.hpp"
#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/real_elements.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope {

/// Elements that are worth handing to a thread.
inline constexpr std::int64_t elementwise_grain = 16384;

/// y[i] = apply(x[i]); x: a span, or RealElements.
template <class X, class Y, class Apply, class S>
void map_elements(const KernelContext<S>& context, const X& x, std::span<Y> y, const Apply& apply) {
  context.parallel_for(
      static_cast<std::int64_t>(y.size()), elementwise_grain, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          y[i] = apply(x[i]);
      });
}

/// An input of map_broadcast.
template <class T>
struct Broadcasted {
  const Shape& shape;
  std::span<const T> values;
};

/// Elements of a broadcast that follow one another in the output: for each input the start of its elements in
/// its data, and their stride, 1, or 0 where one is repeated.
struct BroadcastRow {
  std::span<const std::int64_t> offsets;
  std::span<const std::int64_t> steps;
  std::int64_t output;   ///< where the row begins in the output
  std::int64_t columns;  ///< its elements
};

/// Calls body for rows that cover the non-empty output of this shape, threaded. Axes that every input walks
/// through alike are one: rows are as long as the shapes let them be, and end where a thread's part ends.
void for_broadcast_rows(const KernelThreads& threads, const Shape& out, std::span<const Shape> inputs,
                        FunctionRef<void(const BroadcastRow&)> body);

/// y = apply(inputs…), the inputs broadcast to the shape of output 0.
template <class S, class Y, class Apply, class... X>
void map_broadcast_all(const KernelContext<S>& context, std::span<Y> y, const Apply& apply,
                       const Broadcasted<X>&... inputs) {
  if (y.empty()) return;
  const std::array<Shape, sizeof...(X)> shapes = {inputs.shape...};
  const std::tuple<const X*...> data = {inputs.values.data()...};
  const auto map_row = [&]<std::size_t... k>(std::index_sequence<k...>, const BroadcastRow& row) {
    Y* target = y.data() + row.output;
    for (std::int64_t i = 0; i < row.columns; ++i)
      target[i] = apply(std::get<k>(data)[row.offsets[k] + i * row.steps[k]]...);
  };
  for_broadcast_rows(context, context.output_shape(0), shapes, [&](const BroadcastRow& row) {
    map_row(std::make_index_sequence<sizeof...(X)>(), row);
  });
}

/// y = apply(a, b), a and b broadcast to the shape of output 0.
template <class A, class B, class Y, class Apply, class S>
void map_broadcast(const KernelContext<S>& context, const Shape& a_shape, std::span<const A> a,
                   const Shape& b_shape, std::span<const B> b, std::span<Y> y, const Apply& apply) {
  map_broadcast_all(context, y, apply, Broadcasted<A>{a_shape, a}, Broadcasted<B>{b_shape, b});
}

/// The type of one output of this element type whose shape is that of all inputs broadcast.
[[nodiscard]] Result<std::vector<TensorType>> broadcast_type(const InferContext& context, DType dtype);

/// A row: `template <class T> T apply(T x) const`, its `kinds`, where it has attributes `static
/// Result<Row> read(const Node&)`, and `selects` where it does not round (see Operator).
template <class Row>
[[nodiscard]] Result<Row> read_row(const Node& node) {
  if constexpr (requires { Row::read(node); })
    return Row::read(node);
  else
    return Row{};
}

/// One input, the same type and shape.
template <class Row>
struct Unary {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Row::kinds));
    if (auto row = read_row<Row>(context.node()); !row.ok()) return std::move(row).error();
    return std::vector{context.input(0)};
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Row row, read_row<Row>(context.node()));
    if constexpr (Row::kinds != Kinds::integer)
      if (is_floating(context.output_dtype(0))) {
        map_elements(context, RealElements<S>(context, 0), context.real_output(0),
                     [&](S x) { return row.apply(x); });
        return {};
      }
    if constexpr (Row::kinds != Kinds::floating)
      context.with_integer(context.output_dtype(0), [&]<class T>() {
        map_elements(context, context.tensor(0).template values<T>(),
                     context.tensor_output(0).template mutable_values<T>(),
                     [&](T x) { return row.apply(x); });
      });
    return {};
  }
};

template <class Row>
void add_unary(OperatorTable& table, std::string_view op_type, std::int64_t since) {
  table.add(with_kernels<Unary<Row>>({.op_type = op_type,
                                      .since = since,
                                      .inputs = {1, 1},
                                      .outputs = {1, 1},
                                      .infer = Unary<Row>::infer,
                                      .exact_copy = requires { Row::selects;
}
}  // namespace driftscope
));
}

}  // namespace driftscope
