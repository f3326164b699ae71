// Matching the layers of one run with those of another.
#include "core/gui/layer_match.hpp"

#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::layer_match_test {
namespace {

std::vector<gui::RunLayer> layers(const std::vector<LayerSpec>& specs) {
  return gui::layers_of(*run_of("pc/strict", specs).tensors);
}

std::vector<std::string> outputs(const std::vector<gui::MatchedLayer>& rows) {
  std::vector<std::string> names;
  for (const gui::MatchedLayer& row : rows) names.push_back(row.output);
  return names;
}

}  // namespace

TEST_CASE("MatchLayers_SameNames_MatchInAnyOrder") {
  const std::vector<std::vector<gui::RunLayer>> runs = {
      layers({{"n1", "Conv", "a", {1}}, {"n2", "Relu", "b", {1, 2}}, {"n3", "Add", "c", {1}}}),
      layers({{"n3", "Add", "c", {1}}, {"n1", "Conv", "a", {1}}, {"n2", "Relu", "b", {1, 2}}})};
  const auto rows = gui::match_layers(runs);
  CHECK(outputs(rows) == std::vector<std::string>{"a", "b", "c"});
  CHECK(rows[0].places == std::vector<std::size_t>{0, 1});
  CHECK(rows[2].places == std::vector<std::size_t>{2, 0});
  CHECK(rows[1].notes[1].empty());
}

TEST_CASE("MatchLayers_OtherNamesBetweenKnownOnes_MatchByPositionAndShapeAndSaySo") {
  const std::vector<std::vector<gui::RunLayer>> runs = {layers({{"", "Conv", "a", {1}},
                                                                {"", "Relu", "b", {1, 2}},
                                                                {"", "Relu", "b2", {1, 2, 3}},
                                                                {"", "Add", "c", {1}}}),
                                                        layers({{"", "Conv", "a", {1}},
                                                                {"", "Cast", "extra", {9, 9, 9, 9}},
                                                                {"", "Relu", "x", {1, 2}},
                                                                {"", "Relu", "y", {1, 2, 3}},
                                                                {"", "Add", "c", {1}}})};
  const auto rows = gui::match_layers(runs);
  CHECK(outputs(rows) == std::vector<std::string>{"a", "extra", "b", "b2", "c"});
  CHECK(rows[2].places[1] == 2);
  CHECK(rows[2].notes[1] == "matched by position and shape: called 'x' there");
  CHECK(rows[3].places[1] == 3);
  CHECK(rows[1].places[0] == no_place);
  CHECK(rows[4].notes[1].empty());
}

TEST_CASE("MatchLayers_OtherShapes_StayApart") {
  const std::vector<std::vector<gui::RunLayer>> runs = {layers({{"", "Conv", "a", {1, 2}}}),
                                                        layers({{"", "Conv", "z", {1}}})};
  const auto rows = gui::match_layers(runs);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].output == "z");  // nothing precedes it there
  CHECK(rows[0].places[0] == no_place);
  CHECK(rows[1].places[1] == no_place);
}

TEST_CASE("MatchLayers_WithTheModel_FollowItsOrderAndLeaveOutConstants") {
  Topology topology;
  topology.nodes = {{"first", "Conv", {"x"}, {"a"}}, {"second", "Relu", {"a"}, {"b"}}};
  const std::vector<std::vector<gui::RunLayer>> runs = {
      layers({{"second", "Relu", "b", {1}}, {"first", "Conv", "a", {1}}, {"w", "Constant", "weights", {1}}})};
  const auto rows = gui::match_layers(runs, &topology);
  CHECK(outputs(rows) == std::vector<std::string>{"a", "b"});
  CHECK(rows[0].node == "first");
}

TEST_CASE("MatchLayers_IterationsOfALoop_ComeBeforeItThoughTheModelDoesNotNameThem") {
  Topology topology;
  topology.nodes = {{"first", "Conv", {"x"}, {"a"}}, {"loop", "Loop", {"a"}, {"b"}}};
  std::vector<gui::RunLayer> run = layers({{"first", "Conv", "a", {1}},
                                           {"loop[0]/add", "Add", "loop[0]/c", {1}},
                                           {"loop[1]/add", "Add", "loop[1]/c", {1}},
                                           {"loop", "Loop", "b", {1}},
                                           {"w", "Constant", "weights", {1}}});
  run[1].inside = run[2].inside = true;
  const std::vector<std::vector<gui::RunLayer>> runs = {run, run};
  CHECK(outputs(gui::match_layers(runs, &topology)) ==
        std::vector<std::string>{"a", "loop[0]/c", "loop[1]/c", "b"});
}

TEST_CASE("MatchLayers_TracesWithoutNodes_TakeTensorsAsLayers") {
  Trace trace;
  trace.tensors.push_back({"t", tensor<float>({2}, {1.0f, 2.0f})});
  const std::vector<std::vector<gui::RunLayer>> runs = {gui::layers_of(*gui::RecordedTensors::of(trace))};
  const auto rows = gui::match_layers(runs);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].output == "t");
  CHECK(gui::match_layers({}).empty());
}

}  // namespace driftscope::test::layer_match_test
