// Folders for a page that is no part of the site: paths, other names, what was asked for.
#include "native/http/folder_server.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fstream>

#include "native/http/limited_server.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::folder_server_test {
namespace {

void write(const std::filesystem::path& path, std::string_view text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("FolderServer_PathsAndOtherNames_GiveTheFilesOfTheirFolders") {
  const auto work = TempFolder::make();
  REQUIRE(work.ok());
  for (const char* name : {"page", "library"}) std::filesystem::create_directory(work->path() / name);
  write(work->path() / "page" / "index.html", "page");
  write(work->path() / "library" / "own.mjs", "library");
  const auto server = FolderServer::start({{.path = "", .folder = work->path() / "page"},
                                           {.path = "node_modules/x/dist",
                                            .folder = work->path() / "library",
                                            .renamed = {{"index.js", "own.mjs"}}}});
  REQUIRE(server.ok());
  const std::string url = (*server)->url();
  const std::size_t path = url.find('/', std::string_view("http://").size());
  httplib::Client client(url.substr(0, path));
  const auto get = [&](const std::string& file) {
    const auto answer = client.Get(url.substr(path) + file);
    return !answer                 ? std::string("no answer")
           : answer->status == 200 ? answer->body
                                   : std::to_string(answer->status);
  };
  CHECK(get("index.html") == "page");
  CHECK(get("node_modules/x/dist/own.mjs") == "library");
  CHECK(get("node_modules/x/dist/index.js") == "library");
  CHECK(get("node_modules/x/dist/other.js") == "404");
  constexpr std::array<std::string_view, 1> asked = {"node_modules/x/dist/index.js"};
  CHECK((*server)->wait_for(asked, std::chrono::seconds(1), {}) == "node_modules/x/dist/index.js");
  CHECK((*server)->query_of("node_modules/x/dist/index.js").empty());
  CHECK(get("index.html?why=a%20b") == "page");
  CHECK((*server)->query_of("index.html") == "a b");
  constexpr std::array<std::string_view, 1> missing = {"node_modules/x/dist/other.js"};
  CHECK_FALSE((*server)->wait_for(missing, std::chrono::milliseconds(150), {}));
}

}  // namespace driftscope::test::folder_server_test
