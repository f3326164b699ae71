// Runs a model on several targets and assembles the results. Clients: compare, baseline.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/results/comparison_view.hpp"
#include "native/cli/commands/capture_options.hpp"
#include "native/cli/console.hpp"
#include "native/compare/comparison_host.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct CompareRequest {
  std::vector<std::string> inputs;
  std::optional<GivenInputs> kept_inputs = {};  ///< of a kept comparison, in place of those
  std::string dataset;
  std::string store;  ///< of the answers to its samples; empty: none is kept
  int repeat = 0;     ///< 0: until times have settled
  double times = std::chrono::duration<double>(unwatched_time).count();  ///< s of unwatched runs; 0: none
  std::string trace = "all";
  CaptureOptions capture;
  SensitivityWanted sensitivity = SensitivityWanted::never;
  bool quiet = false;
  RunnerOptions runner;
};

/// One comparison on the command line: prepares inputs, shows progress in a line. Request and model
/// must outlive it.
class CompareCommand final : private ComparisonListener {
 public:
  CompareCommand(const CompareRequest& request, const ModelFile& model);

  [[nodiscard]] Status read_samples();
  /// A target that cannot run has an error in its result, the others go on. Errors: the store.
  [[nodiscard]] Result<ComparisonView> run(const Target& left, const std::vector<Target>& right);
  /// What the model ran on.
  [[nodiscard]] const NamedInputs& inputs() const { return inputs_.inputs.tensors; }

 private:
  [[nodiscard]] Result<std::optional<DatasetPlan>> plan_dataset(const std::vector<Target>& targets);
  void on_progress(std::size_t target, ComparisonStage stage, std::string_view step, std::int64_t done,
                   std::int64_t total) override;
  void on_result(std::size_t /*target*/) override {}

  const CompareRequest& request_;
  const ModelFile& model_;
  TargetRunner runner_;
  ProgressLine line_;
  ComparisonInputs inputs_;
  std::unique_ptr<CampaignStore> store_;  // null: nobody goes on with the data set
  std::vector<std::string> targets_;      // the left one first
};

/// Quotes a word for a command line so that a POSIX shell reads it back.
[[nodiscard]] std::string shell_quote(const std::string& word);

/// Prints the targets that did not run; returns the exit code of the last such error, ok without any.
[[nodiscard]] Exit print_failed_targets(const ComparisonView& view);

}  // namespace driftscope
