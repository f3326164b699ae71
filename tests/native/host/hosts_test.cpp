// The table of hosts, and which engines each can run.
#include <doctest/doctest.h>

#include <algorithm>

#include "native/browser/browsers.hpp"
#include "native/host/host.hpp"
#include "native/host/targets.hpp"

namespace driftscope::test::hosts_test {
namespace {

std::string error_of(const std::string& target) {
  const auto read = read_target(target);
  REQUIRE(!read.ok());
  return read.error().message;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Hosts_Table_HasEachOnceInItsOrder") {
  std::vector<std::string> names;
  int order = 0;
  for (const auto& host : host_table().all()) {
    CHECK(host->facts().order >= order);
    order = host->facts().order;
    CHECK(std::ranges::find(names, host->facts().name) == names.end());
    names.push_back(host->facts().name);
  }
  CHECK(names.front() == "pc");
  for (const std::string& browser : browser_hosts()) CHECK(std::ranges::find(names, browser) != names.end());
}

TEST_CASE("Hosts_UnknownOne_IsAnErrorThatListsThem") {
  const std::string error = error_of("opera/strict");
  for (const auto& host : host_table().all()) CHECK(holds(error, host->facts().name));
}

TEST_CASE("Hosts_EngineThatAHostCannotRun_IsAnErrorThatListsThoseThatCan") {
  CHECK(error_of("node/webgl") ==
        "target 'node/webgl': node cannot run the engine webgl; hosts that can: pc, chrome, firefox, safari, "
        "remote, webdriver");
  CHECK(holds(error_of("firefox/webnn"), "hosts that can: chrome"));
  for (const char* target : {"node/strict", "node/fast:threads=2", "chrome/webnn", "file/a.safetensors"}) {
    CAPTURE(target);
    CHECK(read_target(target).ok());
  }
}

}  // namespace driftscope::test::hosts_test
