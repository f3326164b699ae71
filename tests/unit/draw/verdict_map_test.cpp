#include <doctest/doctest.h>

#include "core/draw/svg_painter.hpp"
#include "core/draw/verdict_map.hpp"

namespace driftscope::test::verdict_map_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

std::string painted(const VerdictMap& map) {
  const MapSize size = verdict_map_size(map);
  SvgPainter painter({size.width, size.height, "class=\"map\""});
  paint_verdict_map(painter, map, light_theme());
  return painter.finish();
}

VerdictMap three_steps(Verdict middle) {
  VerdictMap map;
  map.rows = {"conv <1>"};
  map.columns = {{Verdict::rounding}, {middle}, {Verdict::rounding}};
  map.starts = {{0, "prompt 0"}};
  return map;
}

}  // namespace

TEST_CASE("VerdictMap_Neighbours_AreOneBox_AndBadOnesHaveAShape") {
  const std::string even = painted(three_steps(Verdict::rounding));
  CHECK(count(even, "<rect") == 1);
  CHECK(even.find("conv &lt;1&gt;") != std::string::npos);
  CHECK(even.find("prompt 0") != std::string::npos);
  CHECK(count(painted(three_steps(Verdict::identical)), "<rect") == 3);
  const std::string wrong = painted(three_steps(Verdict::fault));
  CHECK(count(wrong, "<rect") >= 4);  // and the square of the cross
  CHECK(wrong.find("var(--fault)") != std::string::npos);
}

TEST_CASE("VerdictMap_Prompts_HaveAGap_AndMarksAFlag") {
  VerdictMap map = three_steps(Verdict::rounding);
  const float narrow = verdict_map_size(map).width;
  map.starts.push_back({1, "prompt 1"});
  CHECK(verdict_map_size(map).width > narrow + 8.0f);
  CHECK(count(painted(map), "<rect") == 2);  // not over the gap
  CHECK(count(painted(map), "<polygon") == 0);
  map.marked = {2};
  CHECK(count(painted(map), "<polygon") == 1);
}

TEST_CASE("VerdictMap_Heads_SayTheTokenAndWhatShouldHaveBeen") {
  VerdictMap map = three_steps(Verdict::rounding);
  map.heads = {{.step = "0", .text = "the"},
               {.step = "1", .text = "cat", .instead = "dog", .judged = Verdict::fault, .level = 0.5},
               {.step = "2", .text = "sat"}};
  const float narrow = verdict_map_size(three_steps(Verdict::rounding)).width;
  CHECK(verdict_map_size(map).width > narrow);
  const std::string svg = painted(map);
  for (const char* const text : {">the<", ">cat<", ">dog<", ">sat<", "instead of"})
    CHECK_MESSAGE(svg.find(text) != std::string::npos, text);
  CHECK(svg.find("var(--fault)") != std::string::npos);  // how the other token was judged
  map.heads[1].instead.clear();
  CHECK(painted(map).find("var(--fault)") == std::string::npos);
}

TEST_CASE("VerdictMap_APart_ShowsWhatIsInSight_AndPointsFindTheirPlace") {
  VerdictMap map;
  for (int row = 0; row < 100; ++row) map.rows.push_back("layer" + std::to_string(row));
  map.columns.assign(50, std::vector<Verdict>(100, Verdict::fault));
  map.starts = {{0, "prompt 0"}, {25, "prompt 1"}};
  const VerdictMapPart part{{10.0f, 20.0f, 10.0f + 290.0f + 140.0f, 20.0f + 40.0f + 140.0f},
                            {28.0f, 1400.0f - 140.0f}};
  SvgPainter painter(500.0f, 300.0f, light_theme().panel);
  paint_verdict_map(painter, map, light_theme(), part);
  const std::string svg = painter.finish();
  CHECK(svg.find(">layer99<") != std::string::npos);
  CHECK(svg.find(">layer50<") == std::string::npos);
  CHECK(count(svg, "<rect") < 2 * 12 * 13 + 10);  // of 2 × 100 × 50
  // Just beside the names and below the head: what is scrolled there.
  const VerdictMapPlace place = verdict_map_place(map, part, {301.0f, 61.0f}, 1.0f);
  REQUIRE((place.row && place.column));
  CHECK(*place.row == 90);
  CHECK(*place.column == 2);
  const Point to = verdict_map_scroll(map, 30, 60, 1.0f);
  const VerdictMapPlace shown = verdict_map_place(map, {part.box, to}, {301.0f, 61.0f}, 1.0f);
  CHECK((shown.row && shown.column));
  CHECK(*shown.row == 56);
  CHECK(*shown.column == 26);
  CHECK(verdict_map_scroll(map, 2, 1, 1.0f).x == 0.0f);
  const VerdictMapPlace name = verdict_map_place(map, part, {50.0f, 61.0f}, 1.0f);
  CHECK((name.row && !name.column));
  const VerdictMapPlace head = verdict_map_place(map, part, {301.0f, 30.0f}, 1.0f);
  CHECK((!head.row && head.column));
  const VerdictMapPlace outside = verdict_map_place(map, part, {5.0f, 61.0f}, 1.0f);
  CHECK((!outside.row && !outside.column));
}

TEST_CASE("VerdictMap_Empty_IsAnEmptyPicture") { CHECK(count(painted({}), "<rect") == 0); }

}  // namespace driftscope::test::verdict_map_test
