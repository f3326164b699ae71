// The hub: who is let in, what a device may ask, and what becomes of its job; without browsers.
#include "native/http/hub.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "native/http/raw_http.hpp"

namespace driftscope::test::hub_test {
namespace {

using namespace testing;
using Answer = Hub::Answer;

/// A hub on a clock that the test moves.
struct Fixture {
  explicit Fixture(std::filesystem::path keys = {}) {
    HubOptions options;
    options.keys = std::move(keys);
    options.clock = {[this] { return now; },
                     [this] { return std::chrono::steady_clock::time_point(std::chrono::seconds(now)); }};
    options.say = [this](const std::string& line) { said += line + "\n"; };
    auto opened = Hub::open(std::move(options));
    REQUIRE_MESSAGE(opened.ok(), opened.error().message);
    hub = *std::move(opened);
  }

  /// A new device: its segment and its Cookie header.
  std::pair<std::string, std::string> join(const std::string& name) {
    const auto segment = hub->invite();
    REQUIRE(segment.ok());
    const auto joined = hub->join(*segment, {.name = name});
    REQUIRE(joined.ok());
    REQUIRE(hub->here(*segment, sign()).ok());
    return {*segment, joined->set_cookie.substr(0, joined->set_cookie.find(';'))};
  }

  static messages::Here sign() {
    messages::Here said;
    said.about = nlohmann::json::object();
    said.visible = true;
    return said;
  }

  std::int64_t now = 1'000'000;
  std::string said;
  std::unique_ptr<Hub> hub;
};

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

/// A hub on a server, with one device.
struct Served : Fixture {
  Served()
      : site([this] {
          ServerOptions options;
          options.hub = hub.get();
          options.public_origin = "https://hub.example.org";
          return options;
        }()) {
    std::tie(segment, cookie) = join("phone");
  }
  [[nodiscard]] std::string device(const std::string& method, const std::string& below,
                                   const std::string& body = "") const {
    return site.request(method, "/" + segment + below, "Cookie: " + cookie + "\r\n", body);
  }
  TestSite site;
  std::string segment;
  std::string cookie;
};

TEST_CASE("HubServer_Device_HasThePageAndItsOwnRoutes") {
  const Served it;
  CHECK(body_of(it.device("GET", "/")) == "<p>the page</p>");
  CHECK(status_of(it.device("GET", "/web/page.mjs")) == 200);
  CHECK(nlohmann::json::parse(body_of(it.device("GET", "/api/session"))).at("device") == "phone");
  const std::string here = R"({"about":{"browser":"Chrome 1"},"visible":false})";
  CHECK(nlohmann::json::parse(body_of(it.device("POST", "/api/hub/here", here))).at("name") == "phone");
  CHECK(it.hub->devices()[0].about.at("browser") == "Chrome 1");
  for (const char* bad :
       {"", "3", "{}", R"({"about":3,"visible":true})", R"({"about":{},"visible":true,"x":1})"})
    CHECK_MESSAGE(status_of(it.device("POST", "/api/hub/here", *bad == '\0' ? " " : bad)) == 400, bad);
  CHECK(status_of(it.device("POST", "/api/hub/here", std::string(70'000, ' '))) == 413);
}

// A device starts nothing on the PC, and sees no other device.
TEST_CASE("HubServer_Device_IsNotTheOwner") {
  const Served it;
  for (const auto& [method, below] : {std::pair{"GET", "/api/hub/devices"},
                                      {"POST", "/api/hub/invitations"},
                                      {"POST", "/api/hub/devices/phone/work"},
                                      {"POST", "/api/hub/devices/phone/remove"},
                                      {"POST", "/api/pc?run=x"},
                                      {"POST", "/api/traces"},
                                      {"GET", "/../secret.txt"},
                                      {"GET", "/%2e%2e/secret.txt"}})
    CHECK_MESSAGE(status_of(it.device(method, below, std::string(method) == "POST" ? "{}" : "")) == 404,
                  below);
  CHECK(it.hub->devices().size() == 1);
}

TEST_CASE("HubServer_UnpairedClient_GetsNothing") {
  const Served it;
  for (const char* below : {"/", "/web/page.mjs", "/api/session", "/api/hub/here", "/api/jobs/aa"}) {
    CHECK_MESSAGE(status_of(it.site.request("GET", "/" + it.segment + below)) == 403, below);
    CHECK_MESSAGE(status_of(it.site.request("GET", "/" + std::string(48, '0') + below,
                                            "Cookie: " + it.cookie + "\r\n")) == 404,
                  below);
  }
}

// Whatever fetches a link to show a preview of it, or to look for malware, does not use it up.
TEST_CASE("HubServer_Link_JoinsByItsButtonAlone") {
  const Served it;
  const std::string link = "/" + *it.hub->invite();
  for (int looks = 0; looks < 3; ++looks)
    for (const char* method : {"GET", "HEAD"}) {
      const std::string opened = it.site.request(method, link + "/");
      CHECK(status_of(opened) == 200);
      CHECK(opened.find("Set-Cookie") == std::string::npos);
    }
  const auto session = nlohmann::json::parse(body_of(it.site.request("GET", link + "/api/session")));
  CHECK(session.contains("link_of"));
  CHECK(!session.contains("device"));
  CHECK(session.at("pc_targets").empty());
  // The page, and nothing else; another device's cookie changes nothing.
  for (const auto& [method, below] : {std::pair{"POST", "/api/hub/here"},
                                      {"POST", "/"},
                                      {"GET", "/api/hub/join"},
                                      {"GET", "/api/jobs/aa"},
                                      {"GET", "/packages/x"},
                                      {"GET", "/api/hub/devices"},
                                      {"POST", "/api/hub/invitations"}})
    for (const std::string& cookies : {std::string(), "Cookie: " + it.cookie + "\r\n"})
      CHECK_MESSAGE(status_of(it.site.request(method, link + below, cookies,
                                              std::string(method) == "POST" ? "{}" : "")) == 403,
                    below);
  CHECK(it.hub->devices().size() == 1);
  const auto join = [&](const std::string& body, const std::string& headers = "") {
    return it.site.request("POST", link + "/api/hub/join", headers, body);
  };
  for (const char* bad : {"3", "{}", R"({"name":3})", R"({"name":"日本"})", R"({"name":"a","x":1})"})
    CHECK_MESSAGE(status_of(join(bad)) == 400, bad);
  CHECK(status_of(join(std::string(70'000, ' '))) == 413);
  CHECK(status_of(join(R"({"name":"tablet"})", "Origin: https://evil.com\r\n")) == 403);
  CHECK(it.hub->devices().size() == 1);

  const std::string joined = join(R"({"name":"Tablet"})");
  CHECK(status_of(joined) == 200);
  CHECK(nlohmann::json::parse(body_of(joined)).at("name") == "tablet");
  const auto begin = joined.find("Set-Cookie: ") + 12;
  const std::string cookie = "Cookie: " + joined.substr(begin, joined.find(';', begin) - begin) + "\r\n";
  CHECK(status_of(it.site.request("GET", link + "/")) == 403);
  CHECK(status_of(join(R"({"name":"second"})")) == 403);
  const auto device = nlohmann::json::parse(body_of(it.site.request("GET", link + "/api/session", cookie)));
  CHECK(device.at("device") == "tablet");
  CHECK(!device.contains("link_of"));
}

TEST_CASE("HubServer_Invitation_HasTheFingerprintOfItsCertificate") {
  const Served plain;
  CHECK(
      !nlohmann::json::parse(body_of(plain.site.post("/api/hub/invitations", "{}"))).contains("fingerprint"));
  Fixture it;
  ServerOptions options;
  options.hub = it.hub.get();
  options.front_origins = {"https://192.168.1.5:8458"};
  options.fingerprint = "AA:BB";
  const TestSite site(std::move(options));
  const auto link = nlohmann::json::parse(body_of(site.post("/api/hub/invitations", "{}")));
  CHECK(link.at("fingerprint") == "AA:BB");
  CHECK(link.at("url").get<std::string>().starts_with("https://192.168.1.5:8458/"));
}

TEST_CASE("HubServer_HostAndOrigin_AreOursOrThePublicOnes") {
  const Served it;
  const auto ask = [&](const std::string& headers) {
    return status_of(send_raw(it.site.server->port(), "GET /" + it.segment + "/ HTTP/1.1\r\nCookie: " +
                                                          it.cookie + "\r\n" + headers + "\r\n"));
  };
  CHECK(ask("Host: hub.example.org\r\n") == 200);
  CHECK(ask("Host: hub.example.org\r\nOrigin: https://hub.example.org\r\n") == 200);
  CHECK(ask("Host: " + it.site.host() + "\r\nOrigin: https://hub.example.org\r\n") == 200);
  CHECK(ask("Host: hub.example.org\r\nOrigin: http://hub.example.org\r\n") == 403);
  CHECK(ask("Host: hub.example.org.evil.com\r\n") == 403);
  CHECK(ask("Host: hub.example.org\r\nOrigin: https://evil.com\r\n") == 403);
  CHECK(it.site.server->hub_url("x") == "https://hub.example.org/x/");
}

// The owner's programs are on this machine.
TEST_CASE("HubServer_PublicAddress_IsForDevicesAlone") {
  const Served it;
  const auto ask = [&](const std::string& path, const std::string& host) {
    return status_of(send_raw(it.site.server->port(), "GET " + path + " HTTP/1.1\r\nCookie: " + it.cookie +
                                                          "\r\nHost: " + host + "\r\n\r\n"));
  };
  CHECK(ask("/" + it.segment + "/api/session", "hub.example.org") == 200);
  CHECK(ask(it.site.token + "/", "hub.example.org") == 404);
  CHECK(ask(it.site.token + "/api/hub/devices", "hub.example.org") == 404);
  CHECK(ask(it.site.token + "/api/hub/devices", it.site.host()) == 200);
}

TEST_CASE("HubServer_Job_IsPassedOnToItsProgram") {
  const Served it;
  TestSite program;
  JobContent content{R"({"a":1})", SharedBytes(bytes_of("0123456789")), {}, SharedBytes(bytes_of("inputs"))};
  const auto added = program.server->jobs().add(std::move(content));
  REQUIRE(added.ok());
  const std::string path = "/api/jobs/" + (*added)->id();
  CHECK(status_of(it.device("GET", path)) == 404);
  REQUIRE(
      it.hub
          ->give("phone",
                 {.job = (*added)->id(), .port = program.server->port(), .token = program.server->token()})
          .ok());
  CHECK(body_of(it.device("GET", path)) == R"({"a":1})");
  CHECK(body_of(it.device("GET", path + "/model")) == "0123456789");
  CHECK(body_of(it.device("GET", path + "/model?offset=3&count=4")) == "3456");
  CHECK(body_of(it.device("GET", path + "/model?offset=8&count=100")) == "89");
  CHECK(body_of(it.device("GET", path + "/model?offset=99&count=100")).empty());
  CHECK(body_of(it.device("GET", path + "/inputs")) == "inputs");
  CHECK(status_of(it.device("GET", path + "/attachments/0")) == 404);
  CHECK(status_of(it.device("GET", path + "/secrets")) == 404);
  CHECK(status_of(it.device("POST", path + "/progress", R"({"phase":"run","done":3,"total":9})")) == 200);
  CHECK((*added)->wait(std::chrono::milliseconds(0)).progress.done == 3);
  CHECK(status_of(it.device("POST", path + "/result", "trace")) == 200);
  const auto answer = (*added)->take();
  REQUIRE(answer.ok());
  CHECK(answer->size() == 5);
}

TEST_CASE("HubServer_RequestsThatWait_AreLimitedForEachDevice") {
  const Served it;
  TestSite program;
  const auto added = program.server->jobs().add(JobContent{"{}", SharedBytes(bytes_of("model")), {}, {}});
  REQUIRE(added.ok());
  const std::string path = "/api/jobs/" + (*added)->id();
  const messages::HubWork work{
      .job = (*added)->id(), .port = program.server->port(), .token = program.server->token()};
  REQUIRE(it.hub->give("phone", work).ok());
  constexpr int more_than_wait = 20;
  std::atomic<int> refused = 0;
  std::vector<std::thread> waiting;
  for (int i = 0; i < more_than_wait; ++i)
    waiting.emplace_back([&] { refused += status_of(it.device("GET", path + "/request")) == 503 ? 1 : 0; });
  for (int i = 0; i < 500 && refused == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  (*added)->long_poll().close();
  for (std::thread& one : waiting) one.join();
  CHECK(refused > 0);
  CHECK(refused < more_than_wait);
  CHECK(status_of(it.device("GET", path)) == 200);
}

// A command that is ended by a signal takes nothing back.
TEST_CASE("HubServer_ProgramThatIsGone_LeavesTheDeviceFree") {
  const Served it;
  TestSite other;
  const std::string work = "/api/hub/devices/phone/work";
  const auto body = [&](const std::string& id, const TestSite& program) {
    return R"({"job":")" + id + R"(","port":)" + std::to_string(program.server->port()) + R"(,"token":")" +
           program.server->token() + "\"}";
  };
  auto program = std::make_unique<TestSite>();
  REQUIRE(status_of(it.site.post(work, body(job, *program))) == 200);
  CHECK(status_of(it.site.post(work, body(std::string(48, 'c'), other))) == 409);
  program.reset();
  CHECK(status_of(it.device("GET", "/api/jobs/" + job)) == 404);
  CHECK(!it.hub->here(it.segment, Fixture::sign())->job);

  // Or while it was asleep.
  program = std::make_unique<TestSite>();
  REQUIRE(status_of(it.site.post(work, body(job, *program))) == 200);
  program.reset();
  CHECK(status_of(it.site.post(work, body(std::string(48, 'c'), other))) == 200);
  CHECK(it.hub->here(it.segment, Fixture::sign())->job == std::string(48, 'c'));
}

}  // namespace
}  // namespace driftscope::test::hub_test
