// Ceil, Floor (opset 6 to 21), Round (opset 11 to 21): to an integer, Round with ties to even.
// Exact, and −0 stays −0; an error of the input counts only where it reaches a jump.
#include <cmath>

#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::rounding {

struct Ceil {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    return math::step(x, [](auto t) { return std::ceil(t); });
  }
};
struct Floor {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    return math::step(x, [](auto t) { return std::floor(t); });
  }
};
struct Round {
  static constexpr Kinds kinds = Kinds::floating;
  template <class T>
  T apply(T x) const {
    return math::step(x, [](auto t) { return std::nearbyint(t); });
  }
};

void add_to(OperatorTable& table) {
  add_unary<Ceil>(table, "Ceil", 6);
  add_unary<Floor>(table, "Floor", 6);
  add_unary<Round>(table, "Round", 11);
}

}  // namespace driftscope::ops::rounding
