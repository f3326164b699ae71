// LSTM, GRU and RNN for GPU engines: what one step computes, as text for the shaders called recurrent.
// Client: operators/recurrent.cpp. It emits nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engines/gpu/lowering.hpp"
#include "core/ops/shared/recurrent.hpp"

namespace driftscope::gpu {

enum class Cell { rnn, gru, lstm };

/// One dispatch of a step, which makes one value for each unit.
struct CellPass {
  std::vector<std::int64_t> gates;  ///< that it sums over a state: s0, s1, …
  std::vector<int> over;            ///< which state each sums over
  /// Sets `value`, from p0, p1, … (the products of x, by gate), the sums, state0 and state1 (of this unit),
  /// extra0, constant0, …
  std::string text;
};

/// One node whose weights are constants.
struct RecurrentNode {
  Cell cell = Cell::rnn;
  RecurrentKind kind;
  RecurrentAttributes attributes;
  RecurrentLayout layout;
  bool before_reset = false;  ///< GRU: R·h of the candidate has its bias before r
  bool coupled = false;       ///< LSTM: f is 1 − i
  const Tensor* w = nullptr;
  const Tensor* r = nullptr;
  const Tensor* b = nullptr;  ///< or null
  const Tensor* p = nullptr;  ///< or null

  /// `hidden`, padded to four.
  [[nodiscard]] std::int64_t units() const { return (layout.hidden + 3) / 4 * 4; }

  /// In the order of a step. LSTM: C (extra0: C before), then H (extra0: C). GRU without linear_before_reset:
  /// r⊙H, then H (state1: r⊙H). Else H alone.
  [[nodiscard]] std::vector<CellPass> passes() const;
  /// Of activations 0, 1, … of a direction as functions of x, in WGSL and GLSL; nothing if one needs a
  /// choice.
  [[nodiscard]] std::optional<std::vector<std::string>> activations(std::int64_t direction) const;
  /// x with the clip.
  [[nodiscard]] std::string limited() const;

  /// Rows of the weights of x and of the state, hidden rows for each gate.
  [[nodiscard]] std::span<const float> input_weights(std::int64_t direction) const;
  [[nodiscard]] std::span<const float> state_weights(std::int64_t direction) const;
  /// What is added to the product with x, `units` for each gate.
  [[nodiscard]] std::vector<float> bias(std::int64_t direction) const;
  /// constant0, …, `units` of each: peepholes (i, o, f), or the candidate's bias of R.
  [[nodiscard]] std::vector<float> constants(std::int64_t direction) const;
};

/// Nothing where strict has to run it: weights that are not constants, sequences of several lengths, other
/// types.
[[nodiscard]] std::optional<RecurrentNode> read_recurrent_node(const GpuLowering& lowering, const Node& node,
                                                               Cell cell);

}  // namespace driftscope::gpu
