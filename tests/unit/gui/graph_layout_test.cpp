// Positions of the nodes of a network.
#include "core/gui/graph_layout.hpp"

#include <algorithm>

#include "core/draw/svg_painter.hpp"
#include "core/gui/graph_picture.hpp"
#include "tests/unit/gui/snapshot_builder.hpp"

namespace driftscope::test::graph_layout_test {
namespace {

using Inputs = std::vector<std::vector<std::uint32_t>>;

void check_sound(const Inputs& inputs, const gui::GraphLayout& layout) {
  REQUIRE(layout.nodes.size() == inputs.size());
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    for (const std::uint32_t input : inputs[i])
      if (input < i) REQUIRE(layout.nodes[input].y < layout.nodes[i].y);
  // Nodes of one rank do not overlap.
  for (const auto& rank : layout.ranks)
    for (std::size_t i = 1; i < rank.size(); ++i)
      REQUIRE(layout.nodes[rank[i]].x - layout.nodes[rank[i - 1]].x >= 0.999f);
  for (const Point& node : layout.nodes) {
    REQUIRE(node.x >= 0.0f);
    REQUIRE(node.x <= layout.width);
  }
}

}  // namespace

TEST_CASE("GraphLayout_Chain_IsAStraightLineDown") {
  const Inputs inputs = {{}, {0}, {1}, {2}};
  const auto layout = gui::layout_graph(inputs);
  check_sound(inputs, layout);
  CHECK(layout.height == 4.0f);
  for (const Point& node : layout.nodes) CHECK(node.x == doctest::Approx(layout.nodes[0].x));
}

TEST_CASE("GraphLayout_SkipConnection_PassesBesideTheNodesBetween") {
  const Inputs inputs = {{}, {0}, {1}, {2, 0}};
  const auto layout = gui::layout_graph(inputs);
  check_sound(inputs, layout);
  const auto skip = std::find_if(layout.edges.begin(), layout.edges.end(),
                                 [](const gui::GraphEdge& e) { return e.from == 0 && e.to == 3; });
  REQUIRE(skip != layout.edges.end());
  REQUIRE(skip->by.size() == 2);
  CHECK(std::abs(skip->by[0].x - layout.nodes[1].x) > 0.5f);
}

TEST_CASE("GraphLayout_Branches_LieBesideEachOther") {
  const Inputs inputs = {{}, {0}, {0}, {0}, {1, 2, 3}};
  const auto layout = gui::layout_graph(inputs);
  check_sound(inputs, layout);
  CHECK(layout.nodes[0].x == doctest::Approx(layout.nodes[4].x).epsilon(0.01));
  CHECK(layout.ranks[1].size() == 3);
}

TEST_CASE("GraphLayout_NothingAndNonsense_AreSafe") {
  CHECK(gui::layout_graph({}).nodes.empty());
  const Inputs inputs = {{0, 5}, {1, 0}};  // itself, and a later node
  const auto layout = gui::layout_graph(inputs);
  CHECK(layout.edges.size() == 1);
}

TEST_CASE("GraphLayout_HundredThousandNodes_AreBoundedWork") {
  Inputs inputs(100'000);
  for (std::uint32_t i = 1; i < inputs.size(); ++i) {
    inputs[i].push_back(i - 1);
    if (i >= 8 && i % 4 == 0) inputs[i].push_back(i - 8);
    if (i >= 50'000 && i % 50 == 0) inputs[i].push_back(i - 40'000);  // too long for bends
  }
  const auto layout = gui::layout_graph(inputs);
  check_sound(inputs, layout);
  std::size_t bends = 0;
  for (const gui::GraphEdge& edge : layout.edges) bends += edge.by.size();
  CHECK(bends < 400'000);
}

TEST_CASE("GraphPicture_ClickFindsWhatIsDrawn") {
  auto snapshot = snapshot_of(
      {run_of("pc/strict", {{"a", "Conv", "x", {1}}, {"b", "Relu", "y", {1}}, {"c", "Add", "z", {1}}})});
  const auto layout = gui::layout_of(snapshot);  // without structure a chain
  gui::GraphPicture picture = gui::fitted({0, 0, 400, 300}, layout, 60.0f);
  const float x = 200.0f;
  CHECK(gui::graph_layer_at(picture, layout, {x, 150.0f}) == 1);
  CHECK(gui::graph_layer_at(picture, layout, {x, 150.0f - picture.scale}) == 0);
  CHECK(gui::graph_layer_at(picture, layout, {5.0f, 150.0f}) == no_place);
  CHECK(gui::graph_layer_at(picture, layout, {900.0f, 150.0f}) == no_place);
  SvgPainter painter(400, 300, rgb(0xffffff));
  gui::paint_graph(painter, picture, layout, snapshot, light_theme());
  const std::string svg = painter.finish();
  CHECK(svg.find(">Conv</text>") != std::string::npos);
}

TEST_CASE("GraphPicture_WiderThanItsBox_FitsAcross") {
  gui::GraphLayout layout;
  layout.width = 9.5f;
  layout.height = 1.5f;
  const auto scale = [&](Box box) { return gui::fitted(box, layout, 60.0f).scale; };
  CHECK(scale({0, 0, 330, 300}) == doctest::Approx(10.0));  // ten nodes, each 3.3 as wide as high
  CHECK(scale({0, 0, 3300, 30}) == doctest::Approx(15.0));
  CHECK(scale({0, 0, 3300, 300}) == 60.0f);
}

}  // namespace driftscope::test::graph_layout_test
