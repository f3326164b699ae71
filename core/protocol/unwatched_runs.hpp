// The time of a target: the whole model again and again in a session of its own that keeps no value, after
// the watched run and before anything else happens. Client: service.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/protocol/measure.hpp"
#include "core/results/run_times.hpp"

namespace driftscope {

class UnwatchedRuns {
 public:
  /// Prepares the session; `start` as of the watched run. Once warm, runs go on until their median is known
  /// to 2 % or for about `budget_ns`, and at least once.
  [[nodiscard]] static Result<std::unique_ptr<UnwatchedRuns>> prepare(LoadedModel& model, StartRequest start,
                                                                      std::int64_t budget_ns);

  /// Progress in ms of the budget.
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns);
  /// Once poll has said finished.
  [[nodiscard]] UnwatchedTimes take() { return std::move(times_); }

 private:
  UnwatchedRuns(std::unique_ptr<Measurement> measurement, double clock_ns, std::int64_t budget_ns);
  void add_slice(const messages::MeasureResponse& slice);
  void choose_inner(double run_ns);
  [[nodiscard]] bool known() const;
  [[nodiscard]] MeasureRequest next_slice() const;

  std::unique_ptr<Measurement> measurement_;
  double clock_ns_;
  double budget_ns_;
  UnwatchedTimes times_;
  std::int64_t inner_ = 1;
  std::vector<double> warm_up_;  // medians of slices
  bool warm_ = false;
  double used_ns_ = 0.0;  // of all slices
  bool done_ = false;
};

}  // namespace driftscope
