#include "native/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bench/product_count.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "native/bench/build_id.hpp"
#include "native/bench/machine.hpp"
#include "native/bench/open_subject.hpp"
#include "native/host/kept_file.hpp"
#include "native/host/service_run.hpp"

namespace driftscope {
namespace {

/// One model while it is measured.
class ModelBench {
 public:
  ModelBench(const BenchPlan& plan, const ModelFile& model, SiteServers& servers, const StopCheck& stop,
             const PlanProgress& progress, std::vector<std::string>& notes)
      : plan_(plan), model_(model), servers_(servers), stop_(stop), progress_(progress), notes_(notes) {
    limits_ = plan.limits;
    limits_.seconds /= plan.launches;
    if (limits_.max_runs > 0) limits_.max_runs = std::max<std::int64_t>(1, limits_.max_runs / plan.launches);
  }

  void run(std::vector<PlannedRow>& planned) {
    for (launch_ = 0; launch_ < plan_.launches && !stop_(); ++launch_) run_launch(planned);
    for (PlannedRow& one : planned) take_medians(one.row);
  }

 private:
  /// What was measured before stays where a target does not start again.
  void run_launch(std::vector<PlannedRow>& planned) {
    subjects_.clear();
    rows_.clear();
    std::vector<PlannedRow*> order;
    for (PlannedRow& one : planned) order.push_back(&one);
    // None is always the one that finds the files in memory, or the machine warm.
    if (launch_ % 2 == 1) std::ranges::reverse(order);
    for (PlannedRow* one : order) {
      if (stop_()) break;
      if (one->row.error || one->row.series.error) continue;
      say(*one, "starting", 0.0);
      BenchRow started = one->row;
      started.load_ms = 0.0;
      auto subject = open(*one, started);
      if (!subject.ok()) {
        one->row.error = std::move(subject).error();
        continue;
      }
      started.launches.push_back({started.load_ms, started.first_ms});
      one->row = std::move(started);
      subjects_.push_back(*std::move(subject));
      rows_.push_back(one);
    }
    std::vector<BenchSubject*> subjects;
    for (const auto& subject : subjects_) subjects.push_back(subject.get());
    const auto on_progress = [&](std::string_view step, std::size_t i, double share) {
      // They take turns every few milliseconds: a name could not be read.
      step == "measuring"
          ? progress_(fmt::format("{}: {}measuring", rows_[i]->row.model, launch_text()), percent(share))
          : say(*rows_[i], step, share);
    };
    auto all_series = run_bench(subjects, limits_, stop_, on_progress);
    for (std::size_t i = 0; i < all_series.size(); ++i) {
      BenchRow& row = rows_[i]->row;
      add_launch(row.series, std::move(all_series[i]));
      const std::int64_t process_peak = row.process_peak_bytes;
      const std::int64_t heap_peak = row.wasm_heap_peak_bytes;
      for (const std::string& note : subjects_[i]->notes()) notes_.push_back(row.target + ": " + note);
      subjects_[i]->describe(row);
      row.process_peak_bytes = std::max(row.process_peak_bytes, process_peak);
      row.wasm_heap_peak_bytes = std::max(row.wasm_heap_peak_bytes, heap_peak);
    }
  }

  static void take_medians(BenchRow& row) {
    std::vector<double> load;
    std::vector<double> first;
    for (const BenchLaunch& launch : row.launches) {
      load.push_back(launch.load_ms);
      first.push_back(launch.first_ms);
    }
    if (load.empty()) return;
    row.load_ms = median(load);
    row.first_ms = median(first);
  }

  [[nodiscard]] std::string launch_text() const {
    return plan_.launches > 1 ? fmt::format("launch {} of {}: ", launch_ + 1, plan_.launches) : "";
  }
  void say(const PlannedRow& one, std::string_view step, double share) const {
    progress_(fmt::format("{}: {}{}: {}", one.row.model, launch_text(), one.row.target, step),
              percent(share));
  }
  static std::int64_t percent(double share) { return static_cast<std::int64_t>(100.0 * share); }

  /// `row` is `planned.row` as it is to become.
  Result<std::unique_ptr<Subject>> open(const PlannedRow& planned, BenchRow& row) {
    DRIFTSCOPE_TRY(const GivenInputs inputs, inputs_for_batch(plan_, model_, row.batch));
    DRIFTSCOPE_TRY(const BoundInputs bound, bind_inputs(model_.graph, inputs.tensors));
    row.flop = count_products(*bound.graph).value_or(0.0);
    DRIFTSCOPE_TRY(Bytes packed, pack_inputs(inputs.tensors));
    SubjectSpec spec;
    spec.target = planned.target;
    spec.build = planned.build;
    spec.model = &model_;
    spec.inputs = std::make_shared<const Bytes>(std::move(packed));
    spec.capture = row.capture;
    row.build = build_id();
    return open_subject(std::move(spec), plan_.runner, servers_, stop_, row);
  }

  const BenchPlan& plan_;
  const ModelFile& model_;
  BenchLimits limits_;  // of one launch
  SiteServers& servers_;
  const StopCheck& stop_;
  const PlanProgress& progress_;
  std::vector<std::string>& notes_;  // of the report
  int launch_ = 0;
  std::vector<std::unique_ptr<Subject>> subjects_;  // of this launch
  std::vector<PlannedRow*> rows_;                   // of the subjects
};

}  // namespace

Result<BenchReport> run_plan(const BenchPlan& plan, const StopCheck& stop, const PlanProgress& progress) {
  BenchReport report;
  report.limits = plan.limits;
  report.build = build_id();
  // Errors in the request are reported before anything runs for minutes.
  std::vector<ModelFile> models;
  std::vector<std::vector<PlannedRow>> planned;
  for (const std::string& path : plan.models) {
    DRIFTSCOPE_TRY(OpenedModel opened, open_model(path, Weights::deferred));
    ModelFile model = std::move(opened.model);
    DRIFTSCOPE_TRY(const GivenInputs inputs,
                   inputs_for_batch(plan, model, plan.batches.empty() ? 1 : plan.batches.front()));
    report.input = inputs.text;
    DRIFTSCOPE_TRY(auto rows, plan_rows(plan, model));
    models.push_back(std::move(model));
    planned.push_back(std::move(rows));
  }
  SiteServers servers;
  const Machine machine = describe_machine();
  report.machine = machine.json;
  report.notes = machine.warnings;
  for (std::size_t i = 0; i < models.size() && !stop(); ++i)
    ModelBench(plan, models[i], servers, stop, progress, report.notes).run(planned[i]);
  for (auto& rows : planned)
    for (PlannedRow& one : rows) report.rows.push_back(std::move(one.row));
  if (stop()) report.notes.emplace_back("Stopped: these are the results so far.");
  report.against = plan.other_build ? plan.other_build->name : plan.against;
  if (!report.against.empty()) {
    add_contrasts(report);
    return report;
  }
  std::vector<std::string> bases = plan.bases;
  if (bases.empty()) bases.push_back(plan.targets.front().text());
  add_ratios(report, bases);
  return report;
}

}  // namespace driftscope
