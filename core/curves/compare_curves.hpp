// Where curves end and how two runs differ: summaries, and comparisons with a test over repetitions.
// Clients: the tables and the page of curves. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/curves/curve.hpp"
#include "generated/documents/curves.hpp"

namespace driftscope {

[[nodiscard]] documents::CurveSummary summary_of(const CurveGroup& group);

struct CurveComparisonOptions {
  double threshold = 0.01;  ///< of the range that both curves span: from there on they have parted
};

/// Each two runs of one model (model_of_run) and metric that have steps in common, at most
/// `max_comparisons`; p values are corrected by Holm over all of them.
[[nodiscard]] std::vector<documents::CurveComparison> compare_curves(const std::vector<CurveGroup>& groups,
                                                                     const CurveComparisonOptions& options);

inline constexpr std::size_t max_comparisons = 500;

}  // namespace driftscope
