// Everything that the GUI shows, from runs and from stored comparisons.
#include "core/gui/snapshot.hpp"

#include <cmath>
#include <limits>

#include "core/gui/stored_targets.hpp"
#include "core/results/view_json.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::snapshot_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Graph small_graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Tanh", {"a"}, {"b"})
      .named("second")
      .node("Add", {"a", "b"}, {"y"})
      .named("third")
      .output("y");
  return built(model);
}

ComparisonView small_view() {
  ComparisonView view;
  view.model_name = "small.onnx";
  const auto target = [](const std::string& name, float y) {
    TargetResult result;
    result.target = name;
    result.trace = trace_of(
        name,
        {{"first", "Relu", "a", {1, 2}}, {"second", "Tanh", "b", {1, 2}}, {"third", "Add", "y", {y, 2}}});
    return result;
  };
  view.left = target("pc/strict", 1.0f);
  view.right = {target("chrome/strict", 1.0f), target("firefox/strict", 1.5f)};
  for (TargetResult& right : view.right) {
    auto comparison = compare(small_graph(), *view.left.trace, *right.trace);
    REQUIRE(comparison.ok());
    right.comparison = *std::move(comparison);
  }
  return view;
}

}  // namespace

TEST_CASE("Snapshot_OfRuns_MeasuresEachAgainstTheFirst") {
  const auto snapshot =
      snapshot_of({run_of("pc/strict", {{"n", "Conv", "a", {1, 2}}, {"m", "Relu", "b", {3, 4}}}),
                   run_of("chrome/strict",
                          {
                              {"n", "Conv", "a", {1, 2}},
                              {"m", "Relu", "b", {3, 5}},
                          }),
                   run_of("firefox/strict", {{"n", "Conv", "a", {1, 2}, 7000}})});
  REQUIRE(snapshot.layers.size() == 2);
  CHECK(snapshot.cell(0, 1).verdict == Verdict::identical);
  CHECK(snapshot.cell(1, 1)[compared_metric("max_abs")] == 1.0);
  CHECK(snapshot.cell(1, 1)[compared_metric("different_elements")] == 1);
  CHECK(snapshot.cell(1, 1).verdict == Verdict::missing);  // it differs and was not judged
  CHECK(snapshot.targets[1].first_divergence == 1);
  CHECK(snapshot.targets[2].first_divergence == no_place);
  CHECK_FALSE(snapshot.cell(1, 2).compared);
  CHECK(snapshot.cell(0, 2).time_ns() == 7000);
  CHECK(snapshot.cell(0, 2).first_ns() == 14000);
  CHECK(snapshot.targets[1].name == "chrome");
  CHECK(snapshot.headline ==
        "firefox/strict agrees with pc/strict bit for bit; chrome/strict differs from pc/strict, not judged; "
        "slowest firefox/strict, 3.5 × pc/strict");
}

TEST_CASE("Snapshot_OtherShape_IsAMismatchAndADivergence") {
  const auto snapshot = snapshot_of({run_of("pc/strict", {{"n", "Conv", "a", {1, 2}}}),
                                     run_of("pc/fast", {{"n", "Conv", "a", {1, 2, 3}}})});
  CHECK(snapshot.cell(0, 1).mismatch);
  CHECK_FALSE(snapshot.cell(0, 1).note().empty());
  CHECK(snapshot.targets[1].first_divergence == 0);
}

TEST_CASE("Snapshot_OfAComparison_KnowsVerdictsAndStructure") {
  const auto snapshot = gui::make_snapshot(gui::parts_of(small_view(), small_graph()));
  REQUIRE(snapshot.layers.size() == 3);
  CHECK(snapshot.has_structure);
  CHECK(snapshot.layers[2].inputs == std::vector<std::uint32_t>{0, 1});
  CHECK(snapshot.layers[2].node == "third");
  CHECK(snapshot.cell(2, 1).verdict == Verdict::identical);
  CHECK(snapshot.cell(2, 2)[compared_metric("max_abs")] == 0.5);
  CHECK(snapshot.targets[2].first_divergence == 2);
}

TEST_CASE("Snapshot_StoppedMidway_LacksComparisonsAndHoldsTheRest") {
  std::vector<LayerSpec> specs;
  for (int i = 0; i < 40; ++i)
    specs.push_back({"n" + std::to_string(i), "Relu", "v" + std::to_string(i), {1.0f}});
  gui::SnapshotParts parts;
  parts.targets = {run_of("pc/strict", specs), run_of("pc/fast", specs)};
  const auto snapshot =
      gui::make_snapshot(std::move(parts), [](std::int64_t done, std::int64_t) { return done < 50; });
  CHECK(snapshot.layers.size() == 40);
  CHECK(snapshot.cell(0, 1).compared);
  CHECK_FALSE(snapshot.cell(39, 1).compared);
}

TEST_CASE("Snapshot_ValueThatNobodyRecorded_IsPassedThroughInTheStructure") {
  gui::SnapshotParts parts;
  parts.targets = {run_of("pc/fast", {{"first", "Relu", "a", {1}}, {"third", "Add", "y", {1}}})};
  parts.topology = topology_of(small_graph());
  const auto snapshot = gui::make_snapshot(std::move(parts));
  REQUIRE(snapshot.layers.size() == 2);
  CHECK(snapshot.layers[1].inputs == std::vector<std::uint32_t>{0});
}

TEST_CASE("Topology_FromJson_HasItsNodes") {
  const auto topology = read_topology(R"([
    {"node": "first", "op": "Relu", "inputs": ["x"], "outputs": ["a"]},
    {"node": "third", "op": "Add", "inputs": ["a", "b"], "outputs": []}])");
  REQUIRE(topology.ok());
  REQUIRE(topology->nodes.size() == 2);
  CHECK(topology->nodes[0].op == "Relu");
  CHECK(topology->nodes[1].inputs == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(read_topology("[{\"node\":1}]").ok());
  CHECK_FALSE(read_topology("{}").ok());
}

TEST_CASE("StoredComparison_OfCompareJson_ShowsWhatItSaid") {
  const auto stored = gui::read_stored_targets(view_json(small_view()));
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  REQUIRE(stored->size() == 3);
  const auto snapshot = snapshot_of(*stored);
  REQUIRE(snapshot.layers.size() == 3);
  CHECK(snapshot.cell(2, 2)[compared_metric("max_abs")] == 0.5);
  CHECK(snapshot.cell(2, 2).time_ns() == 1000);
  CHECK(snapshot.cell(0, 0).time_ns() == 1000);
  CHECK(snapshot.targets[2].first_divergence == 2);
  CHECK(snapshot.targets[2].tensors == nullptr);
}

TEST_CASE("StoredComparison_WithADataset_KeepsWhatWasCounted") {
  ComparisonView view = small_view();
  view.left.dataset = DatasetResult{4, 3, {0, 1, 2, 2}};
  view.right[0].dataset = DatasetResult{4, -1, {0, 1, 2, 0}};
  const auto stored = gui::read_stored_targets(view_json(view));
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  const auto snapshot = snapshot_of(*stored);
  REQUIRE(snapshot.targets[0].dataset.has_value());
  REQUIRE(snapshot.targets[1].dataset.has_value());
  CHECK_FALSE(snapshot.targets[2].dataset.has_value());
  const DatasetResult& left = *snapshot.targets[0].dataset;
  CHECK(left.samples == 4);
  CHECK(left.correct == 3);
  CHECK(snapshot.targets[1].dataset->correct == -1);
  CHECK(agreement(left, left) == 4);
  CHECK(agreement(left, *snapshot.targets[1].dataset) == 3);
}

TEST_CASE("StoredComparison_WithItsTraces_IsOneTargetEach") {
  auto stored = gui::read_stored_targets(view_json(small_view()));
  REQUIRE(stored.ok());
  std::vector<gui::TargetParts> targets = *std::move(stored);
  std::vector<gui::TargetParts> traces;
  traces.push_back(run_of("chrome/strict", {{"first", "Relu", "a", {1, 2}}}));
  gui::merge_targets(targets, std::move(traces));
  REQUIRE(targets.size() == 3);
  CHECK(targets[1].tensors != nullptr);
  CHECK(targets[1].comparison.has_value());
}

// The page's traces lack what only the comparison knows: that a target's times could not be measured.
TEST_CASE("StoredComparison_OfTracesThatAreThere_SaysWhyTimesAreMissing") {
  ComparisonView view = small_view();
  set_unwatched_error(*view.right[0].trace, "out of memory");
  std::vector<gui::TargetParts> targets;
  targets.push_back(run_of("chrome/strict", {{"first", "Relu", "a", {1, 2}}}));
  auto stored = gui::read_stored_targets(view_json(view));
  REQUIRE_MESSAGE(stored.ok(), stored.error().message);
  gui::merge_targets(targets, *std::move(stored));
  const auto snapshot = snapshot_of(targets);
  REQUIRE(snapshot.targets[0].target == "chrome/strict");
  CHECK(snapshot.targets[0].tensors != nullptr);
  CHECK(snapshot.targets[0].time.error == "out of memory");
}

TEST_CASE("StoredComparison_Damaged_SaysWhatIsMissing") {
  const auto message = [](const char* json) {
    const auto read = gui::read_stored_targets(json);
    return read.ok() ? std::string("read") : read.error().message;
  };
  CHECK(message("{\"format\":\"driftscope-compare-1\"}").find("\"left\"") != std::string::npos);
  CHECK(message("{\"format\":\"other\"}").find("got \"format\": 'other'") != std::string::npos);
  CHECK(message("nonsense") == "expected JSON");
  CHECK(message("[]").find("empty") != std::string::npos);
  CHECK(message("{\"format\":\"driftscope-compare-1\",\"left\":{\"target\":\"a\"},\"right\":[{\"target\":"
                "\"b\",\"layers\":[{\"node\":3}]}]}") == "right[0].layers[0].node: expected a string, got 3");
  CHECK(message("{\"format\":\"driftscope-compare-1\",\"left\":{\"target\":\"a\",\"dataset\":{\"samples\":3,"
                "\"correct\":4}},\"right\":[]}") == "left.dataset: 4 of 3 samples");
  CHECK(message("{\"format\":\"driftscope-verify-1\",\"model_sha256\":\"\",\"target\":\"\",\"verdict\":"
                "\"great\",\"layers\":[]}") == "verdict: 'great' is unknown");
}

TEST_CASE("Snapshot_NanEverywhere_CountsAsTheSame") {
  const auto snapshot = snapshot_of({run_of("pc/strict", {{"n", "Log", "a", {nan, nan}}}),
                                     run_of("chrome/strict", {{"n", "Log", "a", {nan, nan}}})});
  CHECK(snapshot.cell(0, 1).verdict == Verdict::identical);
  CHECK(snapshot.cell(0, 1).nan() == 2);
}

TEST_CASE("Snapshot_Explanations_AreThoseOfTheirLayerAndTarget") {
  gui::TargetParts right = run_of("pc/fast", {{"a", "Relu", "x", {1}}, {"b", "Neg", "y", {2}}});
  Verification verification;
  LayerVerdict& layer = verification.layers.emplace_back();
  layer.node = "b";
  layer.output = "y";
  layer.verdict = Verdict::fault;
  layer.explanation.emplace();
  layer.explanation->tried = 7;
  right.verification = verification;
  const gui::Snapshot snapshot =
      snapshot_of({run_of("pc/strict", {{"a", "Relu", "x", {1}}, {"b", "Neg", "y", {2}}}), std::move(right)});
  REQUIRE(snapshot.explanation(1, 1) != nullptr);
  CHECK(snapshot.explanation(1, 1)->tried == 7);
  CHECK(snapshot.explanation(0, 1) == nullptr);
  CHECK(snapshot.explanation(1, 0) == nullptr);
}

}  // namespace driftscope::test::snapshot_test
