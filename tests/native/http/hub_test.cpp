// The hub: who is let in, what a device may say, and what becomes of its job; without HTTP or browsers.
#include "native/http/hub.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "native/http/hub_fixture.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::hub_test {
namespace {

using Answer = Hub::Answer;
using Fixture = testing::HubFixture;

const std::string job(48, 'a');
const std::string token(48, 'b');

TEST_CASE("Hub_Link_IsGoodForTheFirstBrowserAlone") {
  Fixture it;
  const auto link = it.hub->invite();
  REQUIRE(link.ok());
  CHECK(it.hub->knows(*link));
  CHECK(!it.hub->knows(std::string(48, '0')));
  CHECK(it.hub->admit(std::string(48, '0'), {}) == Answer::stranger);
  // What only looks does not use it up: a program that shows previews of links.
  for (int looks = 0; looks < 3; ++looks) CHECK(it.hub->admit(*link, {}) == Answer::invited);
  CHECK(it.hub->is_link(*link));
  CHECK(it.hub->devices().empty());
  const auto nameless = it.hub->join(*link, {.name = "日本"});
  REQUIRE(!nameless.ok());
  CHECK(nameless.error().kind == ErrorKind::bad_input);
  const auto first = it.hub->join(*link, {.name = "Pixel 8"});
  REQUIRE(first.ok());
  CHECK(first->welcome.name == "pixel-8");
  CHECK(it.said == "pixel-8 has joined\n");
  // It is listed before it has said anything of itself.
  REQUIRE(it.hub->devices().size() == 1);
  CHECK(it.hub->devices()[0].about == nlohmann::json::object());
  CHECK(it.hub->devices()[0].silent_ms == 0);
  CHECK(first->set_cookie.find("; Path=/" + *link + "/; ") != std::string::npos);
  CHECK(first->set_cookie.ends_with("; HttpOnly; SameSite=Strict"));
  const std::string cookie = first->set_cookie.substr(0, first->set_cookie.find(';'));
  const auto second = it.hub->join(*link, {.name = "other"});
  REQUIRE(!second.ok());
  CHECK(second.error().kind == ErrorKind::missing);
  CHECK(!it.hub->is_link(*link));
  CHECK(it.hub->admit(*link, {}) == Answer::refused);
  CHECK(it.hub->admit(*link, {"driftscope-device="}) == Answer::refused);
  CHECK(it.hub->admit(*link, {cookie.substr(0, cookie.size() - 1)}) == Answer::refused);
  CHECK(it.hub->admit(*link, {"a=1; " + cookie}) == Answer::known);
  CHECK(it.hub->devices().size() == 1);
}

TEST_CASE("Hub_Link_EndsAfterItsTime") {
  Fixture it;
  const auto early = it.hub->invite();
  const auto late = it.hub->invite();
  it.now += it.hub->link_life().count() - 1;
  CHECK(it.hub->join(*early, {.name = "early"}).ok());
  it.now += 1;
  CHECK(it.hub->admit(*late, {}) == Answer::refused);
  CHECK(!it.hub->is_link(*late));
  CHECK(it.hub->join(*late, {.name = "late"}).error().kind == ErrorKind::missing);
  REQUIRE(it.hub->invite().ok());
  CHECK(it.hub->admit(*late, {}) == Answer::stranger);  // it is forgotten
}

TEST_CASE("Hub_Links_AreLimited") {
  Fixture it;
  int made = 0;
  while (made < 1000 && it.hub->invite().ok()) ++made;
  CHECK(made == 64);
  it.now += it.hub->link_life().count();
  CHECK(it.hub->invite().ok());
}

TEST_CASE("Hub_Devices_HaveNamesOfTheirOwn") {
  Fixture it;
  const auto [first, first_cookie] = it.join("Pixel 8");
  const auto [second, second_cookie] = it.join("pixel-8");
  CHECK(it.hub->name_of(first) == "pixel-8");
  CHECK(it.hub->name_of(second) == "pixel-8-2");
  messages::Here renamed = it.sign();
  renamed.name = "Büro/../Tablet";
  const auto welcome = it.hub->here(second, renamed);
  REQUIRE(welcome.ok());
  CHECK(welcome->name == "b-ro-tablet");
  renamed.name = "日本";
  CHECK(!it.hub->here(second, renamed).ok());
  CHECK(it.hub->name_of(second) == "b-ro-tablet");
  CHECK(it.said == "pixel-8 has joined\npixel-8-2 has joined\npixel-8-2 is now called b-ro-tablet\n");
  REQUIRE(it.hub->devices().size() == 2);
  CHECK(it.hub->devices()[0].name == "b-ro-tablet");
  it.now += 7;
  REQUIRE(it.hub->here(first, it.sign()).ok());
  CHECK(it.hub->devices()[0].silent_ms == 7000);
  CHECK(it.hub->devices()[1].silent_ms == 0);
}

TEST_CASE("Hub_Job_IsThatDevicesAlone") {
  Fixture it;
  const auto [mine, my_cookie] = it.join("mine");
  const auto [other, other_cookie] = it.join("other");
  CHECK(it.hub->give("nobody", {.job = job, .port = 1, .token = token}).error().kind == ErrorKind::bad_input);
  for (const char* bad : {"", "../x", "AA", "a/b", "a?b"})
    CHECK(!it.hub->give("mine", {.job = bad, .port = 1, .token = token}).ok());
  REQUIRE(it.hub->give("mine", {.job = job, .port = 1, .token = token}).ok());
  CHECK(it.hub->work_of(mine, job).has_value());
  CHECK(!it.hub->work_of(other, job).has_value());
  CHECK(!it.hub->work_of(mine, std::string(48, 'c')).has_value());
  CHECK(it.hub->here(mine, it.sign())->job == job);
  CHECK(!it.hub->here(other, it.sign())->job);
  messages::Here busy = it.sign();
  busy.job = job;
  CHECK(!it.hub->here(mine, busy)->job);  // it runs it
  const Status second = it.hub->give("mine", {.job = std::string(48, 'c'), .port = 1, .token = token});
  REQUIRE(!second.ok());
  CHECK(second.error().kind == ErrorKind::limit);
  // Another program cannot end it, the one that gave it can.
  REQUIRE(it.hub->give("mine", {.job = std::string(48, 'c'), .port = 1, .token = token, .done = true}).ok());
  CHECK(it.hub->work_of(mine, job).has_value());
  REQUIRE(it.hub->give("mine", {.job = job, .port = 1, .token = token, .done = true}).ok());
  CHECK(!it.hub->work_of(mine, job).has_value());
}

TEST_CASE("Hub_LostJob_IsReportedAndNotGivenAgain") {
  Fixture it;
  const auto [segment, cookie] = it.join("phone");
  REQUIRE(it.hub->give("phone", {.job = job, .port = 1, .token = token}).ok());
  messages::Here back = it.sign();
  messages::LostJob& lost = back.lost.emplace();
  lost.job = job;
  lost.phase = messages::Phase::run;
  lost.done = 12;
  lost.total = 40;
  CHECK(!it.hub->here(segment, back)->job);
  REQUIRE(it.hub->devices()[0].lost);
  CHECK(it.hub->devices()[0].lost->done == 12);
  CHECK(!it.hub->here(segment, it.sign())->job);
  const std::string next(48, 'd');
  REQUIRE(it.hub->give("phone", {.job = job, .port = 1, .token = token, .done = true}).ok());
  REQUIRE(it.hub->give("phone", {.job = next, .port = 1, .token = token}).ok());
  CHECK(it.hub->here(segment, it.sign())->job == next);
}

// Whoever waited for the job asks when it is over: what the device says meanwhile is of the next one.
TEST_CASE("Hub_ConditionsOfAJob_AreKeptUntilThoseOfTheNext") {
  Fixture it;
  const auto [segment, cookie] = it.join("phone");
  CHECK(!it.hub->devices()[0].conditions);
  messages::Here busy = it.sign();
  busy.job = job;
  busy.conditions = nlohmann::json{{"watched_ms", 800}};
  REQUIRE(it.hub->here(segment, busy).ok());
  REQUIRE(it.hub->here(segment, it.sign()).ok());
  messages::Here next = it.sign();
  next.job = std::string(48, 'c');
  REQUIRE(it.hub->here(segment, next).ok());
  const messages::HubDevice device = it.hub->devices()[0];
  REQUIRE(device.conditions);
  CHECK(device.conditions->at("watched_ms") == 800);
  CHECK(device.conditions_of == job);
  next.conditions = nlohmann::json::object();
  REQUIRE(it.hub->here(segment, next).ok());
  CHECK(it.hub->devices()[0].conditions_of == next.job);
}

TEST_CASE("Hub_RemovedAndLeavingDevices_AreStrangers") {
  Fixture it;
  const auto [first, first_cookie] = it.join("first");
  const auto [second, second_cookie] = it.join("second");
  REQUIRE(it.hub->remove("first").ok());
  CHECK(!it.hub->remove("first").ok());
  CHECK(!it.hub->knows(first));
  CHECK(it.hub->admit(first, {first_cookie}) == Answer::stranger);
  CHECK(!it.hub->here(first, it.sign()).ok());
  messages::Here leaving = it.sign();
  leaving.leaving = true;
  REQUIRE(it.hub->here(second, leaving).ok());
  CHECK(!it.hub->knows(second));
  CHECK(it.hub->devices().empty());
}

TEST_CASE("Hub_Keys_OutliveTheHub") {
  auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const std::filesystem::path keys = folder->path() / "state" / "hub-keys.json";
  std::string segment;
  std::string cookie;
  {
    Fixture before(keys);
    std::tie(segment, cookie) = before.join("phone");
    const auto [gone, gone_cookie] = before.join("gone");
    REQUIRE(before.hub->remove("gone").ok());
  }
  using std::filesystem::perms;
  CHECK(std::filesystem::status(keys).permissions() == (perms::owner_read | perms::owner_write));
  std::ifstream file(keys);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find(cookie.substr(cookie.find('=') + 1)) == std::string::npos);
  Fixture after(keys);
  CHECK(after.hub->admit(segment, {cookie}) == Answer::known);
  CHECK(after.hub->admit(segment, {}) == Answer::refused);
  CHECK(after.hub->name_of(segment) == "phone");
  CHECK(after.hub->devices().size() == 1);

  std::filesystem::permissions(keys, perms::group_read, std::filesystem::perm_options::add);
  const auto readable = Hub::open({.keys = keys});
  REQUIRE(!readable.ok());
  CHECK(readable.error().message.find("chmod 600") != std::string::npos);
  std::filesystem::permissions(keys, perms::group_read, std::filesystem::perm_options::remove);
  std::ofstream(keys) << "{\"keys\": 3}";
  CHECK(!Hub::open({.keys = keys}).ok());
}

}  // namespace
}  // namespace driftscope::test::hub_test
