// Runs cases of a hunt on a target and judges every layer, as verify does. Clients: hunt_run, and the process
// of a cluster's worker that judges a block of cases.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/platform/platform.hpp"
#include "generated/documents/hunt_case.hpp"
#include "native/host/hunt_cases.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// What is known of a case that was run.
struct JudgedCase {
  documents::HuntCase cell;
  std::optional<Trace> trace = {};    ///< nothing: the run failed
  std::optional<Trace> watched = {};  ///< with every value, where groups are wrong
};

class HuntJudge {
 public:
  /// `small`: as of HuntCases. `options` outlives this.
  HuntJudge(bool small, const RunnerOptions& options, StopCheck stopped)
      : small_(small), stopped_(std::move(stopped)), runner_(options), threads_(usable_processors()) {}

  /// As many of the first as could be judged until it was stopped. Errors: that of the target as a whole;
  /// cancelled.
  [[nodiscard]] Result<std::vector<JudgedCase>> judge(const Target& target, std::span<const HuntCase> cases,
                                                      const TargetProgress& progress);
  [[nodiscard]] ThreadPool& threads() { return threads_; }

 private:
  [[nodiscard]] bool stopped() const { return stopped_ && stopped_(); }
  void narrow(const Target& target, std::span<const HuntCase> cases, std::vector<JudgedCase>& all,
              const TargetProgress& progress);
  [[nodiscard]] Result<std::vector<CaseRun>> run_all(const Target& target, std::span<const HuntCase> cases,
                                                     messages::Capture capture,
                                                     const TargetProgress& progress);
  [[nodiscard]] Result<documents::HuntCase> judge_run(const HuntCase& one, CaseRun& ran);
  [[nodiscard]] Result<std::vector<documents::HuntFound>> found_in_run(const HuntCase& one, CaseRun& ran);

  bool small_;
  StopCheck stopped_;
  TargetRunner runner_;
  ThreadPool threads_;
};

}  // namespace driftscope
