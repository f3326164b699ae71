// The service's "start" as a whole: the watched run, then, if asked for, the unwatched ones whose time is the
// target's. Client: service.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/run.hpp"
#include "core/protocol/unwatched_runs.hpp"

namespace driftscope {

class TimedRun {
 public:
  /// The loaded model with its weights: read again where the watched run has consumed them.
  using Reload = std::function<Result<LoadedModel*>()>;

  [[nodiscard]] static Result<std::unique_ptr<TimedRun>> start(LoadedModel& model, StartRequest request,
                                                               Reload reload);

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::string>& output_names() const { return output_names_; }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// Of the watched run; with `timing`, ms of the unwatched ones.
  [[nodiscard]] Result<ServiceProgress> poll(std::int64_t budget_ns);
  [[nodiscard]] bool timing() const { return !watched_; }
  /// As of ServiceRun.
  [[nodiscard]] ValueStream::Pieces take_values();
  /// Once, after poll has said finished. That the unwatched runs failed is part of the trace's times: what
  /// was recorded is kept.
  [[nodiscard]] Result<Trace> take();

 private:
  TimedRun() = default;
  [[nodiscard]] Status begin_unwatched();
  [[nodiscard]] Result<Progress> poll_unwatched(std::int64_t budget_ns);

  std::int64_t samples_ = 0;
  std::int64_t unwatched_ns_ = 0;
  StartRequest unwatched_start_;
  Reload reload_;
  std::size_t nodes_ = 0;
  std::vector<std::string> output_names_;
  std::unique_ptr<ServiceRun> watched_;  // null from its end on, when unwatched runs follow
  bool recorded_ = false;
  Trace trace_;
  std::unique_ptr<UnwatchedRuns> unwatched_;
  std::optional<UnwatchedTimes> times_;
};

}  // namespace driftscope
