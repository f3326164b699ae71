// Which layers a table shows, and in which order: filter and sort over thousands of rows.
// Clients: the layer table, the time view, the tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/gui/csv.hpp"
#include "core/gui/snapshot.hpp"

namespace driftscope::gui {

/// With its unit; "–" when unknown.
[[nodiscard]] std::string metric_text(const Cell& cell, Metric metric);

struct LayerFilter {
  /// Words that must all occur (in node, operator or output, ignoring case); "op:Conv" the operator
  /// alone, "is:fault" a verdict, "is:different" a differing bit.
  std::string text;
  /// Also constants on which nothing is suspect; "is:constant" in the text asks for them as well.
  bool constants = false;
};

enum class SortBy { place, node, op, shape, bytes, verdict, metric };
struct LayerSort {
  SortBy by = SortBy::place;
  std::size_t target = 0;  ///< of verdict and metric
  Metric metric = verified_metric("budget_used");
  bool descending = false;
};

/// Indices of the layers that pass, in order; equal ones keep the model's order, unknown values last.
[[nodiscard]] std::vector<std::uint32_t> ordered_layers(const Snapshot& snapshot, const LayerFilter& filter,
                                                        const LayerSort& sort);

/// Metrics to choose from: all but those that are not always computed and that no layer has.
[[nodiscard]] std::vector<Metric> metrics_in(const Snapshot& snapshot);

/// The rows with every metric of every target, as numbers that can be parsed again.
[[nodiscard]] Table layer_table(const Snapshot& snapshot, const std::vector<std::uint32_t>& rows);

}  // namespace driftscope::gui
