#include "core/checks/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/checks/baseline.hpp"
#include "core/checks/speed.hpp"
#include "core/report/finding_text.hpp"
#include "core/results/output.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/overflow.hpp"
#include "core/verify/repeats.hpp"
#include "core/verify/top1.hpp"

namespace driftscope {
namespace {

std::string layer_message(const LayerVerdict& layer) {
  return fmt::format("output {}: {}", layer.output, finding_text(layer));
}

/// Makes all checks of one target, one after the other.
class TargetChecks {
 public:
  TargetChecks(CheckReport& checks, const ComparisonView& view, const TargetResult& target,
               const BaselineCheck* check)
      : report_(checks), view_(view), target_(target), check_(check) {
    if (check != nullptr) saved_ = check->baseline.find(target.target);
  }

  void run(bool is_left) {
    if (target_.error || !target_.verification)
      add("run", CheckOutcome::error, "run",
          target_.error ? target_.error->message : std::string("nothing was verified"));
    if (target_.verification) layers();
    if (target_.error || !target_.trace) return;
    if (report_.conditions.nonfinite && target_.verification) finite_outputs();
    if (report_.conditions.overflow && target_.verification) no_overflow();
    if (report_.conditions.unrepeatable) repeated_runs();
    if (report_.conditions.growing) memory_over_runs();
    if (check_ != nullptr && saved_ == nullptr) {
      add("baseline", CheckOutcome::failed, "run",
          "the baseline does not contain this target; save it again with 'driftscope baseline save'");
      return;
    }
    if (is_left && check_ == nullptr) return;
    const FailOn& conditions = report_.conditions;
    if (conditions.top1) check_ != nullptr ? saved_top1() : left_top1();
    if (conditions.bits) check_ != nullptr ? saved_bits() : left_bits();
    if (conditions.slower) check_ != nullptr ? saved_speed() : left_speed();
  }

 private:
  void add(std::string name, CheckOutcome outcome, std::string kind, std::string message,
           std::int64_t time_ns = 0) {
    report_.cases.push_back(
        {target_.target, std::move(name), outcome, std::move(kind), std::move(message), time_ns});
  }

  void layers() {
    std::unordered_map<std::string_view, std::int64_t> times;
    if (target_.trace)
      for (const NodeRecord& node : target_.trace->nodes) times[node.name] = steady_time_ns(node);
    std::unordered_map<std::string_view, Verdict> known;
    if (saved_ != nullptr)
      for (const KnownLayer& layer : saved_->known) known[layer.output] = layer.verdict;
    for (const LayerVerdict& layer : target_.verification->layers) {
      const std::string name = fmt::format("{} ({})", layer.node, layer.op);
      const auto time = times.find(layer.node);
      const std::int64_t ns = time == times.end() ? 0 : time->second;
      const auto before = known.find(layer.output);
      const bool is_known = before != known.end() && severity(before->second) >= severity(layer.verdict);
      const std::string as_before = is_known ? " (as in the baseline)" : "";
      if (layer.verdict == Verdict::missing) {
        add(name, CheckOutcome::skipped, "", "not judged: " + reason_of(layer), ns);
      } else if (concern_of(layer.verdict) == Concern::open) {
        // Has not passed.
        add(name, report_.conditions.unjudged && !is_known ? CheckOutcome::failed : CheckOutcome::skipped,
            std::string(verdict_name(layer.verdict)), "not judged: " + layer_message(layer) + as_before, ns);
      } else if (concern_of(layer.verdict) == Concern::none) {
        add(name, CheckOutcome::passed, "", "", ns);
      } else {
        add(name,
            report_.conditions.counts(layer.verdict) && !is_known ? CheckOutcome::failed
                                                                  : CheckOutcome::passed,
            std::string(verdict_name(layer.verdict)), layer_message(layer) + as_before, ns);
      }
    }
  }

  void finite_outputs() {
    const bool finite = target_.verification->nonfinite.empty();
    add("finite outputs", finite ? CheckOutcome::passed : CheckOutcome::failed, "nonfinite",
        nonfinite_text(*target_.verification));
  }

  [[nodiscard]] std::string overflow_message() const {
    const std::string shown = nonfinite_text(*target_.verification);
    const std::string more = overflow_text(*target_.verification);
    return shown + (shown.empty() || more.empty() ? "" : "; ") + more;
  }

  void no_overflow() {
    const bool any = std::ranges::any_of(target_.verification->overflows, overflows);
    add("no overflow", any ? CheckOutcome::failed : CheckOutcome::passed, "overflow",
        any ? overflow_message() : "");
  }

  void repeated_runs() {
    const auto& repeats = target_.verification ? target_.verification->repeats : std::nullopt;
    if (!repeats)
      return add("repeated runs", CheckOutcome::failed, "unrepeatable",
                 "cannot be judged: no runs were compared; run with --repeat-check N");
    add("repeated runs", repeats->check.agree() ? CheckOutcome::passed : CheckOutcome::failed, "unrepeatable",
        repeats_text(*repeats));
  }

  void memory_over_runs() {
    const auto memory = memory_over_runs_of(*target_.trace);
    if (!memory)
      return add("memory over runs", CheckOutcome::failed, "growing",
                 "cannot be judged: memory was not recorded; run with --memory-runs N");
    const Growth growth = growth_of(*memory);
    add("memory over runs",
        growth == Growth::grows     ? CheckOutcome::failed
        : growth == Growth::unclear ? CheckOutcome::skipped
                                    : CheckOutcome::passed,
        "growing", memory_over_runs_text(*memory));
  }

  void left_top1() {
    if (view_.left.dataset && target_.dataset) {
      const std::int64_t same = agreement(*view_.left.dataset, *target_.dataset);
      const std::int64_t samples = target_.dataset->samples;
      add("top-1 over the data set", same == samples ? CheckOutcome::passed : CheckOutcome::failed, "top1",
          fmt::format("{} of {} samples have the same best class as on {}", same, samples,
                      view_.left.target));
    }
    if (!target_.comparison) return;
    const OutputAgreement& output = target_.comparison->output;
    if (output.top1_left < 0 || output.top1_right < 0)
      return add("top-1", CheckOutcome::failed, "top1",
                 "cannot be judged: the model's first output is not float32 scores on both sides");
    std::string message =
        fmt::format("best class {} here, {} on {}", output.top1_right, output.top1_left, view_.left.target);
    if (output.answers > 1)
      message += fmt::format("; another one in {} of {}", output.different, output.answers);
    add("top-1", output.agree ? CheckOutcome::passed : CheckOutcome::failed, "top1", std::move(message));
  }

  void saved_top1() {
    const Tensor* output = answer(*target_.trace);
    const auto best = output != nullptr ? top1(*output) : std::nullopt;
    if (saved_->top1.empty() || !best)
      return add("top-1", CheckOutcome::skipped, "top1", "not judged: the baseline has no best class");
    if (best->size() != saved_->top1.size())
      return add("top-1", CheckOutcome::failed, "top1",
                 fmt::format("{} rows of scores, the baseline has {}", best->size(), saved_->top1.size()));
    for (std::size_t i = 0; i < best->size(); ++i)
      if ((*best)[i] != saved_->top1[i])
        return add("top-1", CheckOutcome::failed, "top1",
                   fmt::format("best class {}, in the baseline {}", (*best)[i], saved_->top1[i]));
    add("top-1", CheckOutcome::passed, "top1", "");
  }

  void left_bits() {
    if (!target_.comparison) return;
    const auto& first = target_.comparison->first_divergence;
    add("bits", first ? CheckOutcome::failed : CheckOutcome::passed, "bits",
        first ? fmt::format("first differs from {} at {}", view_.left.target, *first) : "");
  }

  void saved_bits() {
    const bool same = answer_sha256(*target_.trace) == saved_->outputs_sha256;
    add("bits", same ? CheckOutcome::passed : CheckOutcome::failed, "bits",
        same ? "" : "the bits of the outputs differ from the baseline");
  }

  void speed(const std::vector<double>& before, const std::vector<double>& now, const std::string& than,
             const std::string& advice) {
    const SpeedVerdict verdict = check_regression(before, now, *report_.conditions.slower);
    const bool unknown = verdict.speed == Speed::unknown;
    add("speed", verdict.speed == Speed::fine ? CheckOutcome::passed : CheckOutcome::failed, "slower",
        (unknown ? "cannot be judged: " : "") + verdict.message + " (than " + than + ")" +
            (unknown ? "; " + advice : ""));
  }

  void left_speed() {
    if (!view_.left.trace) return;
    const ComparableTimes times = comparable_times(*view_.left.trace, *target_.trace);
    speed(times.before_ns, times.now_ns, view_.left.target, "run again with --times 5 or more");
  }

  void saved_speed() {
    if (saved_->medians_ns.empty())
      return add("speed", CheckOutcome::skipped, "slower", "not judged: the baseline has no times");
    const BaselineMachine& there = check_->baseline.machine;
    if (there != check_->machine)
      return add("speed", CheckOutcome::skipped, "slower",
                 fmt::format("not judged: the baseline was measured on {} ({} cores), this is {} ({})",
                             there.cpu, there.cores, check_->machine.cpu, check_->machine.cores));
    const std::string ran = run_text(*target_.trace);
    if (saved_->ran != ran)
      return add("speed", CheckOutcome::skipped, "slower",
                 fmt::format("not judged: the baseline was measured with {}, this is {}", saved_->ran, ran));
    const auto now = check_->medians.find(target_.target);
    speed(saved_->medians_ns, now == check_->medians.end() ? std::vector<double>() : now->second,
          "the baseline", "save and check with --starts 3 or more");
  }

  CheckReport& report_;
  const ComparisonView& view_;
  const TargetResult& target_;
  const BaselineCheck* check_;
  const BaselineTarget* saved_ = nullptr;
};

nlohmann::ordered_json cases_json(const CheckReport& checks, CheckOutcome outcome) {
  auto list = nlohmann::ordered_json::array();
  for (const CheckCase& one : checks.cases)
    if (one.outcome == outcome)
      list.push_back(
          {{"target", one.target}, {"name", one.name}, {"kind", one.kind}, {"message", one.message}});
  return list;
}

}  // namespace

std::size_t CheckReport::count(CheckOutcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count(cases, outcome, &CheckCase::outcome));
}

CheckReport run_checks(const ComparisonView& view, const FailOn& conditions, const BaselineCheck* baseline) {
  CheckReport checks{conditions, {}};
  TargetChecks(checks, view, view.left, baseline).run(true);
  for (const TargetResult& right : view.right) TargetChecks(checks, view, right, baseline).run(false);
  return checks;
}

std::string checks_text(const CheckReport& checks, std::size_t limit) {
  const std::size_t failures = checks.count(CheckOutcome::failed);
  std::string text =
      fmt::format("--fail-on {}: {} of {} checks failed, {} skipped\n", fail_on_text(checks.conditions),
                  failures, checks.cases.size(), checks.count(CheckOutcome::skipped));
  std::size_t shown = 0;
  std::size_t not_counted = 0;  // faults and suspects that do not count
  for (const CheckCase& one : checks.cases) {
    const bool bad_layer = one.kind == "fault" || one.kind == "suspect";
    if (one.outcome == CheckOutcome::passed && bad_layer) ++not_counted;
    const bool said =
        one.outcome == CheckOutcome::failed || (one.outcome == CheckOutcome::skipped && !one.kind.empty());
    if (!said || ++shown > limit) continue;
    text += fmt::format("  {} {}  {}: {}\n", one.outcome == CheckOutcome::failed ? "✗" : "–", one.target,
                        one.name, one.message);
  }
  if (shown > limit) text += fmt::format("  … and {} more\n", shown - limit);
  if (not_counted > 0)
    text += fmt::format("  {} suspect or faulty layer{} not counted: known, or not listed\n", not_counted,
                        not_counted == 1 ? " is" : "s are");
  return text;
}

std::string checks_json(const CheckReport& checks) {
  nlohmann::ordered_json json;
  json["fail_on"] = fail_on_text(checks.conditions);
  json["passed"] = !checks.failed() && checks.count(CheckOutcome::error) == 0;
  json["checks"] = checks.cases.size();
  json["failures"] = cases_json(checks, CheckOutcome::failed);
  json["errors"] = cases_json(checks, CheckOutcome::error);
  json["skipped"] = cases_json(checks, CheckOutcome::skipped);
  return json_text(json);
}

}  // namespace driftscope
