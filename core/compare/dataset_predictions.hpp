// What a run over a data set predicted. Clients: ComparisonRun, `run --dataset`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/graph.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

/// The top-1 class of each sample in the graph's first output, [samples, …, classes], and how many equal
/// `labels` (none: not known). Errors: the output is missing or does not hold one float32 row per sample.
[[nodiscard]] Result<DatasetResult> dataset_predictions(const Graph& graph, const Trace& trace,
                                                        std::int64_t samples,
                                                        std::span<const std::int64_t> labels,
                                                        std::string_view target);

}  // namespace driftscope
