// The time of a target: the whole model again and again in a session of its own that keeps no value, after
// the watched run and before anything else happens. Client: timed_run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/protocol/measure.hpp"
#include "core/protocol/runs_after.hpp"
#include "core/results/run_times.hpp"

namespace driftscope {

/// Once warm, runs go on until their median is known to 2 % or for about `budget_ns`, and at least once.
class UnwatchedRuns final : public RunsAfter {
 public:
  explicit UnwatchedRuns(std::int64_t budget_ns) : budget_ns_(static_cast<double>(budget_ns)) {}

  [[nodiscard]] Status prepare(LoadedModel& model, StartRequest start) override;
  /// Progress in ms of the budget.
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  void add_to(Trace& trace) override;
  /// The error is part of the trace's times.
  [[nodiscard]] Status failed(Trace& trace, const Error& error) override;

 private:
  void add_slice(const messages::MeasureResponse& slice);
  void choose_inner(double run_ns);
  [[nodiscard]] bool known() const;
  [[nodiscard]] MeasureRequest next_slice() const;

  std::unique_ptr<Measurement> measurement_;
  double clock_ns_ = 0.0;
  double budget_ns_;
  UnwatchedTimes times_;
  std::int64_t inner_ = 1;
  std::vector<double> warm_up_;  // medians of slices
  bool warm_ = false;
  double used_ns_ = 0.0;  // of all slices
  bool done_ = false;
};

}  // namespace driftscope
