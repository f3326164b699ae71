// GRU, opset 7 to 21: forward, reverse, both; linear_before_reset, clip; layout from opset 14.
// Gates in the order z, r, h.
//
// Strict definition (float): gate sums as in gate_sums.hpp. The candidate's sum goes on with the
// products of r⊙H; with linear_before_reset it is (Wb + W·x) + r·(Rb + R·H), each sum in its own
// accumulator. H = ((1 − z)·candidate) + (z·H).
#include "core/graph/attributes.hpp"
#include "core/ops/shared/recurrent_run.hpp"

namespace driftscope::ops::gru {

const RecurrentKind& kind() {
  static const RecurrentKind gru{3, false, {"Sigmoid", "Tanh"}};
  return gru;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  return infer_recurrent(context, kind());
}

// (1 − z)·n + z·h. Runtimes also write n + z·(h − n) and h + (1 − z)·(n − h): three roundings of
// numbers no larger than |n| + |h| in each form.
template <class S>
S interpolate(const S& z, const S& n, const S& h) {
  const S one = math::exact<S>(1.0);
  if constexpr (std::is_same_v<S, Bounded>) {
    const double value = (1.0 - z.value) * n.value + z.value * h.value;
    const double size = std::fabs(n.value) + std::fabs(h.value);
    if (!(size + z.worst + n.worst + h.worst < std::numeric_limits<double>::infinity()))
      return (one - z) * n + z * h;
    const ErrorModel& model = current_error_model();
    const double weights = std::fabs(1.0 - z.value) + std::fabs(z.value);
    const auto bound = [&](double Bounded::* which) {
      const double inherited = std::fabs(h.value - n.value) * z.*which + std::fabs(1.0 - z.value) * n.*which +
                               std::fabs(z.value) * h.*which + z.*which * (n.*which + h.*which);
      return inherited + 3.0 * (model.unit_roundoff * weights * (size + inherited) + model.absolute) +
             0x1p-50 * size;
    };
    return {value, bound(&Bounded::worst), bound(&Bounded::likely), bound(&Bounded::systematic)};
  } else {
    return (one - z) * n + z * h;
  }
}

struct GruCell {
  static constexpr std::size_t states = 1;

  template <class S>
  static std::int64_t sums(const CellWeights<S>& weights) {
    return (weights.variant ? 4 : 3) * weights.hidden;
  }

  template <class S>
  static void start(const CellWeights<S>& weights, GateSums<S>& sums) {
    const std::int64_t hidden = weights.hidden;
    const S* w_bias = weights.w_bias();
    const S* r_bias = weights.r_bias();
    if (!weights.variant) return sums.start(0, 3 * hidden, w_bias, r_bias);
    sums.start(0, 2 * hidden, w_bias, r_bias);
    sums.start(2 * hidden, hidden, w_bias == nullptr ? nullptr : w_bias + 2 * hidden, nullptr);
    sums.start(3 * hidden, hidden, r_bias == nullptr ? nullptr : r_bias + 2 * hidden, nullptr);
  }

  template <class S>
  static void step(const CellWeights<S>& weights, GateSums<S>& sums, const S* state, S* next,
                   std::vector<S>& spare) {
    const std::int64_t hidden = weights.hidden;
    sums.add(0, 2 * hidden, state, weights.r, 0);
    if (weights.variant) {
      sums.add(3 * hidden, hidden, state, weights.r, 2 * hidden);
    } else {
      spare.resize(static_cast<std::size_t>(hidden));
      for (std::int64_t j = 0; j < hidden; ++j)
        spare[static_cast<std::size_t>(j)] = weights.activated(0, sums.result(hidden + j)) * state[j];
      sums.add(2 * hidden, hidden, spare.data(), weights.r, 2 * hidden);
    }
    for (std::int64_t j = 0; j < hidden; ++j) {
      S sum = sums.result(2 * hidden + j);
      if (weights.variant)
        sum = sum + weights.activated(0, sums.result(hidden + j)) * sums.result(3 * hidden + j);
      const S candidate = weights.activated(1, sum);
      next[j] = interpolate(weights.activated(0, sums.result(j)), candidate, state[j]);
    }
  }
};

struct Gru {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const std::int64_t linear, int_attribute(context.node(), "linear_before_reset", 0));
    return run_recurrent<GruCell>(context, kind(), linear != 0);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Gru>({.op_type = "GRU",
                               .since = 7,
                               .inputs = {3, 6},
                               .outputs = {0, 2},
                               .infer = infer,
                               .uses_recorded_state = true}));
}

}  // namespace driftscope::ops::gru
