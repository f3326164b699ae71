// A folder of comparisons as a wall: what is read, what is left alone, and who sees it.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "native/http/hub.hpp"
#include "native/http/raw_http.hpp"
#include "native/http/wall_folder.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::wall_folder_test {
namespace {

namespace fs = std::filesystem;
using namespace testing;

constexpr const char* failed_run =
    R"({"format":"driftscope-compare-1","headline":"x","model":"MODEL","model_sha256":"SHA",)"
    R"("left":{"target":"pc/strict","error":"no memory"},"right":[]})";

std::string comparison(const std::string& model, const std::string& sha256) {
  std::string text = failed_run;
  text.replace(text.find("MODEL"), 5, model);
  text.replace(text.find("SHA"), 3, sha256);
  return text;
}

struct TestResults {
  TempFolder folder = *TempFolder::make();
  fs::path path = folder.path();

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
};

std::shared_ptr<const wall::Wall> read(WallFolder& folder) {
  auto wall = folder.read();
  REQUIRE(wall.ok());
  return *wall;
}

TEST_CASE("WallFolder_ReadsComparisonsAtAnyDepthAndLeavesOthersAlone") {
  const TestResults results;
  results.write("a.json", comparison("a.onnx", "aa"));
  results.write("2026/11/b.json", comparison("b.onnx", "bb"));
  results.write("other.json", "{}");
  results.write("notes.txt", comparison("c.onnx", "cc"));
  results.write(".hidden/d.json", comparison("d.onnx", "dd"));
  results.write("broken.json", R"({"format":"driftscope-compare-1","left":)");
  WallFolder folder(results.path);
  const auto wall = read(folder);
  CHECK(wall->files == 2);
  CHECK(wall->others == 1);
  REQUIRE(wall->models.size() == 2);
  REQUIRE(wall->skipped.size() == 1);
  CHECK(wall->skipped[0].name == "broken.json");
  CHECK(wall->models[0].series[0].runs[0].date_of_file);
}

TEST_CASE("WallFolder_ThatChanges_IsReadAgain") {
  const TestResults results;
  results.write("a.json", comparison("a.onnx", "aa"));
  WallFolder folder(results.path);
  const auto first = read(folder);
  CHECK(read(folder) == first);  // the same object: nothing was parsed
  results.write("b.json", comparison("b.onnx", "bb"));
  CHECK(read(folder)->models.size() == 2);
  results.write("b.json", comparison("longer.onnx", "bb"));
  CHECK(read(folder)->models[1].name == "longer.onnx");
  fs::remove(results.path / "a.json");
  CHECK(read(folder)->models.size() == 1);
}

TEST_CASE("WallFolder_Links_AreNotFollowed") {
  const TestResults results;
  const TestResults elsewhere;
  elsewhere.write("secret.json", comparison("secret.onnx", "ee"));
  fs::create_symlink(elsewhere.path / "secret.json", results.path / "link.json");
  fs::create_directory_symlink(elsewhere.path, results.path / "folder");
  WallFolder folder(results.path);
  CHECK(read(folder)->models.empty());
}

TEST_CASE("WallFolder_BeyondItsLimits_SaysSo") {
  const TestResults results;
  for (int i = 0; i < 5; ++i)
    results.write(std::to_string(i) + ".json", comparison("a.onnx", std::to_string(i)));
  WallFolder few(results.path, {.files = 3});
  const auto wall = read(few);
  CHECK(wall->files == 3);
  REQUIRE(wall->skipped.size() == 1);
  CHECK(wall->skipped[0].name == "2 further files");
  WallFolder small(results.path, {.file_bytes = 10});
  CHECK(read(small)->skipped.size() == 5);
}

TEST_CASE("WallFolder_ThatIsNone_IsAnError") {
  WallFolder folder("/nowhere/at/all");
  CHECK_FALSE(folder.read().ok());
}

TEST_CASE("ServerWall_IsBelowTheTokenAloneAndRunsNothing") {
  const TestResults results;
  results.write("a.json", comparison("<script>.onnx", "aa"));
  WallFolder folder(results.path);
  ServerOptions options;
  options.wall = &folder;
  const TestSite site(options);
  const std::string front = site.get("/wall/");
  CHECK(status_of(front) == 200);
  CHECK(front.find("Content-Type: text/html; charset=utf-8") != std::string::npos);
  CHECK(front.find("Content-Security-Policy: default-src 'none'; style-src 'sha256-") != std::string::npos);
  CHECK(front.find("script-src") == std::string::npos);
  CHECK(front.find("frame-ancestors 'none'") != std::string::npos);
  CHECK(front.find("<script") == std::string::npos);
  const std::string page = read(folder)->models.at(0).page;
  CHECK(status_of(site.get("/wall/" + page)) == 200);
  CHECK(status_of(site.get("/wall")) == 308);
  for (const char* path : {"/wall/a.json", "/wall/../secret.txt", "/wall/nothing.html"})
    CHECK(status_of(site.get(path)) == 404);
  CHECK(status_of(site.request("GET", "/wall/")) == 404);
  results.write("b.json", comparison("new.onnx", "bb"));
  CHECK(site.get("/wall/").find("new.onnx") != std::string::npos);
}

// Keys of devices look like the token.
TEST_CASE("ServerWall_BesideAHub_IsTheOwnersAlone") {
  const TestResults results;
  WallFolder folder(results.path);
  const auto hub = Hub::open({.keys = results.path / "keys"});
  REQUIRE(hub.ok());
  ServerOptions options;
  options.wall = &folder;
  options.hub = hub->get();
  const TestSite site(options);
  CHECK(status_of(site.get("/wall/")) == 200);
}

TEST_CASE("ServerWall_WithoutAFolder_IsNotThere") {
  const TestSite site;
  CHECK(status_of(site.get("/wall/")) == 404);
}

}  // namespace
}  // namespace driftscope::test::wall_folder_test
