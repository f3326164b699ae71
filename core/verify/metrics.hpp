// Distances between two tensors of the same shape. Clients: verify, compare.
#pragma once

#include "core/base/result.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// Elementwise differences of got against want. Errors: shapes or dtypes differ, no numbers.
/// Where both are the same infinity or both NaN there is no difference; where only one is, max_abs
/// and max_rel are infinite (max_ulp for NaN) and the sums leave the element out. max_rel and mean_rel
/// are relative to want and skip zeros of want. The numbers do not depend on `threads`.
[[nodiscard]] Result<Metrics> measure(const Tensor& got, const Tensor& want, ThreadPool* threads = nullptr);

/// Kullback-Leibler divergence, natural logarithm, of softmax-like vectors over the last axis, largest
/// over the rows; both are clamped at 1e-12 and normalised. 0 for tensors that are not float32
/// distributions: a negative element, or a sum further than 1e-2 from 1.
[[nodiscard]] double kl_divergence(const Tensor& left, const Tensor& right);

}  // namespace driftscope
