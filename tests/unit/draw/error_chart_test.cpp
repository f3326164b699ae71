// The picture of a layer's errors: colours, outlines, what a point says.
#include "core/draw/error_chart.hpp"

#include <doctest/doctest.h>

#include "core/draw/svg_painter.hpp"

namespace driftscope::test::error_chart_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

ErrorMap four_by_four() {
  return {.axes = {2, 3}, .sizes = {8, 8}, .cells = {"0000", "0000", "0033", "0039"}};
}

std::string painted(const ErrorMap& map, const std::vector<std::int64_t>& tile) {
  SvgPainter painter({100.0f, 100.0f, ""});
  paint_error_chart(painter, {0.0f, 0.0f, 100.0f, 100.0f}, map, tile, light_theme());
  return painter.finish();
}

}  // namespace

TEST_CASE("ErrorChart_WrongElements_AreColouredAndOutlined") {
  const std::string plain = painted(four_by_four(), {});
  CHECK(count(plain, "<rect") == 4);  // the ground; "33", "3" and "9"
  CHECK(count(plain, "<line") ==
        4);  // two edges that go on to the border, which is none, and each in one piece
}

TEST_CASE("ErrorChart_Tiles_AreOutlinedInsideWhatIsWrong") {
  const std::string plain = painted(four_by_four(), {1, 1, 1, 1});
  const std::string tiles = painted(four_by_four(), {1, 1, 2, 4});
  // Blocks of 2 rows: at rows 4 and 6; of 4 columns: at column 4.
  CHECK(count(tiles, "<line") == count(plain, "<line") + 3);
  CHECK(painted({}, {2, 2}).find("<rect") == std::string::npos);
}

TEST_CASE("ErrorChart_Point_SaysPlaceAndError") {
  const Box box{0.0f, 0.0f, 100.0f, 100.0f};
  CHECK(*error_chart_text(box, four_by_four(), {80.0f, 60.0f}) ==
        "axis 2: 4 to 5, axis 3: 6 to 7: errors of at most 1,000 × the budget");
  CHECK(error_chart_text(box, four_by_four(), {80.0f, 80.0f})->ends_with("not a number, or another integer"));
  CHECK(error_chart_text(box, four_by_four(), {10.0f, 10.0f})->ends_with("no element is wrong"));
  CHECK_FALSE(error_chart_text(box, four_by_four(), {120.0f, 10.0f}));
  CHECK(error_chart_axes(four_by_four()) == "axis 2 (8) down, axis 3 (8) across");
  CHECK(error_chart_axes({.axes = {1}, .sizes = {3}, .cells = {"010"}}) == "axis 1 (3) across");
}

TEST_CASE("ErrorChart_MapsFromAnyFile_AreDrawnWithoutHarm") {
  const ErrorMap odd{.axes = {9, -3}, .sizes = {std::int64_t{1} << 62, -1}, .cells = {"01x", "", "0123456"}};
  CHECK(painted(odd, {2}).find("<rect") != std::string::npos);
  const ErrorChartSize size = error_chart_size(odd, 200.0f);
  CHECK(size.width > 0.0f);
  CHECK(error_chart_text({0.0f, 0.0f, 90.0f, 90.0f}, odd, {80.0f, 80.0f}));
  const ErrorMap three{.axes = {0, 1, 2}, .sizes = {4}, .cells = {"11"}};
  CHECK(painted(three, {1, 1, 2}).find("<rect") != std::string::npos);
}

TEST_CASE("ErrorChart_Size_FitsItsPlace") {
  const ErrorMap wide{
      .axes = {0, 1}, .sizes = {2, 40}, .cells = {std::string(40, '1'), std::string(40, '1')}};
  CHECK(error_chart_size(wide, 200.0f).width == doctest::Approx(200.0f));
  CHECK(error_chart_size(wide, 200.0f).height >= 12.0f);
  const ErrorMap tall{.axes = {0, 1}, .sizes = {40, 2}, .cells = std::vector<std::string>(40, "11")};
  CHECK(error_chart_size(tall, 200.0f).height <= 190.5f);
  CHECK(error_chart_size(tall, 200.0f, 2.0f).height > 190.5f);
}

}  // namespace driftscope::test::error_chart_test
