// The pages of a wall: complete, linked to one another, and without anything that a file could put into them.
#include "core/wall/pages.hpp"

#include <doctest/doctest.h>

#include "tests/unit/support/text.hpp"
#include "tests/unit/wall/stored.hpp"

namespace driftscope::test::wall_pages_test {
namespace {

using wall::Wall;

/// Everything that is a text in a document says this.
constexpr const char* hostile = "</style><img src=x onerror=\"alert(1)\"><script>'&\x01\xff";

std::vector<std::string> pages_of(const Wall& wall) {
  std::vector<std::string> pages = {wall::front_page(wall).html};
  for (std::size_t i = 0; i < wall.models.size(); ++i) pages.push_back(wall::model_page(wall, i).html);
  return pages;
}

TEST_CASE("WallPages_LinkToOneAnother") {
  const Wall wall =
      wall_of({{.browser = "Chromium 99.0"}, {.browser = "Chromium 100.0", .verdict = "fault"}});
  const std::vector<std::string> pages = pages_of(wall);
  REQUIRE(pages.size() == 2);
  for (const wall::Series& series : wall.models[0].series) {
    CHECK(holds(pages[0], "href=\"" + wall.models[0].page + "#" + series.anchor + "\""));
    CHECK(holds(pages[1], "id=\"" + series.anchor + "\""));
  }
  CHECK(holds(pages[1], "href=\"index.html\""));
  CHECK(holds(pages[0], "What changed"));
  CHECK(holds(pages[0], "✗ fault"));
  CHECK(holds(pages[0], "since Chromium 100"));
  CHECK(holds(pages[1], "731"));  // × budget
}

TEST_CASE("WallPages_HaveARowForEachModelAndAColumnForEachTarget") {
  const Wall wall = wall::make_wall({stored_file("a", stored_comparison({{}}, "a.onnx", "11")),
                                     stored_file("b", stored_comparison({{}}, "b.onnx", "22"))});
  const std::string page = wall::front_page(wall).html;
  CHECK(count_of("<tr class=\"row", page) == 2);
  CHECK(count_of("<th scope=\"col\"", page) == 3);
  CHECK(count_of("<svg", page) == 4);
  CHECK(count_of("type=\"checkbox\"", page) == 4);  // two hosts, two engines
}

TEST_CASE("WallPages_OfNothing_SayWhatTheyWaitFor") {
  const std::string page = wall::front_page(wall::make_wall({})).html;
  CHECK(holds(page, "compare --json"));
  CHECK_FALSE(holds(page, "<table>"));
}

TEST_CASE("WallPages_HostileTexts_AreEscaped") {
  StoredRun run{.target = std::string("chrome") + hostile + "/webgpu:" + hostile,
                .browser = hostile,
                .date = hostile,
                .verdict = "fault",
                .device = hostile,
                .version = std::string("1.2 ") + hostile,
                .divergence = hostile};
  auto document = stored_comparison({run, {.target = hostile, .verdict = "failed"}}, hostile, hostile);
  document["build"] = hostile;
  document["input"] = hostile;
  document["machine"]["cpu"] = hostile;
  document["machine"]["system"] = hostile;
  document["right"][0]["verify"]["layers"][0]["node"] = hostile;
  document["right"][1]["error"] = hostile;
  auto second = document;
  second["build"] = std::string(hostile) + "2";
  second["right"][0]["verify"]["verdict"] = "rounding";
  std::vector<wall::StoredFile> files = {stored_file(hostile, document), stored_file("b", second),
                                         stored_file("c", {{"x", hostile}})};
  const Wall wall = wall::make_wall(std::move(files));
  REQUIRE_FALSE(wall.changes.empty());
  for (const std::string& page : pages_of(wall)) {
    for (const char* foreign : {"<img", "<script", "onerror=\"", "\x01", "\xff", "<style>'"})
      CHECK_FALSE(holds(page, foreign));
    CHECK(count_of("</style>", page) == 1);
  }
  for (const char c : wall.models[0].page + wall.models[0].series[0].anchor)
    CHECK(((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'));
}

TEST_CASE("WallPages_NumbersThatAreNone_AreShown") {
  auto document = stored_comparison({{.verdict = "fault"}});
  document["right"][0]["time"]["ns"] = 1e300;
  document["right"][0]["verify"]["layers"][0]["max_abs"] = nullptr;
  document["right"][0]["verify"]["layers"][0]["budget_used"] = nullptr;
  CHECK(pages_of(wall::make_wall({stored_file("a", document)})).size() == 2);
}

TEST_CASE("WallPages_AllowNothingButTheirStyle") {
  const wall::Page page = wall::front_page(wall_of({{}}));
  CHECK(holds(page.policy, "default-src 'none'; style-src 'sha256-"));
  CHECK_FALSE(holds(page.policy, "unsafe"));
  CHECK(holds(page.html, page.policy));
}

TEST_CASE("WallPages_OfLongHistories_AreBounded") {
  std::vector<StoredRun> runs(450);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].browser = "Chromium " + std::to_string(i + 1) + ".0";
  const Wall wall = wall_of(runs);
  const std::string page = wall::model_page(wall, 0).html;
  CHECK(holds(page, "250 earlier runs are left out"));
  CHECK(page.size() < 1'500'000);
}

}  // namespace
}  // namespace driftscope::test::wall_pages_test
