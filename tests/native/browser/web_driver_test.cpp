// What a WebDriver elsewhere is asked and answers, against one that starts no browser: sessions, queues,
// answers of all kinds, the server that its pages come from. With a real one:
// tests/e2e/cli/webdriver.test.mjs.
#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "native/browser/fake_driver.hpp"
#include "native/browser/remote_browser.hpp"
#include "native/browser/web_driver.hpp"
#include "native/browser/web_driver_fixture.hpp"
#include "native/browser/web_driver_identity.hpp"
#include "native/browser/web_driver_server.hpp"
#include "native/host/host.hpp"

namespace driftscope::test::web_driver_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

std::string error_of_start(FakeDriver& driver, const std::string& capabilities = chrome,
                           const std::function<void(httplib::Response&)>& answer = {}) {
  if (answer) driver.new_session = answer;
  const auto started = RemoteBrowser::start(address_of(driver.url()), capabilities, {}, short_patience());
  REQUIRE(!started.ok());
  CHECK(started.error().kind == ErrorKind::missing);
  return started.error().message;
}

TEST_CASE("RemoteBrowser_Session_IsAskedForAsGridsWantItAndDeleted") {
  FakeDriver driver("/wd/hub");
  {
    std::string url = driver.url();
    url.insert(url.find("://") + 3, "anna:key@");
    const auto started = RemoteBrowser::start(address_of(url), chrome, {}, short_patience());
    REQUIRE_MESSAGE(started.ok(), started.error().message);
    CHECK(started->version() == "chrome 156.0.1 on linux (WebDriver)");
    CHECK(driver.open_sessions() == 1);
    CHECK(started->look(milliseconds(5000)).life == RemoteBrowser::Life::alive);
    driver.lose_all();
    const auto look = started->look(milliseconds(5000));
    CHECK(look.life == RemoteBrowser::Life::gone);
    CHECK(look.why == "its driver says 'invalid session id: Unable to find session'");
  }
  const auto requests = driver.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].get_header_value("Content-Type") == "application/json; charset=utf-8");
  CHECK(requests[0].get_header_value("Authorization") == "Basic YW5uYTprZXk=");
  CHECK(requests[0].body == R"({"capabilities":{"alwaysMatch":{"browserName":"chrome"},"firstMatch":[{}]}})");
  CHECK(requests[1].method == "DELETE");
  CHECK(requests[1].path == "/wd/hub/session/s1");
}

TEST_CASE("RemoteBrowser_AnswersThatAreNoSession_AreErrors") {
  FakeDriver driver;
  const auto answers = [&](int status, const std::string& body) {
    driver.new_session = [=](httplib::Response& response) {
      response.status = status;
      response.set_content(body, "application/json");
    };
    return error_of_start(driver);
  };
  CHECK(holds(answers(500, R"({"value":{"error":"session not created","message":"no slot\nBuild info"}})"),
              "its driver says 'session not created: no slot'"));
  CHECK(holds(answers(404, "<html>nothing here</html>"), "is the path of its address right"));
  CHECK(holds(answers(200, "{"), "no answer of a WebDriver"));
  CHECK(holds(answers(200, R"({"value":{}})"), "gave no session"));
  CHECK(holds(answers(200, R"({"value":{"sessionId":"../../shutdown"}})"), "gave no session"));
  CHECK(holds(answers(200, R"({"value":{"sessionId":7}})"), "gave no session"));
  CHECK(holds(answers(200, std::string(100'000, '[')), "no answer of a WebDriver"));
  CHECK(holds(answers(200, "\"" + std::string(max_driver_answer_bytes, 'x') + "\""), "more than 1024 KiB"));
  CHECK(holds(answers(401, "who are you"), "refuses the user or the key"));
  const std::string said = error_of_start(
      driver, R"({"browserName":"chrome","x:options":{"accessKey":"s3cret"}})",
      [&](httplib::Response& response) {
        response.status = 500;
        response.set_content(R"({"value":{"error":"session not created","message":"no s3cret for chrome: )"
                             R"(Capabilities {accessKey: s3c"}})",
                             "application/json");
      });
  CHECK(holds(said, "'session not created: no *** for chrome: …'"));
  driver.http.stop();
  CHECK(holds(error_of_start(driver), "nothing listens there"));
}

TEST_CASE("RemoteBrowser_Queue_IsWaitedForAndTheWaitCanBeStopped") {
  FakeDriver driver;
  driver.new_session = [&](httplib::Response& response) {
    std::this_thread::sleep_for(milliseconds(600));
    driver.give_session(response);
  };
  int asked = 0;
  {
    const auto started =
        RemoteBrowser::start(address_of(driver.url()), chrome, [&] { return ++asked > 0; }, short_patience());
    CHECK(started.ok());
    CHECK(asked > 2);
  }
  const auto stopped =
      RemoteBrowser::start(address_of(driver.url()), chrome, [] { return false; }, short_patience());
  REQUIRE(!stopped.ok());
  CHECK(stopped.error().kind == ErrorKind::cancelled);
  // Its session came late, and is gone.
  CHECK(driver.made() == 2);
  CHECK(driver.open_sessions() == 0);
}

TEST_CASE("RemoteBrowser_QueueLongerThanTheFarewell_IsHungUpOn") {
  std::atomic<bool> over = false;
  FakeDriver driver;
  driver.new_session = [&](httplib::Response&) {
    while (!over) std::this_thread::sleep_for(milliseconds(20));
  };
  RemotePatience patience;
  patience.farewell = milliseconds(200);
  const auto begin = Clock::now();
  const auto stopped = RemoteBrowser::start(address_of(driver.url()), chrome, [] { return false; }, patience);
  CHECK(!stopped.ok());
  CHECK(Clock::now() - begin < std::chrono::seconds(10));
  over = true;
}

/// How long it takes to stop waiting for a browser of `url`.
milliseconds time_to_stop(const std::string& url) {
  RemotePatience patience;
  patience.farewell = milliseconds(200);
  const auto begin = Clock::now();
  const auto stopped = RemoteBrowser::start(address_of(url), chrome, [] { return false; }, patience);
  CHECK(!stopped.ok());
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

DriverAnswer answer_of(const std::string& begin, const std::string& for_ever, std::size_t& taken) {
  RawDriver driver([&](int connection) {
    (void)::send(connection, begin.data(), begin.size(), MSG_NOSIGNAL);
    taken = send_for_ever(connection, for_ever);
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(driver.port);
  return ask_driver(address_of(url), {.path = "/status", .patience = milliseconds(20000)});
}

TEST_SUITE_BEGIN("posix");

TEST_CASE("RemoteBrowser_PeerThatIsSilentInTheHandshakeOfTls_IsHungUpOn") {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does (guard_process)
  const RawDriver silent;
  REQUIRE(silent.port > 0);
  CHECK(time_to_stop("https://127.0.0.1:" + std::to_string(silent.port)) < milliseconds(4000));
  const auto begin = Clock::now();
  const auto answer = ask_driver(address_of("https://127.0.0.1:" + std::to_string(silent.port)),
                                 {.path = "/status", .patience = milliseconds(300)});
  CHECK(answer.kind == DriverAnswer::Kind::too_slow);
  CHECK(Clock::now() - begin < milliseconds(4000));
}

TEST_CASE("RemoteBrowser_ConnectionThatIsNotMade_IsHungUpOn") {
  RawDriver full({}, 0);
  full.fill_queue();
  CHECK(time_to_stop("http://127.0.0.1:" + std::to_string(full.port)) < milliseconds(4000));
}

TEST_CASE("AskDriver_AnswersWithoutAnEnd_AreCutOff") {
  const std::string begin = "HTTP/1.1 200 OK\r\n";
  for (const auto& [first, for_ever] : std::vector<std::pair<std::string, std::string>>{
           {begin, "X: " + std::string(1000, 'x') + "\r\n"},
           {"", "HTTP/1.1 100 Continue\r\n\r\n"},
           {begin + "X: ", std::string(1000, 'x')},
           {"HTTP/1.1 200 ", std::string(1000, 'x')},
           {begin + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
           {begin + "Transfer-Encoding: chunked\r\n\r\n", "0"},
           {begin + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"}}) {
    CAPTURE(first);
    CAPTURE(for_ever.substr(0, 30));
    std::size_t taken = 0;
    const DriverAnswer answer = answer_of(first, for_ever, taken);
    CHECK(!answer.ok());
    CHECK(answer.kind != DriverAnswer::Kind::too_slow);
    CHECK(taken < std::size_t{64} << 20);  // what is in buffers of the system is taken, too
  }
}

TEST_SUITE_END();

TEST_CASE("WebDriverServer_FixedPort_IsOneServerOfTheProcess") {
  const TestSite one;
  const TestSite other;
  WebDriverOptions options;
  const auto port = free_port();
  REQUIRE(port.ok());
  options.port = *port;
  std::filesystem::create_directories(one.site / "engine");
  RunnerOptions runner;
  runner.site = one.site;
  runner.web_driver = options;
  {
    HostContext first(runner);
    HostContext second(runner);
    const auto shared = first.web_driver_server();
    REQUIRE_MESSAGE(shared.ok(), shared.error().message);
    const auto again = second.web_driver_server();
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    CHECK(*shared == *again);
    CHECK((*shared)->port() == *port);
    const auto plain = first.server();
    REQUIRE_MESSAGE(plain.ok(), plain.error().message);
    CHECK((*plain)->port() != *port);
    const auto refused = web_driver_server(other.site, options);
    REQUIRE(!refused.ok());
    CHECK(holds(refused.error().message, "--webdriver-port"));
    CHECK(holds(refused.error().message, other.site.string()));
  }
  const auto free_again = web_driver_server(other.site, options);
  REQUIRE_MESSAGE(free_again.ok(), free_again.error().message);
  CHECK((*free_again)->port() == *port);
  options.port = 0;
  CHECK((*web_driver_server(other.site, options))->port() != *port);
}

TEST_CASE("WebDriverIdentity_Browser_IsThatOfAddressCapabilitiesAndVersions") {
  FakeDriver driver;
  driver.status = R"({"value":{"ready":true,"build":{"version":"156.0.1"}}})";
  WebDriverOptions options{.url = driver.url()};
  const Target target = *parse_target("webdriver:chrome/strict");
  const auto first = web_driver_identity(target, options);
  REQUIRE_MESSAGE(first.ok(), first.error().message);
  CHECK(first->starts_with(driver.url() + ", capabilities "));
  CHECK(first->ends_with(", versions 156.0.1"));
  CHECK(*web_driver_identity(target, options) == *first);
  CHECK(*web_driver_identity(*parse_target("webdriver:firefox/strict"), options) != *first);
  driver.status = R"({"value":{"ready":true,"build":{"version":"157.0.0"}}})";
  CHECK(*web_driver_identity(target, options) != *first);
  driver.status = "no JSON";
  CHECK(!holds(*web_driver_identity(target, options), "versions"));
}

}  // namespace
}  // namespace driftscope::test::web_driver_test
