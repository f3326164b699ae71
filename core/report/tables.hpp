// The command line's tables of layers. Pure functions of the results; colour is added
// by the command line where there is a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "core/results/comparison_view.hpp"

namespace driftscope {

/// Which layers a table lists: the worst and the slowest, or all. Constants only with all, unless suspect.
struct LayerChoice {
  bool all = false;
  /// Of each kind; a model of at most twice as many is listed whole.
  std::size_t limit = 10;
};

/// Columns for a layer's name.
inline constexpr std::size_t layer_name_width = 36;

/// Layers of one comparison, a row each: operator, shape, bytes, the worst difference over the right targets,
/// budget used, verdict, time on each host; then one line per target and the outputs.
[[nodiscard]] std::string compare_table(const ComparisonView& view, const LayerChoice& choice = {});

/// Layers of one verified trace; `about` has the times of its nodes.
[[nodiscard]] std::string verify_table(const Verification& verification, const Trace& about,
                                       const std::string& file, const LayerChoice& choice = {});

/// A value that was written to a file as it came, and is not in the trace.
struct WrittenValue {
  Shape shape;
  std::int64_t bytes = 0;
};
using WrittenValues = std::map<std::string, WrittenValue, std::less<>>;

/// Layers of one run with their times.
[[nodiscard]] std::string run_table(const Trace& trace, const LayerChoice& choice = {},
                                    const WrittenValues& written = {});

/// The largest elements of an output, "7  99.1 %" a line; class names where known.
[[nodiscard]] std::string output_lines(const Tensor& output, const std::vector<std::string>& class_names,
                                       std::size_t limit = 5);

/// Notes on a model (note_lines), "note: …" a line; empty without any.
[[nodiscard]] std::string notes_text(std::span<const std::string> notes);

/// Accuracy of each target over a data set, and on how many samples it agrees with the left one.
[[nodiscard]] std::string dataset_table(const ComparisonView& view);

}  // namespace driftscope
