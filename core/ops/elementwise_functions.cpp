// Functions of one input, opset 6 to 21. One row each: Exp, Log, Sigmoid, Tanh, Softplus, Softsign, Erf,
// the trigonometric and hyperbolic ones and their inverses.
//
// Strict definition (float): the function of math.hpp; Softsign is x / (1 + |x|). Erf of integers is that
// of double, its fraction cut off: ±1 from ±6 on, else 0.
#include <type_traits>

#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::elementwise_functions {

struct Softsign {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    const T y = x / (T(1) + math::abs(x));
    // ONNX Runtime: x times a reciprocal that is itself rounded.
    if constexpr (std::is_same_v<T, Bounded>)
      return math::round_more(y, 2);
    else
      return y;
  }
};

struct Erf {
  static constexpr Kinds kinds = Kinds::numeric;
  template <class T>
  T apply(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(math::erf(static_cast<double>(x)));
    else
      return math::erf(x);
  }
};

#define DRIFTSCOPE_ROW(Row, function)               \
  struct Row {                                      \
    static constexpr Kinds kinds = Kinds::floating; \
    template <class T>                              \
    T apply(T x) const {                            \
      return math::function(x);                     \
    }                                               \
  };
DRIFTSCOPE_ROW(Exp, exp)
DRIFTSCOPE_ROW(Log, log)
DRIFTSCOPE_ROW(Sigmoid, sigmoid)
DRIFTSCOPE_ROW(Tanh, tanh)
DRIFTSCOPE_ROW(Softplus, softplus)
DRIFTSCOPE_ROW(Sin, sin)
DRIFTSCOPE_ROW(Cos, cos)
DRIFTSCOPE_ROW(Tan, tan)
DRIFTSCOPE_ROW(Asin, asin)
DRIFTSCOPE_ROW(Acos, acos)
DRIFTSCOPE_ROW(Atan, atan)
DRIFTSCOPE_ROW(Sinh, sinh)
DRIFTSCOPE_ROW(Cosh, cosh)
DRIFTSCOPE_ROW(Asinh, asinh)
DRIFTSCOPE_ROW(Acosh, acosh)
DRIFTSCOPE_ROW(Atanh, atanh)
#undef DRIFTSCOPE_ROW

void add_to(OperatorTable& table) {
  add_unary<Exp>(table, "Exp", 6);
  add_unary<Log>(table, "Log", 6);
  add_unary<Sigmoid>(table, "Sigmoid", 6);
  add_unary<Tanh>(table, "Tanh", 6);
  add_unary<Softplus>(table, "Softplus", 1);
  add_unary<Softsign>(table, "Softsign", 1);
  add_unary<Erf>(table, "Erf", 9);
  add_unary<Sin>(table, "Sin", 7);
  add_unary<Cos>(table, "Cos", 7);
  add_unary<Tan>(table, "Tan", 7);
  add_unary<Asin>(table, "Asin", 7);
  add_unary<Acos>(table, "Acos", 7);
  add_unary<Atan>(table, "Atan", 7);
  add_unary<Sinh>(table, "Sinh", 9);
  add_unary<Cosh>(table, "Cosh", 9);
  add_unary<Asinh>(table, "Asinh", 9);
  add_unary<Acosh>(table, "Acosh", 9);
  add_unary<Atanh>(table, "Atanh", 9);
}

}  // namespace driftscope::ops::elementwise_functions
