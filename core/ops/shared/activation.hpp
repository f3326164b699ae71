// The activation functions of the recurrent operators, by name and with alpha and beta.
// Clients: RNN, GRU, LSTM. ONNX specification of these operators; defaults are those of the
// operators of the same names.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/numerics/math.hpp"

namespace driftscope {

struct Activation {
  enum class Kind {
    relu,
    tanh,
    sigmoid,
    affine,
    leaky_relu,
    thresholded_relu,
    scaled_tanh,
    hard_sigmoid,
    elu,
    softsign,
    softplus
  };
  Kind kind = Kind::tanh;
  float alpha = 0.0f;
  float beta = 0.0f;

  [[nodiscard]] bool continuous() const { return kind != Kind::thresholded_relu; }
};

/// As many activations per direction as `defaults` has names; alphas and betas are assigned in order to
/// those functions that take one.
[[nodiscard]] Result<std::vector<Activation>> read_activations(const Node& node, std::size_t directions,
                                                               const std::vector<std::string>& defaults);

/// f below `at` and g above it; the two agree at `at`, so that the error for an argument that may lie on
/// either side is at most the larger of both.
template <class S, class F, class G>
[[nodiscard]] S pieces(const S& x, double at, const F& below, const G& above) {
  if constexpr (std::is_same_v<S, Bounded>) {
    if (x.value - x.worst >= at) return above(x);
    if (x.value + x.worst < at) return below(x);
    const Bounded low = below(x);
    const Bounded high = above(x);
    return {x.value < at ? low.value : high.value, std::fmax(low.worst, high.worst),
            std::fmax(low.likely, high.likely), std::fmax(low.systematic, high.systematic)};
  } else {
    return x < static_cast<S>(at) ? below(x) : above(x);
  }
}

/// max(x, 0), as Relu has it: NaN stays, −0 becomes +0.
template <class S>
[[nodiscard]] S at_least_zero(const S& x) {
  // Adding +0 alters only −0; a select written as math::max loses that in wasm (see Relu).
  if constexpr (std::is_same_v<S, Bounded>)
    return math::max(x, Bounded(0.0));
  else
    return (x < S(0) ? S(0) : x) + S(0);
}

/// x above the threshold, else 0: a bound that reaches the threshold includes the jump.
template <class S>
[[nodiscard]] S thresholded_relu(const S& x, float alpha) {
  const auto threshold = static_cast<double>(alpha);
  const bool passes = static_cast<double>(math::value(x)) > threshold;
  if constexpr (std::is_same_v<S, Bounded>) {
    const auto bound = [&](double error) {
      const bool near = error > 0.0 && std::fabs(x.value - threshold) <= error;
      if (near) return std::fmax(std::fabs(x.value), std::fabs(threshold)) + error;
      return passes ? error : 0.0;
    };
    return {passes ? x.value : x.value * 0.0, bound(x.worst), bound(x.likely), bound(x.systematic)};
  } else {
    return passes || x != x ? x : S(0);
  }
}

template <class S>
[[nodiscard]] S activate(const Activation& f, const S& x) {
  using Kind = Activation::Kind;
  const S alpha = math::given<S>(f.alpha);
  const S beta = math::given<S>(f.beta);
  const S one = math::exact<S>(1.0);
  switch (f.kind) {
    case Kind::tanh: return math::tanh(x);
    case Kind::sigmoid: return math::sigmoid(x);
    case Kind::relu: return at_least_zero(x);
    case Kind::affine: return alpha * x + beta;
    case Kind::scaled_tanh: return alpha * math::tanh(beta * x);
    case Kind::hard_sigmoid: return at_least_zero(math::min(one, alpha * x + beta));
    case Kind::leaky_relu:
      return pieces(x, 0.0, [&](const S& t) { return alpha * t; }, [](const S& t) { return t; });
    case Kind::elu:
      return pieces(
          x, 0.0, [&](const S& t) { return alpha * (math::exp(t) - one); }, [](const S& t) { return t; });
    case Kind::thresholded_relu: return thresholded_relu(x, f.alpha);
    case Kind::softsign: return x / (one + math::abs(x));
    case Kind::softplus: return math::softplus(x);
  }
  return x;
}

}  // namespace driftscope
