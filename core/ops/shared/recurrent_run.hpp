// Iterates a recurrent cell over time, for each scalar. Clients: RNN, GRU, LSTM.
// A Cell is a stateless struct:
//   gates, states     gate matrices; rows of `hidden` numbers that pass from step to step (h first)
//   sums(weights)     how many gate sums a step needs
//   start(weights, sums)                     the biases
//   step(weights, sums, state, next, spare)  adds R·h and applies the activations; `sums` holds the
//                                            biases and the products of x
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/ops/shared/gate_sums.hpp"
#include "core/ops/shared/recurrent.hpp"
#include "core/ops/shared/trajectory.hpp"

namespace driftscope {

template <class S>
[[nodiscard]] CellWeights<S> cell_weights(const KernelContext<S>& context,
                                          const RecurrentAttributes& attributes,
                                          const RecurrentLayout& layout, std::int64_t gates,
                                          std::int64_t direction, bool variant) {
  using namespace recurrent_input;
  const auto part = [&](std::size_t input, std::int64_t size) {
    if (!context.has_input(input)) return std::span<const S>();
    return context.real(input).subspan(static_cast<std::size_t>(direction * size),
                                       static_cast<std::size_t>(size));
  };
  const auto copy = [](std::span<const S> values) { return std::vector<S>(values.begin(), values.end()); };
  const std::int64_t rows = gates * layout.hidden;
  CellWeights<S> weights;
  weights.hidden = layout.hidden;
  weights.w = GateMatrix<S>(part(w, rows * layout.inputs), rows, layout.inputs);
  weights.r = GateMatrix<S>(part(r, rows * layout.hidden), rows, layout.hidden);
  weights.b = copy(part(b, 2 * rows));
  weights.p = copy(part(p, 3 * layout.hidden));
  for (std::size_t i = 0; i < attributes.per_direction; ++i)
    weights.activations.push_back(attributes.activation(direction, i));
  weights.clip = attributes.clip;
  weights.clips_cell = attributes.clips_cell;
  weights.variant = variant;
  return weights;
}

/// The states that an engine recorded as Y, if any. With a narrower type or arithmetic the engine may
/// have continued with the values before rounding.
template <class S>
[[nodiscard]] std::span<const float> observed_states(const KernelContext<S>& context) {
  const Tensor* tensor = context.recorded(0);
  constexpr double coarsest = 0x1p-23;
  if (tensor == nullptr || !context.wants_output(0) || tensor->shape() != context.output_shape(0) ||
      tensor->dtype() != DType::float32 || context.output_dtype(0) != DType::float32 ||
      current_error_model().unit_roundoff > coarsest)
    return {};
  return tensor->values<float>();
}

/// The whole node. `variant`: the operator's own flag, passed to the cell.
template <class Cell, class S>
[[nodiscard]] Status run_recurrent(KernelContext<S>& context, const RecurrentKind& kind, bool variant) {
  using namespace recurrent_input;
  DRIFTSCOPE_TRY(const RecurrentAttributes attributes, read_recurrent(context.node(), kind));
  const RecurrentLayout layout(attributes, context.shape(x), context.shape(r));
  DRIFTSCOPE_TRY(
      const std::vector<std::int64_t> lengths,
      sequence_lengths(context.has_input(sequence_lens) ? &context.tensor(sequence_lens) : nullptr, layout));
  std::vector<CellWeights<S>> weights;
  for (std::int64_t d = 0; d < layout.directions; ++d)
    weights.push_back(cell_weights(context, attributes, layout, kind.gates, d, variant));

  const auto hidden = static_cast<std::size_t>(layout.hidden);
  const auto output = [&](std::size_t o) {
    return context.wants_output(o) ? context.real_output(o) : std::span<S>();
  };
  const std::span<S> y = output(0);
  const std::span<const float> observed = observed_states(context);
  const auto put = [&](std::span<S> target, std::int64_t row, std::span<const S> values) {
    if (!target.empty())
      std::copy(values.begin(), values.end(), target.begin() + static_cast<std::ptrdiff_t>(row));
  };

  context.parallel_for(layout.directions * layout.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t d = item / layout.batch;
      const std::int64_t sample = item % layout.batch;
      const CellWeights<S>& cell = weights[static_cast<std::size_t>(d)];
      const std::int64_t length = lengths[static_cast<std::size_t>(sample)];
      const std::int64_t state_row = layout.state_row(d, sample);

      std::vector<S> state(hidden * Cell::states, math::exact<S>(0.0));
      for (std::size_t s = 0; s < Cell::states; ++s)
        if (context.has_input(initial_h + s)) {
          const auto first = context.real(initial_h + s).begin() + state_row;
          std::copy(first, first + layout.hidden, state.begin() + static_cast<std::ptrdiff_t>(s * hidden));
        }
      Trajectory<Cell, S> trajectory(cell, std::move(state));
      GateSums<S> sums(Cell::sums(cell));
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = attributes.reversed(d) ? length - 1 - step : step;
        Cell::start(cell, sums);
        sums.add(0, kind.gates * layout.hidden, context.real(x).data() + layout.x_row(t, sample), cell.w, 0);
        trajectory.advance(sums);
        const std::int64_t row = layout.y_row(t, d, sample);
        put(y, row, trajectory.state().first(hidden));
        if constexpr (std::is_same_v<S, Bounded>)
          if (!observed.empty() && step + 1 < length)
            trajectory.continue_from(observed.subspan(static_cast<std::size_t>(row), hidden));
      }
      // After the end of a shorter sequence Y is 0.
      for (std::int64_t t = length; t < layout.steps; ++t)
        if (!y.empty())
          std::fill_n(y.begin() + layout.y_row(t, d, sample), layout.hidden, math::exact<S>(0.0));
      for (std::size_t s = 0; s < Cell::states; ++s)
        put(output(1 + s), state_row, trajectory.state().subspan(s * hidden, hidden));
    }
  });
  return {};
}

}  // namespace driftscope
