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

TEST_CASE("VerdictMap_Empty_IsAnEmptyPicture") { CHECK(count(painted({}), "<rect") == 0); }

}  // namespace driftscope::test::verdict_map_test
