// Runs a model on one target, whichever host it is on. Clients: the commands, comparisons, the window.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/host/host.hpp"

namespace driftscope {

class TargetRunner {
 public:
  explicit TargetRunner(RunnerOptions options) : context_(std::move(options)) {}

  [[nodiscard]] const RunnerOptions& options() const { return context_.options; }

  /// The host of the last target stays ready for further runs of it, as a browser that is open.
  [[nodiscard]] Result<Trace> run(const Target& target, const RunRequest& request,
                                  const TargetProgress& progress);

  /// As of HostSession.
  [[nodiscard]] Result<std::vector<CaseRun>> run_all(const Target& target,
                                                     std::span<const RunRequest> requests,
                                                     const TargetProgress& progress);

  /// As of HostSession.
  [[nodiscard]] Result<NodePrograms> programs(const Target& target, const RunRequest& request, NodeId node,
                                              const TargetProgress& progress);

  /// Frees the model of RunRequest::keeps_prepared; the host stays ready.
  void drop_prepared() {
    if (session_) session_->drop_prepared();
  }

  /// Ends what stays open for further runs.
  void rest() { session_.reset(); }

 private:
  [[nodiscard]] Result<HostSession*> session_for(const Target& target, const TargetProgress& progress);

  HostContext context_;
  std::string session_of_;  // a target
  std::unique_ptr<HostSession> session_;
};

}  // namespace driftscope
