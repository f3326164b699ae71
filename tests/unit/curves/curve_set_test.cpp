// Curves of several files as one set, their charts and tables, and the layers of trainings of our own.
#include "core/curves/curve_set.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/curves/curve_charts.hpp"
#include "core/curves/curve_tables.hpp"
#include "core/curves/curves_page.hpp"
#include "core/curves/layer_drift.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::curve_set_test {
namespace {

CurveFile file_of(std::vector<Curve> curves) {
  return {.format = "csv", .curves = std::move(curves), .notes = {}};
}

Curve loss_of(std::string run, std::int64_t repetition, std::vector<double> values) {
  Curve made{std::move(run), "loss", repetition, {}, std::move(values)};
  for (std::size_t i = 0; i < made.values.size(); ++i) made.steps.push_back(static_cast<double>(i));
  return made;
}

/// Two repetitions of two frameworks; the second layer parts in epoch 1 of the second one.
documents::Training small_training() {
  documents::Training training;
  training.parted_above = 1e-3;
  documents::TrainingModel model;
  model.name = "net";
  model.layers = {"conv", "fc"};
  for (const std::int64_t repetition : {0, 1}) {
    documents::TrainingDrift drift;
    drift.left = "jax";
    drift.right = "keras";
    drift.repetition = repetition;
    drift.points = {
        {0, {}, {0.0, 0.0}}, {1, {}, {1e-6, repetition == 0 ? 1e-5 : 0.5}}, {2, {}, {1e-4, 1e-7}}};
    drift.first_different_weight = "conv.weight";
    drift.first_difference = 3e-8;
    if (repetition == 1) drift.parted_layer = "fc", drift.parted_epoch = 1;
    model.drift.push_back(drift);
  }
  documents::TrainingStep step;
  step.framework = "keras";
  step.step = 1;
  step.verdict = Verdict::fault;
  step.first_fault = "grad/fc.bias";
  model.steps = {step};
  training.models = {model};
  return training;
}

std::vector<std::string> row_of(const CurveSet& set, std::string_view title, std::size_t row) {
  for (const CurveTable& table : curve_tables(set))
    if (table.title == title && row < table.rows.size()) {
      CHECK(table.rows[row].size() == table.columns.size());
      CHECK(table.words < table.columns.size());
      return table.rows[row];
    }
  return {};
}

}  // namespace

TEST_CASE("CurveSet_RunsOfTwoFilesThatAreCalledAlike_AreNoRepetitions") {
  std::vector<NamedCurveFile> files;
  files.push_back({"x/a.csv", file_of({loss_of("a", 0, {2, 1}), loss_of("a", 1, {3, 1})})});
  files.push_back({"y/a.csv", file_of({loss_of("a", 0, {2, 0}), loss_of("b", 0, {1, 1})})});
  files.push_back({"z/a.csv", file_of({loss_of("a", 2, {5, 5})})});  // a repetition that neither has
  const auto set = *make_curve_set(std::move(files));
  REQUIRE(set->groups.size() == 3);
  CHECK(set->groups[0].run == "a");
  CHECK(set->groups[0].repetitions.size() == 3);
  CHECK(set->groups[1].run == "a (y/a.csv)");
  CHECK(set->groups[2].run == "b");
  CHECK(set->document.curves.size() == 3);
  CHECK(set->groups[0].repetitions[0] == set->curves.data());
  std::vector<NamedCurveFile> again;
  again.push_back({"a.csv", file_of({loss_of("a", 0, {1})})});
  const auto none = make_curve_set(std::move(again), {.metrics = {"accuracy"}});
  REQUIRE_FALSE(none.ok());
  CHECK(holds(none.error().message, "'accuracy': the files have loss"));
}

TEST_CASE("CurveRunName_IsTheFilesOrOfEventsTheFolders") {
  CHECK(curve_run_name("x/loss.of.run.csv", "x/loss.of.run.csv") == "loss.of.run");
  CHECK(curve_run_name("history", "history") == "history");
  CHECK(curve_run_name(".hidden", ".hidden") == ".hidden");
  CHECK(curve_run_name("/logs/train/events.out.tfevents.1.host", "/logs") == "train");
  CHECK(curve_run_name("/logs/a/b/events.out.tfevents.1", "/logs/") == "a/b");
  CHECK(curve_run_name("/logs/events.out.tfevents.1", "/logs") == "logs");
  CHECK(curve_run_name("/logs/events.out.tfevents.1", "/logs/events.out.tfevents.1") == "logs");
  CHECK(curve_run_name("/logs2/a/events.out.tfevents.1", "/logs") == "a");
  CHECK(curve_run_name("events.out.tfevents.1", "") == "events.out.tfevents.1");
  CHECK_FALSE(is_event_file("tfevents/history.json"));
}

TEST_CASE("CurveCharts_RunsOfAModelShareOne_WithBandsOverRepetitions") {
  std::vector<NamedCurveFile> files;
  files.push_back({"a", file_of({loss_of("m/jax", 0, {1000, 2}), loss_of("m/jax", 1, {2000, 4}),
                                 loss_of("m/keras", 0, {1, 2, 3}), loss_of("n/jax", 0, {1, 2})})});
  const auto set = *make_curve_set(std::move(files));
  const auto charts = curve_charts(set->groups);
  REQUIRE(charts.size() == 2);
  CHECK(charts[0].title == "loss, m");
  REQUIRE(charts[0].lines.size() == 2);
  CHECK(charts[0].lines[0].label == "jax");
  CHECK(charts[0].lines[0].y == std::vector<double>{1500, 3});
  CHECK(charts[0].lines[0].low == std::vector<double>{1000, 2});
  CHECK(charts[0].lines[0].high == std::vector<double>{2000, 4});
  CHECK(charts[0].lines[1].low.empty());
  CHECK(charts[0].about ==
        "Mean of up to 2 repetitions; the band is from the least to the largest. Logarithmic.");
  CHECK(charts[1].about.empty());
}

TEST_CASE("LayerDrifts_FrameTheFirstLayerThatParts_OfTheLargestOverRepetitions") {
  documents::Training training = small_training();
  auto drifts = layer_drifts(training);
  REQUIRE(drifts.size() == 1);
  CHECK(drifts[0].title == "net: jax and keras");
  CHECK(drifts[0].map.columns == std::vector<std::string>{"0", "1", "2"});
  CHECK(drifts[0].map.values[1] == std::vector<double>{0.0, 0.5, 1e-7});
  CHECK(drifts[0].map.mark == DriftMapPlace{1, 1});
  CHECK(drifts[0].map.least == 1e-7);
  CHECK(drifts[0].map.largest == 0.5);
  CHECK(drifts[0].about == "fc parts first, in epoch 1: by more than 0.001. The largest of 2 repetitions.");
  // A training that diverged is apart; a document may have fewer values than layers.
  training.models[0].drift.resize(1);
  training.models[0].drift[0].points = {{0, {}, {std::nan("")}}};
  drifts = layer_drifts(training);
  CHECK(drifts[0].map.mark == DriftMapPlace{0, 0});
  CHECK(std::isinf(drifts[0].map.values[0][0]));
  CHECK(std::isnan(drifts[0].map.values[1][0]));
  training.models[0].drift[0].points = {{0, {}, {1e-4, 1e-3}}};
  drifts = layer_drifts(training);
  CHECK_FALSE(drifts[0].map.mark);
  CHECK(drifts[0].about == "No layer is further apart than 0.001.");
  training.models[0].layers.clear();
  CHECK(layer_drifts(training).empty());
}

TEST_CASE("LayerDrifts_OfAnySize_StayWhatCanBeDrawn") {
  documents::Training training = small_training();
  documents::TrainingModel& model = training.models[0];
  model.layers.assign(100, "layer");
  model.drift.resize(1);
  model.drift[0].points.clear();
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch)
    model.drift[0].points.push_back({epoch, {}, {1e-6, epoch == 777 ? 0.5 : 0.0}});
  auto drifts = layer_drifts(training);
  CHECK(drifts[0].map.columns.size() == 200);
  CHECK(drifts[0].map.columns[1] == "5");
  CHECK(drifts[0].map.mark == DriftMapPlace{1, 155});
  CHECK(drifts[0].map.values[1][155] == 0.5);
  CHECK(holds(drifts[0].about, "in epoch 777"));
  CHECK(holds(drifts[0].about, "the largest of 5 epochs"));
  model.layers.assign(10'000, "layer");
  drifts = layer_drifts(training);
  CHECK(drifts[0].map.rows.empty());
  CHECK(holds(drifts[0].about, "10000 layers at 1000 points are too many"));
  model.layers.assign(1, "layer");
  const documents::TrainingDrift one = model.drift[0];
  model.drift.assign(200, one);
  for (std::size_t i = 0; i < model.drift.size(); ++i) model.drift[i].left = std::to_string(i);
  CHECK(layer_drifts(training).size() == 60);
}

TEST_CASE("CurveTables_OfATraining_SayWhichLayerPartsFirstAndWhatWasJudged") {
  std::vector<NamedCurveFile> files;
  files.push_back(
      {"training.json", file_of({loss_of("net/jax", 0, {2, 1}), loss_of("net/keras", 0, {2, 1.5})})});
  files[0].file.training = std::make_shared<const documents::Training>(small_training());
  const auto set = *make_curve_set(std::move(files));
  using Row = std::vector<std::string>;
  CHECK(row_of(*set, "Where they end", 1) == Row{"loss", "net/keras", "1", "1.5", "", "1.5", "1"});
  CHECK(row_of(*set, "How runs differ", 0) == Row{"loss", "net/jax", "net/keras", "–", "+0.5", "1", "1"});
  CHECK(row_of(*set, "Which layer parts first", 0) ==
        Row{"net", "jax", "keras", "none", "conv.weight", "1", "–", "3e-08"});
  CHECK(row_of(*set, "Which layer parts first", 1) ==
        Row{"net", "jax", "keras", "fc", "conv.weight", "2", "1", "3e-08"});
  CHECK(row_of(*set, "The first steps, judged", 0) == Row{"net", "keras", "fault", "grad/fc.bias", "1", "1"});
  const std::string page = curves_page("t", *set);
  CHECK(holds(page, "fc parts first, in epoch 1"));
  CHECK(holds(page, "grad/fc.bias"));
}

TEST_CASE("NearestStep_IsTheOneUnderThePointer") {
  const std::vector<ChartLine> lines = {{"a", 0, {0, 1, 2, 4}, {1, 2, 3, 4}, {}, {}},
                                        {"b", 1, {3}, {1}, {}, {}}};
  const Box area = {100, 0, 500, 100};  // steps 0 to 4
  CHECK(nearest_step(lines, area, 160)->step == 1.0);
  CHECK(nearest_step(lines, area, 160)->x == doctest::Approx(200));
  CHECK(nearest_step(lines, area, 390)->step == 3.0);
  CHECK(nearest_step(lines, area, 9999)->step == 4.0);
  CHECK_FALSE(nearest_step(lines, {}, 160));
  CHECK_FALSE(nearest_step({}, area, 160));
  CHECK(place_of_step(lines[0], 4) == 3);
  CHECK_FALSE(place_of_step(lines[0], 3));
}

}  // namespace driftscope::test::curve_set_test
