// Runs a model on several targets and assembles the results. Clients: compare, baseline.
#pragma once

#include <chrono>
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
  bool matters = false;    ///< causal tests of wrong layers
  std::string about = {};  ///< before each step of the progress line: "q4 (3 of 8): "
  bool quiet = false;
  RunnerOptions runner;
};

/// One comparison on the command line: prepares inputs, shows progress in a line. Request, model and runner
/// must outlive it.
class CompareCommand final : private ComparisonListener {
 public:
  CompareCommand(const CompareRequest& request, const ModelFile& model);
  /// With a runner that further comparisons use as well.
  CompareCommand(const CompareRequest& request, const ModelFile& model, TargetRunner& runner);

  [[nodiscard]] Status read_samples();
  /// A target that cannot run has an error in its result, the others go on. Errors: the store.
  [[nodiscard]] Result<ComparisonView> run(const Target& left, const std::vector<Target>& right);
  /// What the model ran on.
  [[nodiscard]] const NamedInputs& inputs() const { return inputs_.inputs.tensors; }
  /// From handing over the model until it runs, the left target first; nothing where it never did. Seen from
  /// outside, which looks ten times a second.
  [[nodiscard]] const std::vector<std::optional<std::chrono::nanoseconds>>& load_times() const {
    return loads_;
  }

 private:
  [[nodiscard]] Result<std::optional<DatasetPlan>> plan_dataset(const std::vector<Target>& targets);
  /// Errors of a target's tests are printed; the others go on.
  void test_causes(ComparisonView& view, ThreadPool& threads);
  void note_load(std::size_t target, ComparisonStage stage, std::string_view step);
  void on_progress(std::size_t target, ComparisonStage stage, std::string_view step, std::int64_t done,
                   std::int64_t total) override;
  void on_result(std::size_t /*target*/) override {}

  const CompareRequest& request_;
  const ModelFile& model_;
  std::unique_ptr<TargetRunner> own_runner_;  // null: another's is used
  TargetRunner& runner_;
  ProgressLine line_;
  ComparisonInputs inputs_;
  std::unique_ptr<CampaignStore> store_;  // null: nobody goes on with the data set
  std::vector<std::string> targets_;      // the left one first
  std::optional<std::chrono::steady_clock::time_point> handed_over_;  // of the target under way
  std::optional<std::chrono::steady_clock::time_point> last_look_;
  std::vector<std::optional<std::chrono::nanoseconds>> loads_;
};

/// Quotes a word for a command line so that a POSIX shell reads it back.
[[nodiscard]] std::string shell_quote(const std::string& word);

/// Prints the targets that did not run; returns the exit code of the last such error, ok without any.
[[nodiscard]] Exit print_failed_targets(const ComparisonView& view);

}  // namespace driftscope
