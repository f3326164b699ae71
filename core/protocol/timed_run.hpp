// The service's "start" as a whole: the watched run, then, if asked for, the unwatched ones whose time is the
// target's, and those over which memory is watched. Client: service.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/run.hpp"
#include "core/protocol/runs_after.hpp"

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
  /// Of the watched run; with `timing`, of what follows it.
  [[nodiscard]] Result<ServiceProgress> poll(std::int64_t budget_ns);
  [[nodiscard]] bool timing() const { return !watched_; }
  /// As of ServiceRun.
  [[nodiscard]] ValueStream::Pieces take_values();
  /// Once, after poll has said finished.
  [[nodiscard]] Result<Trace> take();

 private:
  TimedRun() = default;
  [[nodiscard]] Result<Progress> poll_after(std::int64_t budget_ns);

  std::int64_t samples_ = 0;
  StartRequest after_start_;  // of what follows
  Reload reload_;
  std::size_t nodes_ = 0;
  std::vector<std::string> output_names_;
  std::unique_ptr<ServiceRun> watched_;  // null from its end on, when something follows
  bool recorded_ = false;
  Trace trace_;
  std::vector<std::unique_ptr<RunsAfter>> after_;  // in their order
  std::size_t next_after_ = 0;
  bool prepared_ = false;  // the session of after_[next_after_]
};

}  // namespace driftscope
