// Whether one set of times is slower than another by more than a share and more than their noise.
// Client: checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.hpp"

namespace driftscope {

enum class Speed { fine, slower, unknown };

struct SpeedVerdict {
  Speed speed = Speed::unknown;
  std::string message;  ///< "1.31 times as long [1.24, 1.39]; up to 1.20 is allowed"
};

/// Slower: the ratio of geometric means is beyond 1 + share, and the noise between the values of one
/// side (noise.hpp, 99 %) does not explain that they differ at all. Unknown: too few values, or some that
/// are not positive.
[[nodiscard]] SpeedVerdict check_regression(const std::vector<double>& before_ns,
                                            const std::vector<double>& now_ns, double share);

/// The smallest slowdown (a fraction) that can be distinguished from noise when the same number of times is
/// measured again; empty when there are too few to know.
[[nodiscard]] std::optional<double> min_visible_slowdown(const std::vector<double>& times_ns);

/// Times of the whole model that two targets can be compared by: those of unwatched runs where both have
/// them, else of the watched ones without the first.
struct ComparableTimes {
  std::vector<double> before_ns;
  std::vector<double> now_ns;
};
[[nodiscard]] ComparableTimes comparable_times(const Trace& before, const Trace& now);

}  // namespace driftscope
