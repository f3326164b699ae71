// Runs a model on several targets and puts together what was found. Clients: compare, baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "native/cli/commands/capture_options.hpp"
#include "native/cli/console.hpp"
#include "native/host/dataset_run.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct CompareRequest {
  std::vector<std::string> inputs;
  std::string dataset;
  int repeat = 5;
  std::string trace = "all";
  CaptureOptions capture;
  bool quiet = false;
  RunnerOptions runner;
};

/// One comparison while it goes on. Request and model must outlive it.
class CompareRun {
 public:
  CompareRun(const CompareRequest& request, const ModelFile& model);

  [[nodiscard]] Status read_samples();
  /// A target that cannot run says so in its result, the others go on.
  void run(const Target& left, const std::vector<Target>& right);

  [[nodiscard]] const ComparisonView& view() const { return view_; }

 private:
  [[nodiscard]] TargetResult run_one(const Target& target);

  const CompareRequest& request_;
  const ModelFile& model_;
  TargetRunner runner_;
  ProgressLine line_;
  ThreadPool threads_;
  GivenInputs given_;
  std::optional<std::vector<std::string>> values_;
  std::optional<GivenDataset> dataset_;
  ComparisonView view_;
};

/// A word of a command line as a POSIX shell reads it back.
[[nodiscard]] std::string shell_quote(const std::string& word);

/// Prints what did not run; the exit code of the last such error, ok without any.
[[nodiscard]] Exit print_failed_targets(const ComparisonView& view);

}  // namespace driftscope
