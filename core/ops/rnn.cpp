// RNN, opset 7 to 21: H = f(W·x + R·H + Wb + Rb); forward, reverse, both; clip; layout from opset
// 14. Strict definition (float): gate sums as in gate_sums.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/recurrent_run.hpp"

namespace driftscope::ops::rnn {

const RecurrentKind& kind() {
  static const RecurrentKind rnn{1, false, {"Tanh"}};
  return rnn;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  return infer_recurrent(context, kind());
}

// Adds the extra error of an engine's activations inside RNN over its separate operators.
void widen(Bounded& x) {
  const double more = current_error_model().rnn_absolute;
  x.worst += more;
  x.likely += more;
  x.systematic += more;
}

struct RnnCell {
  static constexpr std::size_t states = 1;

  template <class S>
  static std::int64_t sums(const CellWeights<S>& weights) {
    return weights.hidden;
  }

  template <class S>
  static void start(const CellWeights<S>& weights, GateSums<S>& sums) {
    sums.start(0, weights.hidden, weights.w_bias(), weights.r_bias());
  }

  template <class S>
  static void step(const CellWeights<S>& weights, GateSums<S>& sums, const S* state, S* next,
                   std::vector<S>& /*spare*/) {
    sums.add(0, weights.hidden, state, weights.r, 0);
    for (std::int64_t j = 0; j < weights.hidden; ++j) {
      next[j] = weights.activated(0, sums.result(j));
      if constexpr (std::is_same_v<S, Bounded>) widen(next[j]);
    }
  }
};

struct Rnn {
  template <class S>
  static Status run(KernelContext<S>& context) {
    return run_recurrent<RnnCell>(context, kind(), false);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Rnn>({.op_type = "RNN",
                               .since = 7,
                               .inputs = {3, 6},
                               .outputs = {0, 2},
                               .infer = infer,
                               .uses_recorded_state = true}));
}

}  // namespace driftscope::ops::rnn
