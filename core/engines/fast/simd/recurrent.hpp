// One time step of RNN, GRU and LSTM: a matrix times the state, and the gates. Each
// step depends on the previous one, so only a faster step helps: weights are packed so that
// they stream through registers once, in order. Units are independent within a step, so threads share them.
// Client: operators/recurrent.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// The data of a kernel. Units are computed in groups, and arrays have room for whole ones.
/// `packed`: group after group `depth` rows of the first `lanes` units of each gate, then the next units.
/// Elements after the last unit of an array are arbitrary: they affect only elements after it.
struct RecurrentOperands {
  const float* packed = nullptr;
  const float* products = nullptr;  ///< contribution of the input and the biases: `units` of each gate
  const float* state = nullptr;     ///< the vector to multiply the weights with, `depth` long
  std::int64_t depth = 0;
  std::int64_t units = 0;
  const float* h = nullptr;               ///< of the step before
  const float* candidate_bias = nullptr;  ///< only gru: added to the state's part of h̃
  float* c = nullptr;                     ///< lstm: of the previous step, overwritten
  float* z = nullptr;                     ///< written by reset, read by update
  float* out = nullptr;                   ///< h of this step; for reset: σ(r)·h
  bool backwards = false;                 ///< the last block first: its weights may still be in the cache
};

/// Computes groups `begin` to `end`; grouping does not change any bit.
using RecurrentKernel = void (*)(const RecurrentOperands& operands, std::int64_t begin, std::int64_t end);

struct RecurrentKernels {
  std::int64_t lanes = 0;  ///< floats of a vector
  /// For a group, by the number of gates computed together; the first is a multiple of all others.
  std::array<std::int64_t, 5> units{};

  /// Gates i, o, f, c̃: c = σ(f)·c + σ(i)·tanh(c̃), h = σ(o)·tanh(c) (ONNX LSTM, default activations).
  RecurrentKernel lstm = nullptr;
  /// Gates z, r, h̃: h = (1 − z)·tanh(x + r·s) + z·h, z and r after σ; x and s are the parts of h̃ from the
  /// input and the state (ONNX GRU, linear_before_reset).
  RecurrentKernel gru = nullptr;
  /// Gates z, r: z = σ(z), out = σ(r)·h, which is multiplied with the candidate's weights without
  /// linear_before_reset.
  RecurrentKernel reset = nullptr;
  /// Gate h̃: h = (1 − z)·tanh(h̃) + z·h.
  RecurrentKernel update = nullptr;
  /// h = tanh(sums).
  RecurrentKernel rnn = nullptr;
};

[[nodiscard]] RecurrentKernels recurrent_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
