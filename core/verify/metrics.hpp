// Distances between two tensors of the same shape. Clients: verify, compare.
#pragma once

#include "core/base/result.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Elementwise differences of got against want. Errors: shapes or dtypes differ.
[[nodiscard]] Result<Metrics> measure(const Tensor& got, const Tensor& want);

/// Kullback-Leibler divergence, natural logarithm, of softmax-like vectors; both are clamped at 1e-12
/// and normalised over the last axis. 0 for tensors that are no distributions (negative elements).
[[nodiscard]] double kl_divergence(const Tensor& left, const Tensor& right);

}  // namespace driftscope
