// Browsers of a WebDriver elsewhere, against one that starts none: queues, answers of all kinds, sessions
// that are lost. With a real one: tests/e2e/cli/webdriver.test.mjs.
#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "core/trace/trace_file.hpp"
#include "native/bench/bench_page.hpp"
#include "native/browser/fake_driver.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/browser/web_driver.hpp"
#include "native/browser/web_driver_identity.hpp"
#include "native/browser/web_driver_server.hpp"
#include "native/browser/webdriver_session.hpp"
#include "native/host/host.hpp"
#include "native/host/replayed_sink.hpp"

namespace driftscope::test::web_driver_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

constexpr const char* chrome = R"({"browserName":"chrome"})";

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

WebDriverAddress address_of(const std::string& url) {
  auto address = parse_web_driver_address(url);
  REQUIRE_MESSAGE(address.ok(), address.error().message);
  return *std::move(address);
}

RemotePatience short_patience() {
  RemotePatience patience;
  patience.farewell = milliseconds(2000);
  return patience;
}

std::string error_of_start(FakeDriver& driver, const std::string& capabilities = chrome,
                           const std::function<void(httplib::Response&)>& answer = {}) {
  if (answer) driver.new_session = answer;
  const auto started = RemoteBrowser::start(address_of(driver.url()), capabilities, {}, short_patience());
  REQUIRE(!started.ok());
  CHECK(started.error().kind == ErrorKind::missing);
  return started.error().message;
}

std::string trace_text() {
  Trace trace;
  trace.target = "webdriver:chrome/strict";
  trace.tensors.push_back({"x", Tensor()});
  const auto bytes = write_trace(trace);
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

/// Runs jobs until there is none.
void working_page(const std::string& url) {
  FakePage page(url);
  do {
    page.get();
    page.post("/progress", R"({"phase":"run","done":1,"total":2})");
  } while (page.next(page.post("/result", trace_text())));
}

struct Bench : TestSite {
  explicit Bench(FakeDriver& driver)
      : session(*server,
                {.host = "webdriver:chrome", .address = address_of(driver.url()), .capabilities = chrome},
                short_patience()) {}

  Result<Trace> run(milliseconds timeout = milliseconds(20000),
                    const BrowserProgressCallback& progress = {}) {
    BrowserJob job;
    job.target = *parse_target("webdriver:chrome/strict");
    job.model_name = "tiny";
    job.model = bytes_of("model");
    job.inputs = bytes_of("inputs");
    BrowserOptions options;
    options.timeout = timeout;
    options.lost = &lost;
    options.start_patience = start_patience;
    return run_in_browser(session, job, options, progress);
  }

  WebDriverSession session;
  bool lost = false;
  milliseconds start_patience{30000};
};

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

TEST_CASE("WebDriverSession_OtherVersionInTheMiddleOfAJob_IsAnError") {
  std::atomic<int> pages = 0;
  FakeDriver driver;
  driver.page = [&](const std::string&) {
    ++pages;
    driver.set_version("157.0.0");  // and its page is not opened
  };
  Bench it(driver);
  it.start_patience = milliseconds(300);
  const auto trace = it.run();
  REQUIRE(!trace.ok());
  CHECK(
      holds(trace.error().message,
            "the job is for chrome 156.0.1 on linux (WebDriver), and the browser that came instead of it is "
            "chrome 157.0.0 on linux (WebDriver)"));
  CHECK(pages == 1);
  CHECK(!it.session.was_lost());
}

TEST_CASE("WebDriverSession_JobAfterALoss_SaysTheVersionOfTheNewBrowser") {
  std::string job;
  FakeDriver driver;
  driver.page = [&](const std::string& url) {
    FakePage(url).get();
    driver.lose_all();
    driver.set_version("157.0.0");
  };
  Bench it(driver);
  CHECK(!it.run().ok());
  driver.page = [&](const std::string& url) {
    job = FakePage(url).get();
    working_page(url);
  };
  const auto trace = it.run();
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(holds(job, "chrome 157.0.0 on linux"));
  CHECK(!holds(job, "156.0.1"));
}

TEST_CASE("BenchPage_FailureOfOpening_CountsOnlyUntilThePageIsThere") {
  FakeDriver driver;
  driver.page_answer = [](httplib::Response& response) {
    response.status = 500;
    response.set_content(R"({"value":{"error":"timeout","message":"page load"}})", "application/json");
  };
  const TestSite site;
  const WebDriverOptions options{.url = driver.url()};
  for (const bool opens : {false, true}) {
    CAPTURE(opens);
    driver.page = [&](const std::string& url) {
      if (opens) FakePage(url).get();
    };
    const auto page = bench_page(*site.server, *parse_target("webdriver:chrome/strict"), options, {});
    REQUIRE_MESSAGE(page.ok(), page.error().message);
    const auto job = site.server->jobs().add({"{}", {}, {}, {}});
    REQUIRE(job.ok());
    CHECK((*page)->open(**job).ok());
    std::optional<std::string> ended;
    const auto begin = Clock::now();
    while (!ended && Clock::now() - begin < milliseconds(opens ? 800 : 5000)) {
      std::this_thread::sleep_for(milliseconds(20));
      if (!opens || (*job)->wait(milliseconds(0)).opened) ended = (*page)->ended();
    }
    CHECK((*job)->wait(milliseconds(0)).opened == opens);
    if (opens)
      CHECK(!ended);
    else
      CHECK(ended == "could not open the page: its driver says 'timeout: page load'");
  }
}

TEST_CASE("WebDriverSession_Jobs_RunOneAfterTheOtherInOneBrowser") {
  FakeDriver driver;
  driver.page = working_page;
  {
    Bench it(driver);
    for (int i = 0; i < 3; ++i) {
      const auto trace = it.run();
      REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    }
    CHECK(it.session.host().version == "chrome 156.0.1 on linux (WebDriver)");
    CHECK(driver.made() == 1);
  }
  CHECK(driver.open_sessions() == 0);
}

TEST_CASE("WebDriverSession_SessionLostInMidRun_SaysHowFarItWas") {
  FakeDriver driver;
  driver.page = [&](const std::string& url) {
    FakePage page(url);
    page.get();
    page.post("/progress", R"({"phase":"run","done":12,"total":40})");
    driver.lose_all();
  };
  Bench it(driver);
  const auto trace = it.run();
  REQUIRE(!trace.ok());
  CHECK(trace.error().message ==
        "webdriver:chrome (chrome 156.0.1 on linux (WebDriver)) was lost: its driver says 'invalid session "
        "id: Unable to find session', in phase 'run', 12 of 40 done");
  CHECK(it.session.was_lost());
  CHECK(it.lost);
  driver.page = working_page;
  CHECK(it.run().ok());
  CHECK(driver.made() == 2);
}

TEST_CASE("WebDriverSession_PageThatHangs_IsNotALostBrowser") {
  FakeDriver driver;
  driver.page = [](const std::string& url) { FakePage(url).get(); };
  Bench it(driver);
  const auto trace = it.run(milliseconds(1500));
  REQUIRE(!trace.ok());
  CHECK(holds(trace.error().message, "gave no sign of life for 1.5 s"));
  CHECK(it.lost);
  CHECK(!it.session.was_lost());
  CHECK(driver.open_sessions() == 0);
}

TEST_CASE("WebDriverSession_StoppedByProgress_EndsItsSession") {
  FakeDriver driver;
  driver.page = [](const std::string& url) { FakePage(url).get(); };
  Bench it(driver);
  const auto begin = Clock::now();
  const auto trace =
      it.run(milliseconds(20000), [&](const auto&) { return Clock::now() - begin < milliseconds(500); });
  REQUIRE(!trace.ok());
  CHECK(trace.error().kind == ErrorKind::cancelled);
  CHECK(driver.open_sessions() == 0);
}

TEST_CASE("LostSession_DriverThatFails_CountsOnlyWhileThePageIsSilent") {
  const milliseconds lately{300};
  const milliseconds long_ago{6000};
  CHECK(!lost_session({.gone = false, .failures = 9, .why = "HTTP 500"}, lately));
  CHECK(!lost_session({.gone = false, .failures = 2, .why = "HTTP 500"}, long_ago));
  CHECK(!lost_session({.gone = false, .failures = 0, .why = "slow"}, long_ago));
  CHECK(lost_session({.gone = false, .failures = 3, .why = "HTTP 500"}, long_ago) == "was lost: HTTP 500");
  CHECK(lost_session({.gone = true, .failures = 0, .why = "no such window"}, lately));
}

TEST_CASE("WebDriverHost_BrowserLostInMidRun_IsBegunOnceMoreInAnother") {
  std::atomic<int> pages = 0;
  std::atomic<int> to_lose = 1;
  FakeDriver driver;
  driver.page = [&](const std::string& url) {
    ++pages;
    if (to_lose-- <= 0) return working_page(url);
    FakePage page(url);
    page.get();
    page.post("/progress", R"({"phase":"run","done":12,"total":40})");
    driver.lose_all();
  };
  const TestSite site;
  std::filesystem::create_directories(site.site / "engine");
  RunnerOptions options;
  options.site = site.site;
  options.web_driver.url = driver.url();
  HostContext context(options);
  const Target target = *parse_target("webdriver:chrome/strict");
  const auto host = find_host(target);
  REQUIRE(host.ok());
  const auto session = (*host)->open(target, context);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  ModelFile model;
  model.name = "tiny";
  model.bytes = bytes_of("model");
  RunRequest request;
  request.model = &model;
  std::string steps;
  const auto run = [&] {
    return (*session)->run(request,
                           [&](std::string_view step, auto, auto) { steps += std::string(step) + "\n"; });
  };
  const auto trace = run();
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(pages == 2);
  CHECK(holds(steps, "waiting for a browser of the grid\n"));
  CHECK(holds(steps, "its browser was lost, asking for another\n"));
  CHECK(holds(steps, "once more, as its browser was lost: "));
}

TEST_CASE("ReplayedSink_SecondTime_PassesOnWhatIsNewAndRefusesWhatDiffers") {
  std::vector<std::string> got;
  ReplayedSink sink([&](const std::string& name, const Tensor&) {
    got.push_back(name);
    return Status();
  });
  const TensorSink take = sink.sink();
  const auto one = Tensor::from_values<float>({1}, std::vector<float>{1.0F});
  const auto other = Tensor::from_values<float>({1}, std::vector<float>{2.0F});
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  CHECK(take("a", *one).ok());
  CHECK(take("b", *one).ok());
  sink.begin_again();
  CHECK(take("a", *one).ok());
  const Status missing = sink.replayed();
  REQUIRE(!missing.ok());
  CHECK(holds(missing.error().message, "'b' did not come again (1 of 2 values did)"));
  const Status differs = take("b", *other);
  REQUIRE(!differs.ok());
  CHECK(holds(differs.error().message, "'b' differs"));
  sink.begin_again();
  for (const char* name : {"a", "b", "c"}) CHECK(take(name, *one).ok());
  CHECK(sink.replayed().ok());
  CHECK(got == std::vector<std::string>{"a", "b", "c"});
  CHECK(!ReplayedSink({}).sink());
}

}  // namespace
}  // namespace driftscope::test::web_driver_test
