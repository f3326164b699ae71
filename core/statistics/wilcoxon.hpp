// Wilcoxon's signed rank test: do the differences of pairs lean to one side?
// Sources: Wilcoxon 1945; Pratt 1959 for zeros; Hollander, Wolfe and Chicken, Nonparametric Statistical
// Methods, 3.1; the effect: Kerby 2014, "The simple difference formula".
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.hpp"
#include "core/statistics/p_value.hpp"

namespace driftscope {

/// Differences of zero: left out before ranking, or ranked and left out then.
enum class ZeroDifferences { wilcox, pratt };

struct WilcoxonOptions {
  Alternative alternative = Alternative::two_sided;
  PValueMethod method = PValueMethod::automatic;
  ZeroDifferences zeros = ZeroDifferences::wilcox;
};

struct Wilcoxon {
  std::int64_t n = 0;  ///< pairs
  std::int64_t zeros = 0;
  double w_plus = 0.0;         ///< sum of the ranks of a − b > 0
  double w_minus = 0.0;        ///< of a − b < 0
  PValue p;                    ///< 1 when no pair differs
  double rank_biserial = 0.0;  ///< (W₊ − W₋) ÷ (W₊ + W₋): 1 when a is larger in all pairs
};

/// Automatic: exact up to this many pairs that differ, as SciPy.
inline constexpr std::int64_t wilcoxon_exact_up_to = 50;

/// `a` and `b` have the same length, at least 1; values are finite. Exact with ties too: by the sums over all
/// signs of the ranks. The approximation corrects for ties and continuity. Error: exact for more than 1000.
[[nodiscard]] Result<Wilcoxon> wilcoxon(std::span<const double> a, std::span<const double> b,
                                        const WilcoxonOptions& options = {});

}  // namespace driftscope
