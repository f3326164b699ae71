// Reduces a wrong layer of a recorded run on its target: the node alone, or with what is before it, then
// smaller. Clients: the command reduce, the window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/repro/reduce.hpp"
#include "core/runtime/target.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct ReduceRunOptions {
  Target target = {};
  RunnerOptions runner = {};
  std::int64_t tries = 400;
  std::int64_t seconds = 600;
  std::int64_t table_runs = 20;        ///< of write_reduced, as of ReproOptions
  std::function<bool()> stopped = {};  ///< true: enough, as it is so far
};

struct ReduceRun {
  Reduced reduced;
  bool flaky = false;  ///< the fault does not come in every run
};

/// `trace`: of this graph, with the values that the node reads. Errors: the node alone, and with what is
/// before it, is right on the target; those of the target.
[[nodiscard]] Result<ReduceRun> reduce_layer(const Graph& graph, const TraceView& trace,
                                             const std::string& node, const ReduceRunOptions& options,
                                             ThreadPool& threads, const TargetProgress& progress);

/// What became of it, step by step.
[[nodiscard]] std::string reduced_text(const ReduceRun& run, const std::string& node);

struct ReducedFiles {
  std::vector<std::string> files;
  bool report = false;  ///< as repro makes it; else the model with its inputs and the expected result
};

/// Writes the result as a new folder. Errors: it exists; as of make_report.
[[nodiscard]] Result<ReducedFiles> write_reduced(const Excerpt& excerpt, const std::filesystem::path& folder,
                                                 const ReduceRunOptions& options, ThreadPool& threads,
                                                 const TargetProgress& progress);

/// The text as a part of a file's name: 80 characters at most, and "_" for all but letters, digits and "-".
[[nodiscard]] std::string plain_name(const std::string& text);

/// The name of a folder for a node's report: "repro-conv_3".
[[nodiscard]] std::string report_folder(const std::string& what, const std::string& node);

}  // namespace driftscope
