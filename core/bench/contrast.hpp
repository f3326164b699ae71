// Whether one thing is faster than another, told from several launches of both: processes of one program
// differ from launch to launch (where its memory lies, what was compiled first), by more than runs within one
// do. Client: the report of a bench.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/statistics/statistics.hpp"

namespace driftscope {

enum class RelativeSpeed { faster, slower, unclear };

/// "faster", "slower", "cannot tell".
[[nodiscard]] std::string_view speed_words(RelativeSpeed speed);

struct Contrast {
  Estimate times_as_fast;  ///< the reference's time ÷ the time
  RelativeSpeed speed = RelativeSpeed::unclear;
  /// The smallest difference that would be told from none in four of five such measurements: 0.02 is 2 %.
  double visible = 0.0;
  std::size_t launches = 0;
};

/// Of ratios that were measured side by side, one per launch: their geometric mean with the interval of
/// Student's t, and the difference that a test at this confidence sees with a power of 80 % (Kalibera and
/// Jones, "Rigorous benchmarking in reasonable time", ISMM 2013; Montgomery, Design and Analysis of
/// Experiments, 2.4). Values must be positive. Nothing below two.
[[nodiscard]] std::optional<Contrast> contrast(std::span<const double> times_as_fast, double confidence);

}  // namespace driftscope
