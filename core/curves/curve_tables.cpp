#include "core/curves/curve_tables.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/curves/curves_text.hpp"

namespace driftscope {
namespace {

CurveTable ends_table(const documents::Curves& document) {
  CurveTable table{.title = "Where they end",
                   .note =
                       "Means over repetitions; from – to are the least and the largest last value. Best "
                       "is the least or the largest, by the metric's name.",
                   .columns = {"metric", "run", "repetitions", "last", "from – to", "best", "at step"},
                   .words = 2,
                   .rows = {}};
  for (const documents::CurveSummary& one : document.curves)
    table.rows.push_back(
        {one.metric, one.run, fmt::format("{}", one.repetitions), curve_number(one.last),
         one.repetitions < 2
             ? ""
             : fmt::format("{} to {}", curve_number(one.last_low), curve_number(one.last_high)),
         one.best ? curve_number(*one.best) : "–", one.best_step ? curve_number(*one.best_step) : "–"});
  return table;
}

CurveTable differences_table(const CurveSet& set) {
  CurveTable table{
      .title = "How runs differ",
      .note = fmt::format(
          "Means over repetitions, right − left; apart: by more than {:g} % of the range to the end. Last "
          "values: Mann and Whitney's test over repetitions, corrected by Holm, and Vargha and Delaney's A, "
          "how often the right one is larger.",
          100.0 * set.apart),
      .columns = {"metric", "left", "right", "last values", "largest difference", "at step",
                  "apart from step"},
      .words = 4,
      .rows = {}};
  for (const documents::CurveComparison& one : set.document.comparisons)
    table.rows.push_back({one.metric, one.left, one.right, curve_test_text(one),
                          fmt::format("{:+.3g}", one.largest), curve_number(one.largest_step),
                          one.parted_step ? curve_number(*one.parted_step) : "never"});
  if (set.document.comparisons.size() >= max_comparisons)
    table.note += fmt::format(" The first {} comparisons.", max_comparisons);
  return table;
}

CurveTable partings_table(const CurveSet& set) {
  CurveTable table{.title = "Which layer parts first",
                   .note = "",
                   .columns = {"model", "left", "right", "first layer apart", "first weight that differs",
                               "repetition", "epoch", "by"},
                   .words = 5,
                   .rows = {}};
  for (const auto& training : set.trainings) {
    table.note = fmt::format(
        "Apart: the outputs of the layer for the same test samples differ by more than {} of the larger "
        "norm. "
        "The first weight that differs, and by how much, is after the first step; there rounding is "
        "expected.",
        format_number(training->parted_above));
    for (const documents::TrainingModel& model : training->models)
      for (const documents::TrainingDrift& drift : model.drift)
        table.rows.push_back({model.name, drift.left, drift.right,
                              drift.parted_layer.empty() ? "none" : drift.parted_layer,
                              drift.first_different_weight.empty() ? "–" : drift.first_different_weight,
                              fmt::format("{}", drift.repetition + 1),
                              drift.parted_epoch ? fmt::format("{}", *drift.parted_epoch) : "–",
                              drift.first_difference ? format_number(*drift.first_difference) : "–"});
  }
  return table;
}

CurveTable steps_table(const CurveSet& set) {
  CurveTable table{.title = "The first steps, judged",
                   .note =
                       "Each step from the framework's own weights before it; the first fault in the order "
                       "of the computation.",
                   .columns = {"model", "framework", "verdict", "first fault", "repetition", "step"},
                   .words = 4,
                   .rows = {}};
  for (const auto& training : set.trainings)
    for (const documents::TrainingModel& model : training->models)
      for (const documents::TrainingStep& step : model.steps)
        table.rows.push_back({model.name, step.framework, std::string(verdict_name(step.verdict)),
                              step.first_fault.empty() ? "–" : step.first_fault,
                              fmt::format("{}", step.repetition + 1), fmt::format("{}", step.step)});
  return table;
}

}  // namespace

std::vector<CurveTable> curve_tables(const CurveSet& set) {
  std::vector<CurveTable> tables;
  for (CurveTable& table :
       std::vector{ends_table(set.document), differences_table(set), partings_table(set), steps_table(set)})
    if (!table.rows.empty()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace driftscope
