// Gelu, opset 20 and 21: x·Φ(x), Φ through erf, or with approximate = "tanh"
// ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
//
// Runtimes do not all take an accurate erf here, so the error model has a row for this one.
//
// Strict definition (float): (½·x)·(1 + erf(x·√½)); (½·x)·(1 + tanh(√(2/π)·(x + 0.044715·(x·x·x)))).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/gelu.hpp"

namespace driftscope::ops::gelu {

struct Gelu {
  static constexpr Kinds kinds = Kinds::floating;
  bool through_tanh = false;

  static Result<Gelu> read(const Node& node) {
    const auto form = string_attribute(node, "approximate", "none");
    if (!form.ok()) return form.error();
    if (*form == "none") return Gelu{false};
    if (*form == "tanh") return Gelu{true};
    return bad_input(fmt::format("attribute approximate: expected none or tanh, got \"{}\"", *form));
  }

  template <class S>
  S apply(S x) const {
    return (S(0.5f) * x) * (S(1) + (through_tanh ? math::tanh(gelu_cubic(x)) : erf_of(x)));
  }

 private:
  template <class S>
  static S erf_of(S x) {
    const S argument = x * math::rounded_constant<S>(0.70710678118654752);
    if constexpr (std::is_same_v<S, Bounded>)
      return gelu_erf(argument);
    else
      return math::erf(argument);
  }
};

void add_to(OperatorTable& table) { add_unary<Gelu>(table, "Gelu", 20); }

}  // namespace driftscope::ops::gelu
