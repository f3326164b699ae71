// The command line's tables of layers. Pure functions of the results; colour is added
// by the command line where there is a terminal.
#pragma once

#include <string>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// All layers of one comparison, a row each: operator, shape, bytes, the worst difference over the
/// right targets, budget used, verdict, time on each host; then one line per target and the outputs.
[[nodiscard]] std::string compare_table(const ComparisonView& view);

/// All layers of one verified trace.
[[nodiscard]] std::string verify_table(const Verification& verification, const std::string& file);

/// Layers of one run with their times.
[[nodiscard]] std::string run_table(const Trace& trace);

/// The largest elements of an output, "7  99.1 %" a line; class names where known.
[[nodiscard]] std::string output_lines(const Tensor& output, const std::vector<std::string>& class_names,
                                       std::size_t most = 5);

/// Accuracy of each target over a data set, and on how many samples it agrees with the left one.
[[nodiscard]] std::string dataset_table(const ComparisonView& view);

}  // namespace driftscope
