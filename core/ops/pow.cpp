// Pow, opset 7 to 21: X to the power Y, broadcast, of the type of X; since opset 12 X may be an integer
// and Y of any numeric type. An integer power of an integer wraps around; any other power of an integer is
// computed in double and truncated towards zero.
//
// Strict definition (float): the double function, rounded.
#include <fmt/format.h>

#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::pow {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "Y", Kinds::numeric));
  return broadcast_type(context, context.input(0).dtype);
}

// By squaring, modulo 2ⁿ.
template <class T>
T whole_power(T base, std::uint64_t exponent) {
  std::uint64_t square = widen_integer(base);
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= square;
    square *= square;
  }
  return cut_integer<T>(result);
}

template <class T, class E>
T integer_power(T base, E exponent) {
  if constexpr (std::is_integral_v<E>) {
    if (exponent >= E(0)) return whole_power(base, widen_integer(exponent));
  }
  return truncate_to_integer<T>(portable::pow(static_cast<double>(base), math::to_double(exponent)));
}

// X as stored against Y of the element type E.
template <class E, class S>
void raise(KernelContext<S>& context, std::span<const E> y) {
  const auto map = [&](auto x, auto out, const auto& apply) {
    map_broadcast(context, context.shape(0), x, context.shape(1), y, out, apply);
  };
  if (is_floating(context.dtype(0))) {
    map(context.real(0), context.real_output(0), [](S base, E exponent) {
      if constexpr (std::is_same_v<E, S>)
        return math::pow(base, exponent);
      else if constexpr (std::is_same_v<S, Bounded>)
        return math::pow(base, Bounded(static_cast<double>(exponent)));
      else
        return static_cast<S>(portable::pow(static_cast<double>(base), static_cast<double>(exponent)));
    });
    return;
  }
  with_integer(context.dtype(0), [&]<class T>() {
    map(context.tensor(0).template values<T>(), context.tensor_output(0).template mutable_values<T>(),
        [](T base, E exponent) { return integer_power(base, exponent); });
  });
}

// An integral exponent as a signed integer; for larger ones only the parity matters.
template <class E>
std::int64_t as_signed(E exponent) {
  constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();
  if constexpr (std::is_same_v<E, std::uint64_t>)
    if (exponent > static_cast<std::uint64_t>(int64_max))
      return (int64_max - 1) | static_cast<std::int64_t>(exponent & 1);
  return static_cast<std::int64_t>(exponent);
}

struct Pow {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (is_floating(context.dtype(1))) {
      raise(context, context.real(1));
      return {};
    }
    std::vector<std::int64_t> exponents;
    with_integer(context.dtype(1), [&]<class E>() {
      for (const E exponent : context.tensor(1).template values<E>())
        exponents.push_back(as_signed(exponent));
    });
    raise(context, std::span<const std::int64_t>(exponents));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(
      with_kernels<Pow>({.op_type = "Pow", .since = 7, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::pow
