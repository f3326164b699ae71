#include "native/bench/bench.hpp"

#include <fmt/format.h>

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
  /// `server` is started when the first browser is needed.
  ModelBench(const BenchPlan& plan, const ModelFile& model, std::unique_ptr<Server>& server,
             const StopCheck& stop, const PlanProgress& progress)
      : plan_(plan), model_(model), server_(server), stop_(stop), progress_(progress) {}

  void run(std::vector<PlannedRow>& planned) {
    for (PlannedRow& one : planned) {
      if (stop_()) break;
      say(one, "starting", 0.0);
      auto subject = open(one);
      if (!subject.ok()) {
        one.row.error = std::move(subject).error();
        continue;
      }
      subjects_.push_back(*std::move(subject));
      rows_.push_back(&one);
    }
    std::vector<BenchSubject*> subjects;
    for (const auto& subject : subjects_) subjects.push_back(subject.get());
    const auto on_progress = [&](std::string_view step, std::size_t i, double share) {
      // They take turns every few milliseconds: a name could not be read.
      step == "measuring" ? progress_(fmt::format("{}: measuring", rows_[i]->row.model), percent(share))
                          : say(*rows_[i], step, share);
    };
    auto all_series = run_bench(subjects, plan_.limits, stop_, on_progress);
    for (std::size_t i = 0; i < all_series.size(); ++i) {
      rows_[i]->row.series = std::move(all_series[i]);
      subjects_[i]->describe(rows_[i]->row);
    }
  }

 private:
  void say(const PlannedRow& one, std::string_view step, double share) const {
    progress_(fmt::format("{}: {}: {}", one.row.model, one.row.target, step), percent(share));
  }
  static std::int64_t percent(double share) { return static_cast<std::int64_t>(100.0 * share); }

  Result<std::unique_ptr<Subject>> open(PlannedRow& one) {
    DRIFTSCOPE_TRY(const GivenInputs inputs, inputs_for_batch(plan_, model_, one.row.batch));
    DRIFTSCOPE_TRY(const BoundInputs bound, bind_inputs(model_.graph, inputs.tensors));
    one.row.flop = count_products(*bound.graph).value_or(0.0);
    DRIFTSCOPE_TRY(Bytes packed, pack_inputs(inputs.tensors));
    SubjectSpec spec;
    spec.target = one.target;
    spec.model = &model_;
    spec.inputs = std::make_shared<const Bytes>(std::move(packed));
    spec.capture = one.row.capture;
    one.row.build = build_id();
    return open_subject(std::move(spec), plan_.runner, server_, stop_, one.row);
  }

  const BenchPlan& plan_;
  const ModelFile& model_;
  std::unique_ptr<Server>& server_;
  const StopCheck& stop_;
  const PlanProgress& progress_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::vector<PlannedRow*> rows_;  // of the subjects
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
  std::unique_ptr<Server> server;
  const Machine machine = describe_machine();
  report.machine = machine.json;
  report.notes = machine.warnings;
  for (std::size_t i = 0; i < models.size() && !stop(); ++i)
    ModelBench(plan, models[i], server, stop, progress).run(planned[i]);
  for (auto& rows : planned)
    for (PlannedRow& one : rows) report.rows.push_back(std::move(one.row));
  if (stop()) report.notes.emplace_back("Stopped: these are the results so far.");
  std::vector<std::string> bases = plan.bases;
  if (bases.empty()) bases.push_back(plan.targets.front().text());
  add_ratios(report, bases);
  return report;
}

}  // namespace driftscope
