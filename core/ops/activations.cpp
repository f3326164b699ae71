// Activations with attributes, opset 6 to 21. One row each: Elu, Selu, Celu, LeakyRelu, ThresholdedRelu,
// HardSigmoid, HardSwish, Mish, Shrink.
//
// Where runtimes write a formula in several ways (α·(eˣ − 1) or α·eˣ − α; x·clip(x/6 + ½) or
// x·clip(x + 3)/6) the bound covers all of them; float is the first form, with expm1.
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::activations {

// α·(eˣ − 1)
template <class S>
S scaled_expm1(S x, S alpha) {
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum(-alpha);
    sum.add_product(exp(x), alpha);
    sum.round_once_more();
    Bounded result = sum.result();
    if (std::isfinite(result.value)) result.value = alpha.value * portable::expm1(x.value);
    return result;
  } else {
    return alpha * math::expm1(x);
  }
}

// a·x + b; one rounding or two, in any order.
template <class S>
S line(S x, S a, S b) {
  if constexpr (std::is_same_v<S, Bounded>) {
    Sum<Bounded> sum(b);
    sum.add_product(x, a);
    return sum.result();
  } else {
    return x * a + b;
  }
}

template <class S>
S attribute(float x) {
  return math::given<S>(x);
}

struct Elu {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 1.0f;
  static Result<Elu> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
    return Elu{alpha};
  }
  template <class S>
  S apply(S x) const {
    return math::split_at(
        x, S(0), [&](S t) { return scaled_expm1(t, attribute<S>(alpha)); }, [](S t) { return t; });
  }
};

struct Selu {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 0.0f;
  float gamma = 0.0f;
  static Result<Selu> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.67326319217681884765625f));
    DRIFTSCOPE_TRY(const float gamma, float_attribute(node, "gamma", 1.05070102214813232421875f));
    return Selu{alpha, gamma};
  }
  template <class S>
  S apply(S x) const {
    const S scale = attribute<S>(gamma);
    return math::split_at(
        x, S(0),
        [&](S t) {
          const S y = scale * scaled_expm1(t, attribute<S>(alpha));
          if constexpr (std::is_same_v<S, Bounded>)
            return math::round_more(y, 1);  // γ·α first
          else
            return y;
        },
        [&](S t) { return scale * t; });
  }
};

struct Celu {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 1.0f;
  static Result<Celu> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
    if (alpha == 0.0f) return bad_input("attribute alpha: 0, but x is divided by it");
    return Celu{alpha};
  }
  template <class S>
  S apply(S x) const {
    const S a = attribute<S>(alpha);
    return math::split_at(x, S(0), [&](S t) { return scaled_expm1(t / a, a); }, [](S t) { return t; });
  }
};

struct LeakyRelu {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 0.01f;
  static Result<LeakyRelu> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.01f));
    return LeakyRelu{alpha};
  }
  // x < 0 is −x > 0, so that −0 and NaN stay.
  template <class S>
  S apply(S x) const {
    return math::split_at(-x, S(0), [&](S) { return x; }, [&](S) { return attribute<S>(alpha) * x; });
  }
};

struct ThresholdedRelu {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 1.0f;
  static Result<ThresholdedRelu> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
    return ThresholdedRelu{alpha};
  }
  // Where(alpha < x, x, 0), as ONNX's function has it: NaN becomes 0.
  template <class S>
  S apply(S x) const {
    return math::split_at(x, attribute<S>(alpha), [](S) { return S(0); }, [](S t) { return t; });
  }
};

struct HardSigmoid {
  static constexpr Kinds kinds = Kinds::floating;
  float alpha = 0.2f;
  float beta = 0.5f;
  static Result<HardSigmoid> read(const Node& node) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.2f));
    DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 0.5f));
    return HardSigmoid{alpha, beta};
  }
  template <class S>
  S apply(S x) const {
    return math::max(math::min(line(x, attribute<S>(alpha), attribute<S>(beta)), S(1)), S(0));
  }
};

struct HardSwish {
  static constexpr Kinds kinds = Kinds::floating;
  template <class S>
  S apply(S x) const {
    S gate = line(x, math::rounded_constant<S>(1.0 / 6.0), S(0.5f));
    if constexpr (std::is_same_v<S, Bounded>) gate = math::round_more(gate, 1);  // (x + 3)/6
    const S y = x * math::max(math::min(gate, S(1)), S(0));
    if constexpr (std::is_same_v<S, Bounded>)
      return math::round_more(y, 1);  // x·clip(x + 3)/6
    else
      return y;
  }
};

struct Mish {
  static constexpr Kinds kinds = Kinds::floating;
  template <class S>
  S apply(S x) const {
    return x * math::tanh(math::softplus(x));
  }
};

// Comparisons with NaN fail, so that it becomes 0 (as in ONNX's function).
struct Shrink {
  static constexpr Kinds kinds = Kinds::numeric;
  float bias = 0.0f;
  float lambd = 0.5f;
  static Result<Shrink> read(const Node& node) {
    DRIFTSCOPE_TRY(const float bias, float_attribute(node, "bias", 0.0f));
    DRIFTSCOPE_TRY(const float lambd, float_attribute(node, "lambd", 0.5f));
    return Shrink{bias, lambd};
  }
  template <class T>
  T apply(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return truncate_to_integer<T>(apply(static_cast<double>(x)));
    } else {
      const T offset = attribute<T>(bias);
      const T border = attribute<T>(lambd);
      const auto up = [&](T t) {  // x ≥ −λ
        return math::split_at(t, border, [](T) { return T(0); }, [&](T u) { return u - offset; });
      };
      return math::split_at(-x, border, [&](T) { return up(x); }, [&](T) { return x + offset; });
    }
  }
};

void add_to(OperatorTable& table) {
  add_unary<Elu>(table, "Elu", 6);
  add_unary<Selu>(table, "Selu", 6);
  add_unary<Celu>(table, "Celu", 12);
  add_unary<LeakyRelu>(table, "LeakyRelu", 6);
  add_unary<ThresholdedRelu>(table, "ThresholdedRelu", 10);
  add_unary<HardSigmoid>(table, "HardSigmoid", 6);
  add_unary<HardSwish>(table, "HardSwish", 14);
  add_unary<Mish>(table, "Mish", 18);
  add_unary<Shrink>(table, "Shrink", 9);
}

}  // namespace driftscope::ops::activations
