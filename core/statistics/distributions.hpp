// The few distributions that intervals and tests need. Client: the statistics of this folder.
#pragma once

#include <cstdint>

namespace driftscope {

/// P(Z > z) for a standard normal Z, without cancellation in the far tail.
[[nodiscard]] double normal_tail(double z);

/// x with P(Z ≤ x) = p for a standard normal Z; p in (0, 1).
[[nodiscard]] double normal_quantile(double p);

/// x with P(T ≤ x) = p for Student's t with `degrees` ≥ 1 degrees of freedom; p in (0, 1).
[[nodiscard]] double student_quantile(double p, double degrees);

/// Regularized incomplete beta function I_x(a, b); a, b > 0 (NIST DLMF 8.17).
[[nodiscard]] double incomplete_beta(double a, double b, double x);

/// x with I_x(a, b) = p; p in (0, 1).
[[nodiscard]] double beta_quantile(double p, double a, double b);

/// P(B ≤ k), B the number of heads in n fair throws; 0 for k < 0.
[[nodiscard]] double fair_binomial(std::int64_t k, std::int64_t n);

/// Largest k ≥ 0 with P(B ≤ k) ≤ p, B the number of heads in n fair throws; −1 when even P(B = 0) is
/// larger.
[[nodiscard]] std::int64_t fair_binomial_bound(std::int64_t n, double p);

/// Largest k ≥ 0 with P(W ≤ k) ≤ p, W Wilcoxon's signed rank sum of n values without ties; −1 when
/// there is none. Exact up to n = 60, the normal approximation beyond.
[[nodiscard]] std::int64_t signed_rank_bound(std::int64_t n, double p);

/// Largest k ≥ 0 with P(I ≤ k) ≤ p, I the inversions of a random permutation of n (Kendall's tau is
/// 1 − 4·I ÷ (n·(n − 1))); −1 when there is none. Exact up to n = 60, the normal approximation beyond.
[[nodiscard]] std::int64_t inversions_bound(std::int64_t n, double p);

}  // namespace driftscope
