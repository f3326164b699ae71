// One time step of RNN, GRU and LSTM: a matrix times the state, and the gates. What is computed in one
// step depends on the step before, so nothing but speed within the step helps: weights are packed so that
// they stream through registers once, in order. Client: operators/recurrent.cpp.
#pragma once

#include <cstdint>

#include "core/engines/strict/simd/target.hpp"

namespace driftscope::fast {

/// Columns (outputs) come in blocks that are held in registers. A packed matrix is, block after block,
/// `depth` rows of `block` weights; columns beyond the last are zeros. sums has room for whole blocks.
struct RecurrentKernels {
  std::int64_t block = 0;  ///< columns

  /// sums[j] += Σ over k of h[k]·packed[k][j], for all columns of `blocks`; k ascending.
  void (*add_product)(const float* packed, const float* h, std::int64_t depth, std::int64_t blocks,
                      float* sums) = nullptr;

  /// gates: the sums of i, o, f, c, each n long; c and h of the step before are replaced.
  /// c = σ(f)·c + σ(i)·tanh(c̃), h = σ(o)·tanh(c) (ONNX LSTM, default activations).
  void (*lstm)(const float* gates, std::int64_t n, float* c, float* h) = nullptr;

  /// gates: the sums of z and r, each n long; h = (1 − z)·tanh(x + r·linear) + z·h, where x is what the
  /// input gives the candidate and linear what the state gives (ONNX GRU, linear_before_reset).
  void (*gru)(const float* gates, const float* x, const float* linear, std::int64_t n,
              float* h) = nullptr;

  /// product = σ(r)·h: what the candidate's weights are applied to without linear_before_reset.
  void (*reset)(const float* r, const float* h, std::int64_t n, float* product) = nullptr;
  /// h = (1 − σ(z))·tanh(candidate) + σ(z)·h.
  void (*update)(const float* z, const float* candidate, std::int64_t n, float* h) = nullptr;
  /// h = tanh(sums).
  void (*rnn)(const float* sums, std::int64_t n, float* h) = nullptr;
};

[[nodiscard]] RecurrentKernels recurrent_kernels(const SimdTarget& target);

}  // namespace driftscope::fast
