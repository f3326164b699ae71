// Mann and Whitney's U test (Wilcoxon's rank sum test): does one of two independent samples tend to larger
// values? Sources: Mann and Whitney 1947; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods,
// 4.1.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.hpp"
#include "core/statistics/p_value.hpp"

namespace driftscope {

struct MannWhitneyOptions {
  Alternative alternative = Alternative::two_sided;
  PValueMethod method = PValueMethod::automatic;
};

struct MannWhitney {
  double u = 0.0;  ///< pairs (a, b) with a > b, and half of those with a = b; U of b is m·n − u
  PValue p;
  bool ties = false;
};

/// Automatic is exact for at most 50 values in each sample, or 8 in the smaller of at most 1000.
/// Both samples have at least one value; values are finite. Exact with ties too: by the sums over all choices
/// of ranks. The approximation corrects for ties and continuity. Error: exact for samples so large that the
/// table of sums takes minutes.
[[nodiscard]] Result<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b,
                                               const MannWhitneyOptions& options = {});

}  // namespace driftscope
