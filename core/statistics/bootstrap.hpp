// Bootstrap intervals: what a statistic would be for other samples of the same kind, by drawing from the
// sample itself. Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapters 13 (percentile) and
// 14 (BCa); the acceleration of several samples: Efron 1987, section 7.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/function_ref.hpp"
#include "core/statistics/statistics.hpp"

namespace driftscope {

enum class BootstrapKind { percentile, bca };

struct BootstrapOptions {
  std::int64_t resamples = 10000;
  double confidence = 0.95;  ///< in (0, 1)
  std::uint64_t seed = 42;   ///< the same seed, the same interval, on every host
  BootstrapKind kind = BootstrapKind::bca;
};

struct BootstrapInterval {
  double value = 0.0;  ///< of the samples themselves
  Interval interval;
  /// percentile also where BCa has no answer: all resamples lie on one side of the value, or leaving one
  /// value out changes nothing.
  BootstrapKind kind = BootstrapKind::percentile;
};

using Samples = std::span<const std::vector<double>>;

/// Each sample, of at least two values, is drawn from by itself; `statistic` gets as many samples of the same
/// sizes, in one buffer that it may not keep.
[[nodiscard]] BootstrapInterval bootstrap_interval(Samples samples, FunctionRef<double(Samples)> statistic,
                                                   const BootstrapOptions& options = {});

}  // namespace driftscope
