#include "native/host/hunt_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/json.hpp"
#include "core/dataset/npy.hpp"
#include "core/hunt/judged.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/top1.hpp"
#include "core/verify/verify.hpp"
#include "native/host/reduce_run.hpp"
#include "native/host/target_runner.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;
using documents::HuntFound;

class HuntRun {
 public:
  HuntRun(HuntCases& cases, const HuntPlan& plan, CampaignStore& store)
      : cases_(cases), plan_(plan), store_(store), runner_(plan.runner), threads_(usable_processors()) {}

  Status run(documents::Hunt& hunt) {
    const hunt::HuntTargets names = names_of_targets();
    DRIFTSCOPE_CHECK(hunt::summarize(store_.results(), names, hunt));
    for (const documents::HuntFinding& finding : hunt.findings)
      if (finding.found.folder || plan_.reduce_seconds == 0)
        known_.insert({finding.target, finding.found.key});
    DRIFTSCOPE_TRY(const CampaignOutcome outcome, run_cases());
    DRIFTSCOPE_CHECK(hunt::summarize(store_.results(), names, hunt));
    for (std::size_t t = 0; t < outcome.errors.size(); ++t)
      if (outcome.errors[t] && outcome.errors[t]->kind != ErrorKind::cancelled)
        hunt.targets[t].error = outcome.errors[t]->message;
    return {};
  }

 private:
  [[nodiscard]] bool stopped() const { return plan_.stopped && plan_.stopped(); }

  hunt::HuntTargets names_of_targets() const {
    hunt::HuntTargets names{plan_.names, {}};
    for (const Target& target : plan_.targets) names.names.push_back(target.text());
    return names;
  }

  Result<CampaignOutcome> run_cases() {
    Campaign campaign;
    campaign.targets = plan_.names;
    campaign.name_of = hunt::case_name;
    campaign.items = plan_.cases;
    campaign.budget.seconds = plan_.seconds;
    campaign.seconds = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    campaign.stopped = [this] { return stopped(); };
    // A browser is opened for each batch: it shall run for longer than it takes to open.
    constexpr double batch_seconds = 20.0;
    campaign.batch_seconds = batch_seconds;
    std::optional<Error> failed;  // of this PC, not of a target
    campaign.check = [&](std::size_t t, std::span<const std::int64_t> items) {
      auto cells = check(t, items);
      if (!cells.ok() && cells.error().kind == ErrorKind::io) failed = cells.error();
      return cells;
    };
    DRIFTSCOPE_TRY(CampaignOutcome outcome,
                   run_campaign(campaign, store_, [&](const CampaignStep& step) { step_ = step; }));
    if (failed) return *std::move(failed);
    return outcome;
  }

  Result<std::vector<nlohmann::json>> check(std::size_t t, std::span<const std::int64_t> items) {
    const Target& target = plan_.targets[t];
    std::vector<HuntCase> cases;
    for (const std::int64_t item : items) {
      DRIFTSCOPE_TRY(HuntCase one, cases_.at(item));
      cases.push_back(std::move(one));
      if (stopped()) return Error{ErrorKind::cancelled, "stopped"};
    }
    std::vector<RunRequest> requests;
    for (const HuntCase& one : cases) {
      RunRequest request;
      request.model = one.model.get();
      request.inputs = one.inputs;
      request.plan.capture = cases_.small() ? messages::Capture::outputs : messages::Capture::all;
      request.plan.repeat = 1;
      request.stopped = plan_.stopped;
      requests.push_back(std::move(request));
    }
    DRIFTSCOPE_TRY(std::vector<CaseRun> runs, run_all(target, requests));
    std::vector<nlohmann::json> cells;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      progress(target, "judging", static_cast<std::int64_t>(i), std::ssize(cases));
      DRIFTSCOPE_TRY(const documents::HuntCase cell, judge(target, items[i], cases[i], runs[i]));
      cells.push_back(nlohmann::json::parse(encode(cell).dump()));
      if (stopped()) return Error{ErrorKind::cancelled, "stopped"};
    }
    return cells;
  }

  Result<std::vector<CaseRun>> run_all(const Target& target, std::span<const RunRequest> requests) {
    const auto tell = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(target, step, done, total);
    };
    if (cases_.small()) return runner_.run_all(target, requests, tell);
    std::vector<CaseRun> runs;
    for (const RunRequest& request : requests) {
      tell("running", std::ssize(runs), std::ssize(requests));
      runs.push_back({runner_.run(target, request, [](std::string_view, std::int64_t, std::int64_t) {})});
      if (!runs.back().trace.ok() && runs.back().trace.error().kind == ErrorKind::cancelled)
        return runs.back().trace.error();
    }
    return runs;
  }

  Result<documents::HuntCase> judge(const Target& target, std::int64_t number, const HuntCase& one,
                                    CaseRun& ran) {
    documents::HuntCase cell{.outcome = "right", .of = one.text};
    if (!ran.trace.ok()) {
      const Error& error = ran.trace.error();
      if (error.kind == ErrorKind::cancelled) return error;
      cell.outcome = error.kind == ErrorKind::unsupported ? "refused" : ran.lost_before ? "lost" : "failed";
      cell.reason = error.message;
      if (cell.outcome != "lost") return cell;
      HuntFound found{.kind = "lost", .key = "lost: " + one.text, .op = one.text, .text = error.message};
      DRIFTSCOPE_CHECK(keep_if_new(target, number, one, Trace{}, found));
      cell.found.push_back(std::move(found));
      return cell;
    }
    Trace& trace = *ran.trace;
    for (const NamedTensor& input : one.inputs)
      if (trace.find(input.name) == nullptr) trace.tensors.push_back(input);
    trace.model_sha256 = one.model->sha256;
    const auto verified = verify(one.model->graph, one.model->sha256, trace, threads_);
    if (!verified.ok()) {
      if (verified.error().kind == ErrorKind::cancelled) return verified.error();
      cell.outcome = "failed";
      cell.reason = verified.error().message;
      return cell;
    }
    cell.found = hunt::found_in(one.model->graph, *verified);
    if (cell.found.empty()) add_other_answer(one, trace, cell);
    for (HuntFound& found : cell.found) DRIFTSCOPE_CHECK(keep_if_new(target, number, one, trace, found));
    if (!cell.found.empty()) cell.outcome = "wrong";
    return cell;
  }

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

  Status keep_if_new(const Target& target, std::int64_t number, const HuntCase& one, const Trace& trace,
                     HuntFound& found) {
    if (found.kind == "overflow") return {};
    if (!known_.insert({target.text(), found.key}).second) return {};
    if (plan_.reduce_seconds > 0) {
      const std::string name =
          fmt::format("{}-{}-{}", report_folder("", target.text()).substr(1),
                      report_folder("", found.op).substr(1, longest_name), hunt::case_name(number));
      auto kept = keep(target, one, trace, found, plan_.folder / "findings" / name);
      if (!kept.ok()) {
        if (kept.error().kind == ErrorKind::cancelled) known_.erase({target.text(), found.key});
        return kept;
      }
      found.folder = name;
    }
    plan_.found(target.text(), found, one.text);
    return {};
  }

  /// The reduced node as a report, or, where that cannot be, the whole case. The folder gets its name when it
  /// is complete.
  Status keep(const Target& target, const HuntCase& one, const Trace& trace, HuntFound& found,
              const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder.parent_path(), error);
    const fs::path part = folder.string() + ".part";
    fs::remove_all(part, error);
    fs::remove_all(folder, error);
    if (found.node.empty())
      found.reduced = "no layer is named";
    else if (const Status reduced = reduce_into(target, one, trace, found.node, part); !reduced.ok()) {
      if (stopped()) return Error{ErrorKind::cancelled, "stopped"};
      found.reduced = reduced.error().message;
      fs::remove_all(part, error);
    }
    if (found.reduced) {
      DRIFTSCOPE_CHECK(write_case(one, part));
      if (!trace.tensors.empty()) {
        DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, write_trace(trace));
        DRIFTSCOPE_CHECK(write_file(part / "trace.safetensors", std::span<const std::byte>(bytes)));
      }
    }
    fs::rename(part, folder, error);
    if (error) return io_error(fmt::format("{}: {}", folder.string(), error.message()));
    return {};
  }

  Status reduce_into(const Target& target, const HuntCase& one, const Trace& trace, const std::string& node,
                     const fs::path& part) {
    const ReduceRunOptions options{.target = target,
                                   .runner = plan_.runner,
                                   .tries = plan_.reduce_tries,
                                   .seconds = plan_.reduce_seconds,
                                   .table_runs = 0,
                                   .stopped = plan_.stopped};
    const auto tell = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      plan_.progress(std::string(step), done, total);
    };
    DRIFTSCOPE_TRY(const ReduceRun run,
                   reduce_layer(one.model->graph, TraceView(trace), node, options, threads_, tell));
    const auto written = write_reduced(run.reduced.excerpt, part, options, threads_, tell);
    return written.ok() ? Status() : Status(written.error());
  }

  void progress(const Target& target, std::string_view step, std::int64_t done, std::int64_t total) {
    plan_.progress(fmt::format("{} cases; {}: {}", step_.done, target.text(), step), done, total);
  }

  static constexpr std::size_t longest_name = 40;

  HuntCases& cases_;
  const HuntPlan& plan_;
  CampaignStore& store_;
  TargetRunner runner_;
  ThreadPool threads_;
  CampaignStep step_;
  std::set<std::pair<std::string, std::string>> known_;  ///< target and key
};

}  // namespace

Status write_case(const HuntCase& one, const std::filesystem::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder.string(), error.message()));
  DRIFTSCOPE_CHECK(write_file(folder / "model.onnx", one.model->bytes.bytes()));
  for (const NamedTensor& input : one.inputs) {
    DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, write_npy(input.tensor));
    DRIFTSCOPE_CHECK(write_file(folder / (report_folder("", input.name).substr(1) + ".npy"),
                                std::span<const std::byte>(bytes)));
  }
  return {};
}

Status run_hunt(HuntCases& cases, const HuntPlan& plan, CampaignStore& store, documents::Hunt& hunt) {
  return HuntRun(cases, plan, store).run(hunt);
}

}  // namespace driftscope
