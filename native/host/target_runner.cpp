#include "native/host/target_runner.hpp"

#include "native/host/provide_packages.hpp"

namespace driftscope {

// One at a time: an open browser is no load, but it is not nothing.
Result<HostSession*> TargetRunner::session_for(const Target& target, const TargetProgress& progress) {
  if (session_ && session_of_ == target.text()) return session_.get();
  rest();
  DRIFTSCOPE_CHECK(provide_packages(target, progress));
  DRIFTSCOPE_TRY(const Host* const host, find_host(target));
  DRIFTSCOPE_TRY(session_, host->open(target, context_));
  session_of_ = target.text();
  return session_.get();
}

Result<Trace> TargetRunner::run(const Target& target, const RunRequest& request,
                                const TargetProgress& progress) {
  DRIFTSCOPE_TRY(HostSession* const session, session_for(target, progress));
  return session->run(request, progress);
}

Result<std::vector<CaseRun>> TargetRunner::run_all(const Target& target, std::span<const RunRequest> requests,
                                                   const TargetProgress& progress) {
  DRIFTSCOPE_TRY(HostSession* const session, session_for(target, progress));
  return session->run_all(requests, progress);
}

Result<NodePrograms> TargetRunner::programs(const Target& target, const RunRequest& request, NodeId node,
                                            const TargetProgress& progress) {
  DRIFTSCOPE_TRY(HostSession* const session, session_for(target, progress));
  return session->programs(request, node, progress);
}

}  // namespace driftscope
