// Relu, Abs, Neg, Sign, Reciprocal, Sqrt, opset 6 to 21: one input, the same shape. One row each.
// Relu is max(x, 0): NaN stays NaN, −0 becomes +0 (strict); it also takes integers (opset 14). The smallest
// integer has no opposite: its Abs and Neg wrap around to itself.
#include <type_traits>

#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::elementwise_unary {

struct Relu {
  static constexpr Kinds kinds = Kinds::numeric;
  static constexpr bool exact_copy = true;
  template <class T>
  T apply(T x) const {
    return math::max(x, T(0));
  }
};
struct Abs {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  T apply(T x) const {
    if constexpr (!std::is_integral_v<T>)
      return math::abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? cut_integer<T>(0u - widen_integer(x)) : x;
    else
      return x;
  }
};
struct Neg {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  T apply(T x) const {
    if constexpr (std::is_integral_v<T>)
      return cut_integer<T>(0u - widen_integer(x));
    else
      return -x;
  }
};
struct Sign {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  T apply(T x) const {
    const auto sign = [](auto t) {
      using U = decltype(t);
      return t > U(0) ? U(1) : t < U(0) ? static_cast<U>(-1) : t;
    };
    if constexpr (std::is_integral_v<T>)
      return sign(x);
    else
      return math::step(x, sign);
  }
};
struct Reciprocal {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    return T(1) / x;
  }
};
struct Sqrt {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    return math::sqrt(x);
  }
};

void add_to(OperatorTable& table) {
  add_unary<Relu>(table, "Relu", 6);
  add_unary<Abs>(table, "Abs", 6);
  add_unary<Neg>(table, "Neg", 6);
  add_unary<Sign>(table, "Sign", 9);
  add_unary<Reciprocal>(table, "Reciprocal", 6);
  add_unary<Sqrt>(table, "Sqrt", 6);
}

}  // namespace driftscope::ops::elementwise_unary
