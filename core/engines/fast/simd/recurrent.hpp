// One time step of RNN, GRU and LSTM: a matrix times the state, and the gates. What is computed in one
// step depends on the step before, so nothing but speed within the step helps: weights are packed so that
// they stream through registers once, in order. Units are independent within a step, so threads share them.
// Client: operators/recurrent.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// What a kernel reads and writes. Units are computed in groups, and arrays have room for whole ones.
/// `packed`: group after group `depth` rows of the first `lanes` units of each gate, then the next units.
/// What is behind the last unit of an array may be anything: what comes of it is behind it, too.
struct RecurrentOperands {
  const float* packed = nullptr;
  const float* products = nullptr;  ///< what the input and the biases give: `units` of each gate
  const float* state = nullptr;     ///< what the weights are applied to, `depth` long
  std::int64_t depth = 0;
  std::int64_t units = 0;
  const float* h = nullptr;               ///< of the step before
  const float* candidate_bias = nullptr;  ///< gru alone: what is added to the state's part of h̃
  float* c = nullptr;                     ///< lstm: of the step before, replaced
  float* z = nullptr;                     ///< written by reset, read by update
  float* out = nullptr;                   ///< h of this step; of reset σ(r)·h
  bool backwards = false;                 ///< the last block first: its weights may still be in the cache
};

/// Of groups `begin` to `end`; which groups are computed together changes no bit.
using RecurrentKernel = void (*)(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end);

struct RecurrentKernels {
  std::int64_t lanes = 0;  ///< floats of a vector
  /// Of a group, by the number of gates that are computed at once; the first a multiple of all others.
  std::array<std::int64_t, 5> units{};

  /// Gates i, o, f, c̃: c = σ(f)·c + σ(i)·tanh(c̃), h = σ(o)·tanh(c) (ONNX LSTM, default activations).
  RecurrentKernel lstm = nullptr;
  /// Gates z, r, h̃: h = (1 − z)·tanh(x + r·s) + z·h, z and r after σ, x what the input and s what the state
  /// gives h̃ (ONNX GRU, linear_before_reset).
  RecurrentKernel gru = nullptr;
  /// Gates z, r: z = σ(z), out = σ(r)·h: what the candidate's weights are applied to without
  /// linear_before_reset.
  RecurrentKernel reset = nullptr;
  /// Gate h̃: h = (1 − z)·tanh(h̃) + z·h.
  RecurrentKernel update = nullptr;
  /// h = tanh(sums).
  RecurrentKernel rnn = nullptr;
};

[[nodiscard]] RecurrentKernels recurrent_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
