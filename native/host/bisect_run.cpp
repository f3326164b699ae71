#include "native/host/bisect_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/compare/level_search.hpp"
#include "core/engines/peer/rewritten.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/resolve_target.hpp"
#include "native/host/provide_packages.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {
namespace {

std::shared_ptr<const ModelSource> source_of(const ModelFile& model) {
  auto source = std::make_shared<ModelSource>();
  source->model = model.bytes;
  for (const JobAttachment& file : model.attachments) source->files.push_back({file.location, file.bytes});
  return source;
}

LevelOutcome outcome_by_verdict(const LevelRun& run) {
  constexpr int failed = 100;
  if (run.error || !run.verification) return {"failed", failed};
  const Verification& found = *run.verification;
  if (!is_bad(found.verdict)) return {"right", 0};
  std::string text(verdict_name(found.verdict));
  if (found.first_fault) text += " at " + *found.first_fault;
  return {std::move(text), severity(found.verdict)};
}

/// Runs levels, and keeps what came of each.
class LevelRunner {
 public:
  LevelRunner(const BisectRequest& request, std::vector<AxisLevel> levels, const BisectProgress& progress)
      : request_(request),
        progress_(progress),
        levels_(std::move(levels)),
        runner_(request.runner),
        threads_(usable_processors()) {
    for (const AxisLevel& level : levels_) runs_.push_back(empty_run(level));
  }

  [[nodiscard]] const std::vector<AxisLevel>& levels() const { return levels_; }
  [[nodiscard]] const std::vector<LevelRun>& runs() const { return runs_; }
  /// Why the rewritten model is not known; empty: it is known, or a level failed.
  [[nodiscard]] const std::string& why_no_nodes() const { return why_no_nodes_; }

  /// Runs a level once more; the worse run is kept. Errors: it could not be tried at all.
  Result<LevelRun> run(std::size_t level) {
    DRIFTSCOPE_TRY(LevelRun made, run(levels_[level]));
    LevelRun& kept = runs_[level];
    const bool first = !kept.trace && !kept.error;
    if (first || outcome_by_verdict(made).severity > outcome_by_verdict(kept).severity) kept = made;
    return made;
  }

  Result<LevelRun> run(const AxisLevel& level) {
    LevelRun result = empty_run(level);
    const Target target = target_of(level);
    const auto progress = [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress_(fmt::format("{}: {}", level.name, step), done, total);
    };
    if (Status provided = provide_packages(target, progress); !provided.ok()) {
      if (provided.error().kind != ErrorKind::unsupported) return std::move(provided).error();
      result.error = std::move(provided).error();
      return result;
    }
    if (Status status = run(target, progress, result); !status.ok()) {
      if (status.error().kind == ErrorKind::cancelled) return std::move(status).error();
      result.error = std::move(status).error();
    }
    return result;
  }

 private:
  [[nodiscard]] Target target_of(const AxisLevel& level) const {
    Target target = request_.target;
    for (const auto& [name, value] : level.options) target.options[name] = value;
    return target;
  }

  [[nodiscard]] LevelRun empty_run(const AxisLevel& level) const {
    return {.level = level.name, .target = target_of(level).text()};
  }

  Status run(const Target& target, const TargetProgress& progress, LevelRun& result) {
    RunRequest request;
    request.model = request_.model;
    request.inputs = request_.inputs;
    request.plan.capture = request_.capture;
    DRIFTSCOPE_TRY(Trace trace, runner_.run(target, request, progress));
    progress("verifying", 0, 0);
    DRIFTSCOPE_TRY(result.verification,
                   verify(request_.model->graph, request_.model->sha256, trace, threads_));
    result.trace = std::move(trace);
    outline(target, result);
    return {};
  }

  void outline(const Target& target, LevelRun& result) {
    if (target.host != "pc") {
      why_no_nodes_ =
          "in a browser the model as rewritten by the runtime is not available: only its outputs are "
          "compared";
      return;
    }
    const auto resolved = resolve_target(target);
    if (!resolved.ok()) return;
    if (!source_) source_ = source_of(*request_.model);
    auto rewritten = peer::rewritten_outline(*resolved->engine, source_, resolved->options);
    if (rewritten.ok())
      result.rewritten = *std::move(rewritten);
    else
      why_no_nodes_ = rewritten.error().message;
  }

  const BisectRequest& request_;
  const BisectProgress& progress_;
  std::vector<AxisLevel> levels_;
  std::vector<LevelRun> runs_;
  TargetRunner runner_;
  ThreadPool threads_;
  std::shared_ptr<const ModelSource> source_;
  std::string why_no_nodes_;
};

bool same_outputs(const Graph& graph, const LevelRun& a, const LevelRun& b) {
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.values[id].name;
    const Tensor* const left = a.trace->find(name);
    const Tensor* const right = b.trace->find(name);
    if (left == nullptr || right == nullptr || left->dtype() != right->dtype() ||
        left->shape() != right->shape() || !std::ranges::equal(left->bytes(), right->bytes()))
      return false;
  }
  return true;
}

/// The search: by verdicts where the two ends have different ones, else by the bits of the outputs.
class Bisection {
 public:
  Bisection(const BisectRequest& request, const BisectAxis* axis, LevelRunner& runner)
      : graph_(request.model->graph),
        runner_(runner),
        ordered_(axis != nullptr && axis->ordered),
        search_(runner.levels().size(),
                {.every = request.every || !ordered_, .repeats = ordered_ ? request.repeats : 1}) {}

  Status run() {
    if (ordered_ && runner_.levels().size() > 1) DRIFTSCOPE_CHECK(run_ends());
    while (const auto level = search_.next()) {
      DRIFTSCOPE_TRY(const LevelRun made, runner_.run(*level));
      search_.add(*level, outcome(made));
    }
    return {};
  }

  void describe(LevelBisect& result) const {
    result.by_bits = by_bits_;
    result.ordered = ordered_;
    result.flaky = search_.flaky();
    for (std::size_t i = 0; i < result.levels.size(); ++i) {
      result.levels[i].runs = search_.runs(i);
      result.levels[i].runs_like_it = search_.runs_like_it(i);
    }
    if (!ordered_) return;
    for (const LevelTransition& one : search_.transitions())
      result.transitions.push_back({result.levels[one.from].level, result.levels[one.to].level,
                                    search_.outcome(one.from)->text, search_.outcome(one.to)->text});
  }

  [[nodiscard]] std::vector<LevelTransition> transitions() const { return search_.transitions(); }
  [[nodiscard]] LevelOutcome outcome(const LevelRun& run) const {
    LevelOutcome found = outcome_by_verdict(run);
    if (!first_ || !run.trace || found != outcome_by_verdict(*first_)) return found;
    if (same_outputs(graph_, run, *first_)) return {"the first level's bits", 0};
    return {"other bits", 1};
  }

 private:
  /// What the levels are compared by depends on both ends.
  Status run_ends() {
    const std::size_t last = runner_.levels().size() - 1;
    DRIFTSCOPE_TRY(const LevelRun first, runner_.run(std::size_t{0}));
    DRIFTSCOPE_TRY(const LevelRun other, runner_.run(last));
    by_bits_ = first.trace && other.trace && outcome_by_verdict(first) == outcome_by_verdict(other);
    if (by_bits_) first_ = first;
    search_.add(0, outcome(first));
    search_.add(last, outcome(other));
    return {};
  }

  const Graph& graph_;
  LevelRunner& runner_;
  bool ordered_;
  bool by_bits_ = false;
  std::optional<LevelRun> first_;  ///< with by_bits_
  LevelSearch search_;
};

/// All levels must be targets before the first one runs.
Status check_levels(const BisectRequest& request, const std::vector<AxisLevel>& levels) {
  for (const AxisLevel& level : levels) {
    Target tried = request.target;
    for (const auto& [name, value] : level.options) {
      if (request.target.options.contains(name))
        return bad_input(
            fmt::format("--target {}: it sets {}, which bisect varies", request.target.text(), name));
      tried.options[name] = value;
    }
    DRIFTSCOPE_TRY(const auto resolved, resolve_target(tried));
  }
  return {};
}

}  // namespace

Result<LevelBisect> run_bisect(const BisectRequest& request, const BisectProgress& progress) {
  DRIFTSCOPE_TRY(const Engine* const engine, find_engine(request.target.engine));
  const BisectAxis* const axis = axis_table().find(request.over);
  const AxisRequest asked{request.target, *engine, request.levels};
  DRIFTSCOPE_TRY(const auto levels,
                 axis != nullptr ? axis->levels(asked) : option_levels(request.over, asked));
  DRIFTSCOPE_CHECK(check_levels(request, levels));
  LevelRunner runner(request, levels, progress);
  Bisection bisection(request, axis, runner);
  DRIFTSCOPE_CHECK(bisection.run());
  DRIFTSCOPE_TRY(LevelBisect result, bisect_levels(request.model->graph, request.over, runner.runs()));
  bisection.describe(result);
  result.why_no_nodes = runner.why_no_nodes();
  if (axis == nullptr || axis->without == nullptr) return result;
  for (const LevelTransition& one : bisection.transitions()) {
    const AxisLevel level = axis->without(runner.levels(), one.to);
    DRIFTSCOPE_TRY(const LevelRun made, runner.run(level));
    result.without.push_back({level.name, made.target, bisection.outcome(made).text});
  }
  return result;
}

}  // namespace driftscope
