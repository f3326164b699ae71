// Whether a build is slower than the one before it, or whether that is what the same build does from run
// to run anyway. Client: the history of benches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/statistics/statistics.hpp"

namespace driftscope {

/// The medians that one build reached, one per bench, on the same machine with the same model.
struct BuildTimes {
  std::string build;
  std::vector<double> medians_ns;
};

enum class Change {
  first,    ///< there is no build before it
  unknown,  ///< no build was measured often enough to know the noise
  same,     ///< within the noise
  slower,
  faster,
};

struct BuildChange {
  Change change = Change::first;
  /// Time ÷ that of the previous build, with the interval that the noise allows.
  Estimate times_as_long = {1.0};
};

/// How far medians of the same build lie apart, pooled over all builds.
struct Noise {
  double relative = 0.0;  ///< standard deviation of their logarithms
  int degrees = 0;        ///< of freedom: benches less builds
  [[nodiscard]] bool known() const { return degrees >= 2; }
};
[[nodiscard]] Noise noise_between_runs(std::span<const BuildTimes> builds);

/// One change per build, oldest first: the difference of mean logarithms from the previous build, judged
/// by Student's t with the pooled noise. Builds that were measured less often are judged too, with
/// wider intervals; without three benches of one build (or as many degrees of freedom) all are unknown.
[[nodiscard]] std::vector<BuildChange> classify_changes(std::span<const BuildTimes> builds,
                                                        double confidence);

}  // namespace driftscope
