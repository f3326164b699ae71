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
#include "core/trace/run_fact.hpp"
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
    DRIFTSCOPE_TRY(const auto errors, run_cases());
    DRIFTSCOPE_CHECK(hunt::summarize(store_.results(), names, hunt));
    for (std::size_t t = 0; t < errors.size(); ++t)
      if (errors[t]) hunt.targets[t].error = errors[t]->message;
    return {};
  }

 private:
  [[nodiscard]] bool stopped() const { return plan_.stopped && plan_.stopped(); }

  hunt::HuntTargets names_of_targets() const {
    hunt::HuntTargets names{plan_.names, {}};
    for (const Target& target : plan_.targets) names.names.push_back(target.text());
    return names;
  }

  /// By target, why nothing more of it was run. What was judged before it is stopped is kept.
  Result<std::vector<std::optional<Error>>> run_cases() {
    Campaign campaign;
    campaign.targets = plan_.names;
    campaign.name_of = hunt::case_name;
    campaign.items = plan_.cases;
    campaign.budget.seconds = plan_.seconds;
    campaign.seconds = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    // A browser is opened for each batch: it shall run for longer than it takes to open.
    constexpr double batch_seconds = 20.0;
    campaign.batch_seconds = batch_seconds;
    std::vector<std::optional<Error>> errors(plan_.targets.size());
    CampaignRun run(campaign, store_);
    while (!stopped()) {
      auto batch = run.next();
      if (!batch) break;
      step_ = run.step(batch->target);
      DRIFTSCOPE_TRY(const std::vector<HuntCase> cases, cases_of(batch->items));
      const auto capture = cases_.small() ? messages::Capture::outputs : messages::Capture::all;
      auto runs = run_all(plan_.targets[batch->target], cases, capture);
      if (!runs.ok()) {
        if (runs.error().kind == ErrorKind::cancelled) break;
        errors[batch->target] = std::move(runs).error();
        run.give_up(batch->target);
        continue;
      }
      DRIFTSCOPE_TRY(const std::vector<nlohmann::json> cells, judged(*batch, cases, *runs));
      batch->items.resize(cells.size());
      DRIFTSCOPE_CHECK(run.done(*batch, cells));
    }
    return errors;
  }

  Result<std::vector<HuntCase>> cases_of(std::span<const std::int64_t> numbers) {
    std::vector<HuntCase> cases;
    for (const std::int64_t number : numbers) {
      DRIFTSCOPE_TRY(HuntCase one, cases_.at(number));
      cases.push_back(std::move(one));
    }
    return cases;
  }

  /// What is known of a case that was run.
  struct Judged {
    documents::HuntCase cell;
    std::optional<Trace> watched = {};  ///< with every value, where groups are wrong
  };

  /// As many as could be judged until it was stopped. Errors: of this PC, such as files.
  Result<std::vector<nlohmann::json>> judged(const CampaignBatch& batch, std::span<const HuntCase> cases,
                                             std::span<CaseRun> runs) {
    const Target& target = plan_.targets[batch.target];
    std::vector<Judged> all;
    for (std::size_t i = 0; i < cases.size() && !stopped(); ++i) {
      progress(target, "judging", static_cast<std::int64_t>(i), std::ssize(cases));
      auto cell = judge(cases[i], runs[i]);
      if (!cell.ok()) break;  // cancelled
      all.push_back({std::move(*cell)});
    }
    narrow(target, cases, all);
    std::vector<nlohmann::json> cells;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Status kept = keep_new(target, batch.items[i], cases[i], runs[i], all[i]);
      if (!kept.ok() && kept.error().kind == ErrorKind::cancelled) break;
      DRIFTSCOPE_CHECK(kept);
      cells.push_back(nlohmann::json::parse(encode(all[i].cell).dump()));
    }
    return cells;
  }

  /// Runs cases of which a group is wrong again, with every value watched, to know which node it is. Where it
  /// is stopped meanwhile, the first such case and all behind it are taken away.
  void narrow(const Target& target, std::span<const HuntCase> cases, std::vector<Judged>& all) {
    if (!cases_.small()) return;  // every value was watched
    std::vector<std::size_t> groups;
    std::vector<HuntCase> again;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto unclear = [](const HuntFound& one) { return one.kind != "overflow" && hunt::is_group(one); };
      if (std::ranges::none_of(all[i].cell.found, unclear)) continue;
      groups.push_back(i);
      again.push_back(cases[i]);
    }
    if (groups.empty()) return;
    auto runs = run_all(target, again, messages::Capture::all);
    if (!runs.ok() && runs.error().kind == ErrorKind::cancelled) all.resize(groups.front());
    if (!runs.ok()) return;  // the findings stay those of groups
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Judged& one = all[groups[i]];
      const auto found = found_in_run(again[i], (*runs)[i]);
      if (!found.ok()) continue;
      one.cell.found = hunt::narrowed(std::move(one.cell.found), *found);
      one.watched = std::move(*(*runs)[i].trace);
    }
  }

  /// Errors: that of the target as a whole; cancelled.
  Result<std::vector<CaseRun>> run_all(const Target& target, std::span<const HuntCase> cases,
                                       messages::Capture capture) {
    std::vector<RunRequest> requests;
    for (const HuntCase& one : cases) {
      RunRequest request;
      request.model = one.model.get();
      request.inputs = one.inputs;
      request.plan.capture = capture;
      request.plan.repeat = 1;
      request.stopped = plan_.stopped;
      requests.push_back(std::move(request));
    }
    const auto tell = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(target, step, done, total);
    };
    if (cases_.small()) return runner_.run_all(target, requests, tell);
    std::vector<CaseRun> runs;
    for (const RunRequest& request : requests) {
      tell("running", std::ssize(runs), std::ssize(requests));
      runs.push_back({runner_.run(target, request, [](std::string_view, std::int64_t, std::int64_t) {})});
      if (runs.back().trace.ok()) continue;
      if (runs.back().trace.error().kind == ErrorKind::cancelled) return runs.back().trace.error();
      runner_.rest();  // whatever happened to the host, the next case gets another one
    }
    return runs;
  }

  /// Error: cancelled.
  Result<documents::HuntCase> judge(const HuntCase& one, CaseRun& ran) {
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
      cell.found.push_back(
          {.kind = "lost", .key = "lost: " + one.text, .op = one.text, .text = error.message});
    return cell;
  }

  /// Completes the trace and judges it. Errors: that of the run, or of the verification.
  Result<std::vector<HuntFound>> found_in_run(const HuntCase& one, CaseRun& ran) {
    if (!ran.trace.ok()) return ran.trace.error();
    Trace& trace = *ran.trace;
    for (const NamedTensor& input : one.inputs)
      if (trace.find(input.name) == nullptr) trace.tensors.push_back(input);
    trace.model_sha256 = one.model->sha256;
    DRIFTSCOPE_TRY(const auto verified, verify(one.model->graph, one.model->sha256, trace, threads_));
    return hunt::found_in(one.model->graph, verified, device_errors_of_run(trace));
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

  Status keep_new(const Target& target, std::int64_t number, const HuntCase& one, const CaseRun& ran,
                  Judged& judged) {
    static const Trace nothing;
    for (HuntFound& found : judged.cell.found) {
      const bool watched = judged.watched && !hunt::is_group(found);
      const Trace& trace = watched ? *judged.watched : ran.trace.ok() ? *ran.trace : nothing;
      DRIFTSCOPE_CHECK(keep_if_new(target, number, one, trace, found));
    }
    return {};
  }

  Status keep_if_new(const Target& target, std::int64_t number, const HuntCase& one, const Trace& trace,
                     HuntFound& found) {
    if (found.kind == "overflow") return {};
    if (!known_.insert({target.text(), found.key}).second) return {};
    if (plan_.reduce_seconds > 0) {
      const std::string name =
          fmt::format("{}-{}-{}", plain_name(target.text()), plain_name(found.op).substr(0, longest_name),
                      hunt::case_name(number));
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
    DRIFTSCOPE_CHECK(
        write_file(folder / (plain_name(input.name) + ".npy"), std::span<const std::byte>(bytes)));
  }
  return {};
}

Status run_hunt(HuntCases& cases, const HuntPlan& plan, CampaignStore& store, documents::Hunt& hunt) {
  return HuntRun(cases, plan, store).run(hunt);
}

}  // namespace driftscope
