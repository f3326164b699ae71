// Makes the folder of a report (core/repro), runs its page and script, and only then gives it its name.
// Client: the command repro.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/repro/report_files.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

struct ReproOptions {
  std::filesystem::path folder;  ///< must not exist
  Target target;
  RunnerOptions runner;
  bool anonymous = false;        ///< other weights and inputs, with which the fault stays
  std::int64_t table_runs = 20;  ///< at most, for the table over one parameter; 0: none is made
};

struct ReproResult {
  std::vector<std::string> files;
  std::vector<std::string> disclosed;
  std::string page;    ///< what the page said: "wrong"; empty: there is none, or it was not run
  std::string script;  ///< the script's last line; why it was not run
  std::optional<ParameterTable> table = {};
  std::string no_table = {};  ///< why there is none, where one was wanted
};

/// Errors: the folder exists; the node alone gives a right result on the target; the page does not end.
[[nodiscard]] Result<ReproResult> make_report(const Excerpt& one, const ReproOptions& options,
                                              ThreadPool& threads, const TargetProgress& progress);

}  // namespace driftscope
