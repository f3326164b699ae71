// What a run keeps, as command line options: --trace, --capture-…, --observer-check,
// --repeat-check, --memory-runs.
// Clients: run, compare.
#pragma once

#include <string>

#include "core/runtime/target.hpp"
#include "core/trace/capture_filter.hpp"
#include "core/trace/record.hpp"
#include "native/compare/comparison_host.hpp"

namespace CLI {
class App;
}

namespace driftscope {

/// run's --trace: OUT, MODE:OUT, or MODE alone (then the file is named after model and target, in the
/// current folder). MODE: all, fused, outputs. A file with the name of a mode is written ./all.
struct TraceOption {
  std::optional<Capture> capture;  ///< when a mode was given
  std::string path;                ///< empty: no trace is wanted
};
[[nodiscard]] TraceOption parse_trace_option(const std::string& text, const std::string& model,
                                             const Target& target);

struct CaptureOptions {
  CaptureFilter filter;
  bool perturbation_check = false;
  static constexpr int not_given = -1;
  /// Runs that are compared with each other; 0: none are; not_given: on devices of the hub a few are.
  int repeat_check = not_given;
  /// Runs over which memory is watched; 0: it is not; not_given: on devices of the hub over a few.
  int memory_runs = not_given;
};

/// The checks of devices that nobody asked for, nor forbade.
[[nodiscard]] DeviceChecks device_checks(const CaptureOptions& options);

void add_capture_options(CLI::App& app, CaptureOptions& options);

/// The options again, for the line that reproduces this run: " --capture-ops Conv".
[[nodiscard]] std::string capture_text(const CaptureOptions& options);

/// As for RunRequest: nothing without a filter.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> captured_values(const Graph& graph,
                                                                              const CaptureOptions& options);

}  // namespace driftscope
