// Curves as tables for a terminal, and as CSV. Clients: the command `curves`, the page.
#pragma once

#include <string>
#include <vector>

#include "core/curves/compare_curves.hpp"

namespace driftscope {

/// "0.9875", "1.2e-07", "not finite".
[[nodiscard]] std::string curve_number(double value);
/// "0.031 (medium …)": what a comparison's test says; "–" without one.
[[nodiscard]] std::string curve_test_text(const documents::CurveComparison& comparison);

[[nodiscard]] std::string summary_table(const std::vector<documents::CurveSummary>& summaries);
/// Empty without comparisons.
[[nodiscard]] std::string comparison_table(const std::vector<documents::CurveComparison>& comparisons);

/// run, metric, repetition, step, value: a line for each point, which `curves` reads again.
[[nodiscard]] std::string curves_csv(const std::vector<Curve>& curves);

}  // namespace driftscope
