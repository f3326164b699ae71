// The sections of the report, each a piece of HTML; "" where there is nothing to show. Client: report.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "core/results/layer_table.hpp"

namespace driftscope::report_sections {

/// Notes on what was left out to keep the file small, one sentence each.
using LeftOut = std::vector<std::string>;

[[nodiscard]] std::string targets(const ComparisonView& view, LeftOut& left_out);
[[nodiscard]] std::string outputs(const ComparisonView& view);
[[nodiscard]] std::string data_set(const ComparisonView& view);
[[nodiscard]] std::string memory_over_runs(const ComparisonView& view);
[[nodiscard]] std::string drift_charts(const ComparisonView& view, const LayerTable& layers,
                                       LeftOut& left_out);
/// The highest-ranked layers, with heat maps, in at most `budget` bytes.
[[nodiscard]] std::string worst_layers(const ComparisonView& view, const LayerTable& layers,
                                       std::size_t budget, LeftOut& left_out);
/// All layers, or the highest-ranked of them, in at most `budget` bytes.
[[nodiscard]] std::string layer_table(const LayerTable& layers, std::size_t budget, LeftOut& left_out);
[[nodiscard]] std::string environment(const ComparisonView& view, LeftOut& left_out);
[[nodiscard]] std::string how_to_reproduce(const ComparisonView& view);

/// The targets that are shown, the left one first.
[[nodiscard]] std::vector<const TargetResult*> first_targets(const ComparisonView& view);

/// Further targets are only in the JSON.
inline constexpr std::size_t max_targets = 12;
/// Of one reason, headline or command: more than any that Driftscope writes, and a bound for other texts.
inline constexpr std::size_t max_reason = 16'000;

}  // namespace driftscope::report_sections
