#include "native/host/hunt_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/hunt/judged.hpp"
#include "core/trace/run_fact.hpp"
#include "core/verify/top1.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

using documents::HuntFound;

static void add_other_answer(const HuntCase& one, const Trace& trace, documents::HuntCase& cell) {
  const Graph& graph = one.model->graph;
  if (!one.answer || graph.outputs.empty()) return;
  const Tensor* const answer = trace.find(graph.values[graph.outputs.front()].name);
  const auto best = answer == nullptr ? std::nullopt : top1(*answer);
  if (!best || best->size() != 1 || best->front() == *one.answer) return;
  cell.found.push_back(
      {.kind = "answer",
       .key = "answer",
       .op = "the answer",
       .text = fmt::format("class {}, and {} on pc/strict; every layer is right, so rounding "
                           "decides",
                           best->front(), *one.answer)});
}

Result<std::vector<JudgedCase>> HuntJudge::judge(const Target& target, std::span<const HuntCase> cases,
                                                 const TargetProgress& progress) {
  const auto capture = small_ ? messages::Capture::outputs : messages::Capture::all;
  DRIFTSCOPE_TRY(std::vector<CaseRun> runs, run_all(target, cases, capture, progress));
  std::vector<JudgedCase> all;
  for (std::size_t i = 0; i < cases.size() && !stopped(); ++i) {
    progress("judging", static_cast<std::int64_t>(i), std::ssize(cases));
    auto cell = judge_run(cases[i], runs[i]);
    if (!cell.ok()) break;  // cancelled
    all.push_back({std::move(*cell)});
  }
  narrow(target, cases, all, progress);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (runs[i].trace.ok()) all[i].trace = std::move(*runs[i].trace);
  return all;
}

/// Runs cases of which a group is wrong again, with every value watched, to know which node it is. Where it
/// is stopped meanwhile, the first such case and all behind it are taken away.
void HuntJudge::narrow(const Target& target, std::span<const HuntCase> cases, std::vector<JudgedCase>& all,
                       const TargetProgress& progress) {
  if (!small_) return;  // every value was watched
  std::vector<std::size_t> groups;
  std::vector<HuntCase> again;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto unclear = [](const HuntFound& one) { return one.kind != "overflow" && hunt::is_group(one); };
    if (std::ranges::none_of(all[i].cell.found, unclear)) continue;
    groups.push_back(i);
    again.push_back(cases[i]);
  }
  if (groups.empty()) return;
  auto runs = run_all(target, again, messages::Capture::all, progress);
  if (!runs.ok() && runs.error().kind == ErrorKind::cancelled) all.resize(groups.front());
  if (!runs.ok()) return;  // the findings stay those of groups
  for (std::size_t i = 0; i < groups.size(); ++i) {
    JudgedCase& one = all[groups[i]];
    const auto found = found_in_run(again[i], (*runs)[i]);
    if (!found.ok()) continue;
    one.cell.found = hunt::narrowed(std::move(one.cell.found), *found);
    one.watched = std::move(*(*runs)[i].trace);
  }
}

/// Errors: that of the target as a whole; cancelled.
Result<std::vector<CaseRun>> HuntJudge::run_all(const Target& target, std::span<const HuntCase> cases,
                                                messages::Capture capture, const TargetProgress& progress) {
  std::vector<RunRequest> requests;
  for (const HuntCase& one : cases) {
    RunRequest request;
    request.model = one.model.get();
    request.inputs = one.inputs;
    request.plan.capture = capture;
    request.plan.repeat = 1;
    request.stopped = stopped_;
    requests.push_back(std::move(request));
  }
  if (small_) return runner_.run_all(target, requests, progress);
  std::vector<CaseRun> runs;
  for (const RunRequest& request : requests) {
    progress("running", std::ssize(runs), std::ssize(requests));
    runs.push_back({runner_.run(target, request, [](std::string_view, std::int64_t, std::int64_t) {})});
    if (runs.back().trace.ok()) continue;
    if (runs.back().trace.error().kind == ErrorKind::cancelled) return runs.back().trace.error();
    runner_.rest();  // whatever happened to the host, the next case gets another one
  }
  return runs;
}

/// Error: cancelled.
Result<documents::HuntCase> HuntJudge::judge_run(const HuntCase& one, CaseRun& ran) {
  documents::HuntCase cell{.outcome = "right", .of = one.text};
  auto found = found_in_run(one, ran);
  if (found.ok()) {
    cell.found = std::move(*found);
    if (cell.found.empty()) add_other_answer(one, *ran.trace, cell);
    if (!cell.found.empty()) cell.outcome = "wrong";
    return cell;
  }
  const Error& error = found.error();
  if (error.kind == ErrorKind::cancelled) return error;
  const bool refused = !ran.trace.ok() && error.kind == ErrorKind::unsupported;
  cell.outcome = ran.lost ? "lost" : refused ? "refused" : "failed";
  cell.reason = error.message;
  if (ran.lost)
    cell.found.push_back({.kind = "lost", .key = "lost: " + one.text, .op = one.text, .text = error.message});
  return cell;
}

/// Completes the trace and judges it. Errors: that of the run, or of the verification.
Result<std::vector<HuntFound>> HuntJudge::found_in_run(const HuntCase& one, CaseRun& ran) {
  if (!ran.trace.ok()) return ran.trace.error();
  Trace& trace = *ran.trace;
  for (const NamedTensor& input : one.inputs)
    if (trace.find(input.name) == nullptr) trace.tensors.push_back(input);
  trace.model_sha256 = one.model->sha256;
  DRIFTSCOPE_TRY(const auto verified, verify(one.model->graph, one.model->sha256, trace, threads_));
  return hunt::found_in(one.model->graph, verified, device_errors_of_run(trace));
}

}  // namespace driftscope
