#include "native/cli/baseline_run.hpp"

#include <fmt/format.h>

#include "native/bench/bench.hpp"
#include "native/bench/machine.hpp"
#include "native/cli/console.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/files.hpp"

namespace driftscope {

std::filesystem::path default_baseline(const std::filesystem::path& model) {
  std::filesystem::path path = model;
  return path.replace_extension(".baseline.json");
}

Result<Baseline> load_baseline(const std::filesystem::path& path, const ModelFile& model) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return bad_input(fmt::format(
        "there is no baseline {}; make it with 'driftscope baseline save {} --targets …', or name "
        "another one with --baseline",
        path.string(), model.path.string()));
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto baseline = read_baseline(bytes);
  if (!baseline.ok()) return in_context(std::move(baseline).error(), path.string());
  if (baseline->model_sha256 != model.sha256)
    return bad_input(fmt::format(
        "{}: it was saved for another model: expected sha256 {} ({}), got {}; if the model was meant to "
        "change, save the baseline again",
        path.string(), model.sha256, model.path.string(), baseline->model_sha256));
  return baseline;
}

BaselineMachine this_machine() {
  const Machine machine = describe_machine();
  return {machine.cpu, machine.cores};
}

Result<std::map<std::string, std::vector<double>>> measure_starts(const StartsRequest& request) {
  BenchPlan plan;
  plan.models = {request.model.string()};
  plan.targets = request.targets;
  plan.inputs = request.inputs;
  plan.limits.seconds = request.seconds;
  plan.limits.warm_up_seconds = request.seconds;
  plan.runner = request.runner;
  std::map<std::string, std::vector<double>> medians;
  ProgressLine line(request.quiet);
  for (int start = 1; start <= request.starts; ++start) {
    const auto on_progress = [&](const std::string& step, std::int64_t percent) {
      line.update(fmt::format("start {} of {}: {}", start, request.starts, step), percent, 100);
    };
    DRIFTSCOPE_TRY(const BenchReport report, run_plan(plan, [] { return false; }, on_progress));
    for (const BenchRow& row : report.rows) {
      if (row.error) return in_context(*row.error, row.target);
      if (row.series.error) return in_context(*row.series.error, row.target);
      const auto median = median_time(row.series, plan.limits.confidence);
      if (median) medians[row.base_name].push_back(median->value);
    }
  }
  line.clear();
  return medians;
}

Result<BaselineCheck> baseline_check(Baseline baseline, const ComparisonView& view, const FailOn& conditions,
                                     const ModelFile& model, const RunnerOptions& runner, bool quiet) {
  BaselineCheck check{std::move(baseline), this_machine(), {}};
  if (!conditions.slower || check.machine != check.baseline.machine) return check;
  StartsRequest request;
  const auto add = [&](const TargetResult& result) -> Status {
    const BaselineTarget* saved = check.baseline.find(result.target);
    if (!result.trace || saved == nullptr || saved->medians_ns.empty()) return {};
    DRIFTSCOPE_TRY(Target target, parse_target(result.target));
    if (target.host != "file") request.targets.push_back(std::move(target));
    return {};
  };
  DRIFTSCOPE_CHECK(add(view.left));
  for (const TargetResult& right : view.right) DRIFTSCOPE_CHECK(add(right));
  if (request.targets.empty()) return check;
  request.model = model.path;
  request.inputs = check.baseline.inputs;
  request.starts = std::max(check.baseline.measured.starts, 1);
  request.seconds = check.baseline.measured.seconds;
  request.runner = runner;
  request.quiet = quiet;
  DRIFTSCOPE_TRY(check.medians, measure_starts(request));
  return check;
}

}  // namespace driftscope
