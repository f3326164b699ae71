// A model on several targets, one after the other: each is run, verified, compared with the first one and
// given the data set. A state machine: poll() takes one step and never waits for a run, so that a command, a
// window's thread and a browser's worker can drive it. A failure affects only its target.
// Clients: the command line, the window, the page. It opens no file and starts no run itself
// (ComparisonHost).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/comparison_host.hpp"
#include "core/compare/dataset_campaign.hpp"
#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"
#include "core/results/comparison_view.hpp"
#include "core/verify/answer_sensitivity.hpp"

namespace driftscope {

struct ComparisonPlan {
  std::vector<std::string> targets;  ///< the left one first
  bool perturbation_check = false;   ///< whether capturing changes the outputs; not for files
  bool verify = true;                ///< and compare; without it targets only run
  /// Whether times are measured by a run of their own, after the target was judged. Not for files.
  bool measure_times = false;
  bool watch_memory = false;                ///< whether memory grows from run to run; not for files
  std::optional<DatasetPlan> dataset = {};  ///< not for files
  /// How far rounding can move the answer, predicted from the left target's input before others run.
  SensitivityWanted sensitivity = SensitivityWanted::never;
  bool keep_traces = true;  ///< of finished right targets; the left one's is always kept, to compare with
};

/// What a target is doing.
enum class ComparisonStage {
  running,
  checking_perturbation,
  verifying,
  comparing,
  measuring_times,
  running_dataset,
  watching_memory
};

/// Called while poll() works, from the thread that polls.
class ComparisonListener {
 public:
  virtual ~ComparisonListener() = default;
  virtual void on_progress(std::size_t target, ComparisonStage stage, std::string_view step,
                           std::int64_t done, std::int64_t total) = 0;
  /// The target is verified and compared; runs for its times or of the data set follow.
  virtual void on_verified(std::size_t /*target*/, const TargetResult& /*result*/) {}
  /// The target's result is in view(), complete or with its error.
  virtual void on_result(std::size_t target) = 0;
};

class ComparisonRun {
 public:
  /// `about` holds what the caller knows (names, texts, the model's hash); results are added. All references
  /// must outlive the run. `graph` needs its weights (verification reads them).
  ComparisonRun(const Graph& graph, ComparisonPlan plan, ComparisonView about, ComparisonHost& host,
                ThreadPool& threads, ComparisonListener& listener);
  ~ComparisonRun();
  ComparisonRun(const ComparisonRun&) = delete;
  ComparisonRun& operator=(const ComparisonRun&) = delete;

  /// One step: begins or polls a run, or verifies or compares (each in a single call, with progress).
  /// `finished` when all targets are done. The only error is `cancelled`, when host.stopped(); results
  /// finished before stay in view().
  [[nodiscard]] Result<RunState> poll();

  /// Results so far; the left one is empty until it is done.
  [[nodiscard]] const ComparisonView& view() const { return view_; }
  /// The same, moved out at the end.
  [[nodiscard]] ComparisonView take() { return std::move(view_); }

 private:
  struct Current;

  [[nodiscard]] std::optional<Target> begin_target();
  void begin_run(RunPurpose purpose, ComparisonStage stage, std::span<const std::int64_t> samples = {});
  void begin_samples();
  [[nodiscard]] Result<RunState> poll_run();
  void take_run();
  void run_failed(Error error);
  void prepare_sensitivity();
  void predict_move();
  void verify_trace();
  void compare_traces();
  void next_stage();
  void finish_target();
  void report(std::string_view step, std::int64_t done, std::int64_t total);

  const Graph& graph_;
  ComparisonPlan plan_;
  ComparisonView view_;
  ComparisonHost& host_;
  ThreadPool& threads_;
  ComparisonListener& listener_;
  std::unique_ptr<const AnswerSensitivity> sensitivity_;  // null: before the left target ran, or not wanted
  std::string no_sensitivity_;                            // why there is none
  std::map<std::string, PredictedLayers> predicted_;      // by engine and options
  std::size_t next_ = 0;                                  // place of the target under way, or of the next one
  std::unique_ptr<Current> current_;                      // null between targets
};

}  // namespace driftscope
