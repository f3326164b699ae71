// A hub over HTTP: what links, devices and the owner may ask.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "native/http/hub_fixture.hpp"
#include "native/http/raw_http.hpp"

namespace driftscope::test::hub_server_test {
namespace {

using namespace testing;
using Fixture = HubFixture;

const std::string job(48, 'a');

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
}  // namespace driftscope::test::hub_server_test
