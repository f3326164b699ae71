#include "native/host/target_runner.hpp"

#include "core/verify/perturbation.hpp"

namespace driftscope {

// One at a time: an open browser is no load, but it is not nothing.
Result<HostSession*> TargetRunner::session_for(const Target& target) {
  if (session_ && session_of_ == target.text()) return session_.get();
  rest();
  DRIFTSCOPE_TRY(const Host* const host, find_host(target));
  DRIFTSCOPE_TRY(session_, host->open(target, context_));
  session_of_ = target.text();
  return session_.get();
}

Result<Trace> TargetRunner::run(const Target& target, const RunRequest& request,
                                const TargetProgress& progress) {
  DRIFTSCOPE_TRY(HostSession* const session, session_for(target));
  return session->run(request, progress);
}

Result<std::vector<CaseRun>> TargetRunner::run_all(const Target& target, std::span<const RunRequest> requests,
                                                   const TargetProgress& progress) {
  DRIFTSCOPE_TRY(HostSession* const session, session_for(target));
  return session->run_all(requests, progress);
}

Status TargetRunner::check_perturbation(const Target& target, const RunRequest& request, Trace& trace,
                                        const TargetProgress& progress) {
  RunRequest outputs_only = request;
  outputs_only.plan = {};
  outputs_only.plan.capture = messages::Capture::outputs;
  outputs_only.sink = nullptr;
  DRIFTSCOPE_TRY(const Trace other, run(target, outputs_only, progress));
  DRIFTSCOPE_TRY(const PerturbationCheck check,
                 driftscope::check_perturbation(request.model->graph, trace, other));
  add_perturbation_check(trace, check);
  return {};
}

}  // namespace driftscope
