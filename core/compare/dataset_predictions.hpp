// What a run over a data set predicted. Clients: the data set of a comparison, `run --dataset`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/results/comparison_view.hpp"

namespace driftscope {

/// The top-1 class of each sample in the graph's first output, [samples, …, classes]. Errors: the output is
/// missing or does not hold one float32 row per sample.
[[nodiscard]] Result<std::vector<std::int64_t>> predicted_classes(const Graph& graph, const Trace& trace,
                                                                  std::int64_t samples,
                                                                  std::string_view target);

/// Counts how many equal `labels` (none: not known).
[[nodiscard]] DatasetResult dataset_result(std::vector<std::int64_t> predictions,
                                           std::span<const std::int64_t> labels);

/// Both, of a run over the whole set.
[[nodiscard]] Result<DatasetResult> dataset_predictions(const Graph& graph, const Trace& trace,
                                                        std::int64_t samples,
                                                        std::span<const std::int64_t> labels,
                                                        std::string_view target);

}  // namespace driftscope
