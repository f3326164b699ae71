// Jobs in browsers of a WebDriver elsewhere, against one that starts none: one after the other in a browser,
// browsers that are lost, other versions. With a real one: tests/e2e/cli/webdriver.test.mjs.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>

#include "core/trace/trace_file.hpp"
#include "native/bench/bench_page.hpp"
#include "native/browser/fake_driver.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/browser/web_driver_fixture.hpp"
#include "native/browser/webdriver_session.hpp"
#include "native/host/host.hpp"
#include "native/host/replayed_sink.hpp"

namespace driftscope::test::webdriver_session_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

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

TEST_CASE("WebDriverSession_DriverThatOpensNoPage_IsAnErrorAndItsSessionEnds") {
  FakeDriver driver;
  driver.new_session = [&](httplib::Response& response) {
    driver.give_session(response);
    // Appium's fake driver, which gives capabilities without their prefix
    constexpr std::string_view system = R"("platformName":"linux")";
    response.body.replace(response.body.find(system), system.size(),
                          R"("platformName":"Fake","deviceName":"Fake Phone")");
  };
  driver.page_answer = [](httplib::Response& response) {
    response.status = 405;
    response.set_content(
        R"({"value":{"error":"unknown method","message":"Method has not yet been implemented",)"
        R"("stacktrace":"NotYetImplementedError: …"}})",
        "application/json");
  };
  Bench it(driver);
  const auto trace = it.run();
  REQUIRE(!trace.ok());
  CHECK(
      trace.error().message ==
      "webdriver:chrome (chrome 156.0.1 on Fake Phone, Fake (WebDriver)) could not open the page: its driver "
      "says 'unknown method: Method has not yet been implemented'; how browsers elsewhere reach this "
      "machine: "
      "docs/webdriver.md");
  CHECK(driver.made() == 1);
  CHECK(driver.open_sessions() == 0);
  CHECK(!it.session.was_lost());
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
}  // namespace driftscope::test::webdriver_session_test
