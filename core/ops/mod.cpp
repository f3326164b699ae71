// Mod, opset 10 to 28, broadcast. fmod = 0 (integers, from 28 also floats): a − ⌊a/b⌋·b, with the sign of the
// divisor; fmod = 1: a − trunc(a/b)·b, with that of the dividend, as in C, which is exact. The bound of the
// former covers that it is computed as written.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::mod {

constexpr std::array<std::string_view, 2> names = {"A", "B"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY(const bool of_dividend, flag_attribute(context.node(), "fmod", false));
  if (is_floating(dtype) && !of_dividend && context.node().opset < 28)
    return bad_input(
        fmt::format("attribute fmod: must be 1 for {} before opset 28, got 0", dtype_name(dtype)));
  return broadcast_type(context, dtype);
}

// b is not 0.
template <class T>
T remainder(T a, T b, bool of_dividend) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return T(0);  // for the smallest integer the quotient overflows in C
    const T rest = static_cast<T>(a % b);
    return !of_dividend && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

template <class T>
T floating_remainder(T a, T b, bool of_dividend) {
  const T rest = std::fmod(a, b);
  if (of_dividend || std::isnan(rest)) return rest;
  if (rest == T(0)) return std::copysign(rest, b);
  return std::signbit(rest) == std::signbit(b) ? rest : rest + b;
}
float remainder_of(float a, float b, bool of_dividend) { return floating_remainder(a, b, of_dividend); }
double remainder_of(double a, double b, bool of_dividend) { return floating_remainder(a, b, of_dividend); }

// a − q·b with q rounded: changes by the errors of a and q·b, and jumps by b where q changes.
Bounded remainder_of(Bounded a, Bounded b, bool of_dividend) {
  const double value = floating_remainder(a.value, b.value, of_dividend);
  if (!of_dividend && std::isfinite(a.value) && std::isfinite(b.value) && a.value != 0.0) {
    // The quotient, its product with b, and the difference are rounded.
    const double rounding =
        4.0 * current_error_model().unit_roundoff * (std::fabs(a.value) + std::fabs(b.value));
    a = {a.value, a.worst + rounding, a.likely + rounding, a.systematic + rounding};
  }
  if (a.worst == 0.0 && b.worst == 0.0) return value;
  const double quotient = std::trunc(a.value / b.value);
  if (!std::isfinite(value) || !std::isfinite(quotient) || !(std::fabs(b.value) > b.worst))
    return {value, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const auto reach = [&](double error_a, double error_b) {
    const double moved = error_a + std::fabs(quotient) * error_b;
    const double rest = std::fabs(value);
    const bool jumps = !(rest > moved && rest + moved < std::fabs(b.value) - error_b);
    return moved + (jumps ? std::fabs(b.value) + error_b : 0.0);
  };
  return {value, reach(a.worst, b.worst), reach(a.likely, b.likely), reach(a.systematic, b.systematic)};
}

struct Mod {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto map = [&](auto a, auto b, auto y, const auto& apply) {
      map_broadcast(context, context.shape(0), a, context.shape(1), b, y, apply);
    };
    DRIFTSCOPE_TRY(const bool of_dividend, flag_attribute(context.node(), "fmod", false));
    if (is_floating(context.dtype(0))) {
      map(context.real(0), context.real(1), context.real_output(0),
          [&](S a, S b) { return remainder_of(a, b, of_dividend); });
      return {};
    }
    Status status;
    context.with_integer(context.dtype(0), [&]<class T>() {
      const auto b = context.tensor(1).template values<T>();
      if (context.tensor_output(0).elements() > 0)
        if (const auto zero = std::find(b.begin(), b.end(), T(0)); zero != b.end()) {
          status = bad_input(fmt::format("input 1 (B): element {} is 0, an integer cannot be divided by it",
                                         zero - b.begin()));
          return;
        }
      map(context.tensor(0).template values<T>(), b, context.tensor_output(0).template mutable_values<T>(),
          [&](T x, T y) { return remainder(x, y, of_dividend); });
    });
    return status;
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Mod>(
      {.op_type = "Mod", .since = 10, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::mod
