// LSTM, opset 7 to 21: forward, reverse, both; peepholes, clip, input_forget; layout from opset 14.
// Gates in the order i, o, f, c; clip applies to the input of every activation, including C
// (another reading of the specification: not C; core/verify/variants/readings.cpp).
//
// Strict definition (float): gate sums as in gate_sums.hpp; a peephole's product is added to the
// finished sum; C = (f·C) + (i·c), H = o·h(C).
#include "core/graph/attributes.hpp"
#include "core/ops/shared/recurrent_run.hpp"

namespace driftscope::ops::lstm {

const RecurrentKind& kind() {
  static const RecurrentKind lstm{4, true, {"Sigmoid", "Tanh", "Tanh"}};
  return lstm;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  return infer_recurrent(context, kind());
}

// sum + p·c, where implementations may add the product at any point of the sum.
template <class S>
S with_peephole(const S& sum, const S& p, const S& c, std::int64_t terms) {
  const S product = p * c;
  S result = sum + product;
  if constexpr (std::is_same_v<S, Bounded>) {
    const double reordered = current_error_model().unit_roundoff * static_cast<double>(terms) *
                             (std::fabs(product.value) + product.worst);
    result.worst += reordered;
    result.likely += reordered;
    result.systematic += reordered;
  }
  return result;
}

struct LstmCell {
  static constexpr std::size_t states = 2;

  template <class S>
  static std::int64_t sums(const CellWeights<S>& weights) {
    return 4 * weights.hidden;
  }

  template <class S>
  static void start(const CellWeights<S>& weights, GateSums<S>& sums) {
    sums.start(0, 4 * weights.hidden, weights.w_bias(), weights.r_bias());
  }

  template <class S>
  static void step(const CellWeights<S>& weights, GateSums<S>& sums, const S* state, S* next,
                   std::vector<S>& /*spare*/) {
    const std::int64_t hidden = weights.hidden;
    const S* c_before = state + hidden;
    S* c_now = next + hidden;
    sums.add(0, 4 * hidden, state, weights.r, 0);
    const std::int64_t terms = weights.w.depth + weights.r.depth + 2;
    const auto gate = [&](std::int64_t j, std::int64_t number, std::int64_t peephole, const S& c) {
      S sum = sums.result(number * hidden + j);
      if (!weights.p.empty())
        sum = with_peephole(sum, weights.p[static_cast<std::size_t>(peephole * hidden + j)], c, terms);
      return weights.activated(0, sum);
    };
    for (std::int64_t j = 0; j < hidden; ++j) {
      const S i = gate(j, 0, 0, c_before[j]);
      const bool coupled = weights.variant;
      const S f = coupled ? math::exact<S>(1.0) - i : gate(j, 2, 2, c_before[j]);
      const S candidate = weights.activated(1, sums.result(3 * hidden + j));
      c_now[j] = f * c_before[j] + i * candidate;
      const S o = gate(j, 1, 1, c_now[j]);
      next[j] = o * weights.activated_cell(c_now[j]);
    }
  }
};

struct Lstm {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const bool coupled, flag_attribute(context.node(), "input_forget", false));
    return run_recurrent<LstmCell>(context, kind(), coupled);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Lstm>({.op_type = "LSTM",
                                .since = 7,
                                .inputs = {3, 8},
                                .outputs = {0, 3},
                                .infer = infer,
                                .uses_recorded_state = true}));
}

}  // namespace driftscope::ops::lstm
