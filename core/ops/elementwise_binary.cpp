// Add, Sub, Mul, Div, opset 7 to 21: two inputs, multidirectional broadcasting. One row each.
// Integers wrap around; an integer quotient is truncated towards zero.
#include <fmt/format.h>

#include "core/numerics/rounding.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::elementwise_binary {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};

template <class Row, class T>
T apply_integer(T a, T b) {
  if constexpr (std::is_same_v<Row, Div>) {
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return cut_integer<T>(0u - widen_integer(a));  // the smallest one wraps around
    return static_cast<T>(a / b);
  } else {
    return cut_integer<T>(Row::apply(widen_integer(a), widen_integer(b)));
  }
}

constexpr std::array<std::string_view, 2> names = {"A", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  return broadcast_type(context, dtype);
}

// Such tensors (recorded ones and weights) are added directly: lifting them moves four times the memory.
bool is_exact_float32(const KernelContext<Bounded>& context, std::size_t input) {
  return context.exact(input) != nullptr && context.dtype(input) == DType::float32;
}

// One operation on exact numbers: its rounding is the only error.
template <class Row>
Bounded apply_exact(double a, double b) {
  const ErrorModel& model = current_error_model();
  const double value = Row::apply(a, b);
  if (!std::isfinite(value) || std::fabs(a) > model.largest || std::fabs(b) > model.largest)
    return Row::apply(Bounded(a), Bounded(b));
  const double error = std::is_same_v<Row, Div> ? division_error(model, std::fabs(value))
                                                : rounding_error(model, std::fabs(value));
  return {value, error, error};
}

template <class Row>
struct Binary {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& a_shape = context.shape(0);
    const Shape& b_shape = context.shape(1);
    if (is_floating(context.output_dtype(0))) {
      if constexpr (std::is_same_v<S, Bounded>)
        if (is_exact_float32(context, 0) && is_exact_float32(context, 1)) {
          map_broadcast(context, a_shape, context.exact(0)->template values<float>(), b_shape,
                        context.exact(1)->template values<float>(), context.real_output(0),
                        [](float a, float b) {
                          return apply_exact<Row>(static_cast<double>(a), static_cast<double>(b));
                        });
          return {};
        }
      map_broadcast(context, a_shape, context.real(0), b_shape, context.real(1), context.real_output(0),
                    [](S a, S b) { return Row::apply(a, b); });
      return {};
    }
    Status status;
    context.with_integer(context.output_dtype(0), [&]<class T>() {
      const auto b = context.tensor(1).template values<T>();
      if (std::is_same_v<Row, Div> && context.tensor_output(0).elements() > 0)
        if (const auto zero = std::find(b.begin(), b.end(), T(0)); zero != b.end()) {
          status =
              bad_input(fmt::format("input 1 (B): element {} is 0, an integer cannot be divided "
                                    "by it",
                                    zero - b.begin()));
          return;
        }
      map_broadcast(context, a_shape, context.tensor(0).template values<T>(), b_shape, b,
                    context.tensor_output(0).template mutable_values<T>(),
                    [](T x, T y) { return apply_integer<Row>(x, y); });
    });
    return status;
  }
};

template <class Row>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<Binary<Row>>(
      {.op_type = op_type, .since = 7, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Add>(table, "Add");
  add_row<Sub>(table, "Sub");
  add_row<Mul>(table, "Mul");
  add_row<Div>(table, "Div");
}

}  // namespace driftscope::ops::elementwise_binary
