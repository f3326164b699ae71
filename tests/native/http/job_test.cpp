#include <doctest/doctest.h>

#include <thread>

#include "native/http/raw_http.hpp"

namespace driftscope::test::job_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

struct JobSite : TestSite {
  explicit JobSite(std::size_t max_trace_bytes = 1 << 20)
      : TestSite([&] {
          ServerOptions options;
          options.max_trace_bytes = max_trace_bytes;
          return options;
        }()) {}

  std::shared_ptr<Job> add(const std::string& model = "model bytes") {
    auto job = server->jobs().add(
        {R"({"format":"driftscope-job-1"})", bytes_of(model), {bytes_of("weights")}, bytes_of("inputs")});
    return *std::move(job);
  }
  static std::string path(const Job& job, const std::string& rest = "") {
    return "/api/jobs/" + job.id() + rest;
  }
};

TEST_CASE("Job_Fetched_GivesDescriptionModelAndInputs") {
  JobSite site;
  const auto job = site.add();
  CHECK_FALSE(job->wait(milliseconds(0)).opened);
  CHECK(body_of(site.get(JobSite::path(*job))) == R"({"format":"driftscope-job-1"})");
  CHECK(job->wait(milliseconds(0)).opened);
  CHECK(body_of(site.get(JobSite::path(*job, "/model"))) == "model bytes");
  CHECK(body_of(site.get(JobSite::path(*job, "/inputs"))) == "inputs");
  CHECK(body_of(site.get(JobSite::path(*job, "/attachments/0"))) == "weights");
  CHECK(status_of(site.get(JobSite::path(*job, "/attachments/1"))) == 404);
  CHECK(site.get(JobSite::path(*job)).find("Cache-Control: no-store") != std::string::npos);
}

TEST_CASE("Job_Unknown_NotFound") {
  JobSite site;
  CHECK(status_of(site.get("/api/jobs/0123456789abcdef")) == 404);
  CHECK(status_of(site.post("/api/jobs/0123456789abcdef/result", "x")) == 404);
  CHECK(status_of(site.get("/api/jobs/")) == 404);
}

TEST_CASE("Job_Progress_SeenByTheOneWhoWaits") {
  JobSite site;
  const auto job = site.add();
  const std::string reply = site.post(JobSite::path(*job, "/progress"),
                                      R"({"phase":"run","done":3,"total":7,"sample":1,"samples":2,)"
                                      R"("prepared":4,"to_prepare":9})");
  CHECK(body_of(reply) == R"({"stop":false})");
  const Job::Snapshot now = job->wait(milliseconds(0));
  CHECK(now.progress == JobProgress{messages::Phase::run, 3, 7, 1, 2, 4, 9});
  CHECK(now.run_began);
  CHECK_FALSE(now.over);
}

TEST_CASE("Job_SameProgressAgain_IsASignOfLifeAndNoChange") {
  JobSite site;
  const auto job = site.add();
  const auto told = [&](const std::string& text) {
    CHECK(status_of(site.post(JobSite::path(*job, "/progress"), text)) == 200);
    return job->wait(milliseconds(0));
  };
  const auto first = told(R"({"phase":"compile","prepared":1,"to_prepare":2})");
  CHECK_FALSE(first.worker_answered);
  const auto again = told(R"({"phase":"compile","prepared":1,"to_prepare":2,"worker_silent_ms":60000})");
  CHECK(again.last_sign > first.last_sign);
  CHECK(again.last_change == first.last_change);
  REQUIRE(again.worker_answered);
  CHECK(*again.worker_answered == again.last_sign - std::chrono::minutes(1));
  const auto other = told(R"({"phase":"compile","prepared":2,"to_prepare":2})");
  CHECK(other.last_change == other.last_sign);
}

TEST_CASE("Job_ProgressThatIsNoProgress_ChangesNothing") {
  JobSite site;
  const auto job = site.add();
  for (const char* text : {"", "[]", "nonsense", "{\"phase\":", "\xff\xfe"})
    CHECK(status_of(site.post(JobSite::path(*job, "/progress"), text)) >= 400);
  for (const char* text :
       {R"({"phase":7})", R"({"phase":"dance"})", R"({"phase":"run","done":"x"})",
        R"({"phase":"run","total":-5})", R"({"phase":"run","worker_silent_ms":9223372036854775807})",
        R"({"phase":"run","sample":1e300})", R"({"done":1})"})
    CHECK(status_of(site.post(JobSite::path(*job, "/progress"), text)) == 400);
  const auto reply = site.post(JobSite::path(*job, "/progress"), R"({"phase":"run","dome":1})");
  CHECK(body_of(reply).find("unknown field 'dome'") != std::string::npos);
  CHECK(job->wait(milliseconds(0)).progress == JobProgress{});
  CHECK(status_of(site.post(JobSite::path(*job, "/progress"), std::string(70000, ' '))) == 413);
}

TEST_CASE("Job_Result_EndsTheWaitOnce") {
  JobSite site;
  const auto job = site.add();
  std::thread page([&] {
    std::this_thread::sleep_for(milliseconds(50));
    CHECK(status_of(site.post(JobSite::path(*job, "/result"), "trace")) == 200);
  });
  while (!job->wait(milliseconds(1000)).over) {
  }
  page.join();
  const auto trace = job->take();
  REQUIRE(trace.ok());
  CHECK(trace->size() == 5);
  CHECK(status_of(site.post(JobSite::path(*job, "/result"), "again")) == 409);
  CHECK(status_of(site.get(JobSite::path(*job))) == 404);
}

TEST_CASE("Job_ErrorOfThePage_KeepsKindAndMessage") {
  JobSite site;
  const auto job = site.add();
  CHECK(status_of(site.post(JobSite::path(*job, "/error"),
                            R"({"kind":"unsupported","message":"node Foo_1: unknown"})")) == 200);
  const auto trace = job->take();
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().kind == ErrorKind::unsupported);
  CHECK(trace.error().message == "node Foo_1: unknown");
}

TEST_CASE("Job_TraceTooLarge_FailsTheJobWith413") {
  JobSite site(1000);
  const auto job = site.add();
  CHECK(status_of(site.post(JobSite::path(*job, "/result"), std::string(1001, 'x'))) == 413);
  const auto chunked =
      site.request("POST", site.token + JobSite::path(*site.add(), "/result"),
                   "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x') + "\r\n0\r\n");
  CHECK(status_of(chunked) == 413);
  CHECK(status_of(site.post(JobSite::path(*site.add(), "/result"), std::string(1000, 'x'))) == 200);
}

TEST_CASE("Job_Cancelled_TellsThePageToStop") {
  JobSite site;
  const auto job = site.add();
  job->cancel();
  const std::string reply = site.post(JobSite::path(*job, "/progress"), R"({"phase":"run"})");
  CHECK(status_of(reply) == 409);
  CHECK(body_of(reply) == R"({"stop":true})");
  CHECK(job->take().error().kind == ErrorKind::cancelled);
}

TEST_CASE("JobBoard_TwoJobs_DoNotMix") {
  JobSite site;
  const auto one = site.add("first");
  const auto two = site.add("second");
  CHECK(one->id() != two->id());
  CHECK(body_of(site.get(JobSite::path(*two, "/model"))) == "second");
  CHECK(status_of(site.post(JobSite::path(*two, "/result"), "2")) == 200);
  CHECK_FALSE(one->wait(milliseconds(0)).over);
  site.server->jobs().remove(two->id());
  CHECK(status_of(site.get(JobSite::path(*two, "/model"))) == 404);
  CHECK(body_of(site.get(JobSite::path(*one, "/model"))) == "first");
}

TEST_CASE("LongPoll_RequestsAndResponsesTakeTurns") {
  JobSite site;
  const auto job = site.add();
  CHECK(status_of(site.post(JobSite::path(*job, "/response"), "{}")) == 409);  // there was no request
  std::thread page([&] {
    // The first waits until there is a request.
    CHECK(body_of(site.get(JobSite::path(*job, "/request"))) == R"({"do":"hello"})");
    CHECK(status_of(site.post(JobSite::path(*job, "/response"), R"({"n":1})")) == 200);
  });
  std::this_thread::sleep_for(milliseconds(50));
  CHECK_FALSE(job->long_poll().response(milliseconds(0)));
  job->long_poll().send(R"({"do":"hello"})");
  std::optional<std::string> answer;
  for (int i = 0; i < 100 && !answer; ++i) answer = job->long_poll().response(milliseconds(100));
  page.join();
  CHECK(answer == R"({"n":1})");
  CHECK(status_of(site.post(JobSite::path(*job, "/response"), R"({"n":2})")) == 409);
}

TEST_CASE("LongPoll_JobOver_NobodyWaitsOn") {
  JobSite site;
  const auto job = site.add();
  std::thread page([&] { CHECK(status_of(site.get(JobSite::path(*job, "/request"))) == 404); });
  std::this_thread::sleep_for(milliseconds(50));
  job->cancel();
  page.join();
  CHECK_FALSE(job->long_poll().response(milliseconds(10000)));
  CHECK(status_of(site.get(JobSite::path(*job, "/request"))) == 404);
}

TEST_CASE("Server_CountsWhatItSends") {
  JobSite site;
  const auto job = site.add(std::string(5000, 'm'));
  const Traffic before = site.server->traffic();
  CHECK(body_of(site.get(JobSite::path(*job, "/model"))).size() == 5000);
  Traffic after = site.server->traffic();
  // The count is updated after the last byte is sent; the client may be faster.
  for (int i = 0; i < 100 && after.bytes == before.bytes; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    after = site.server->traffic();
  }
  CHECK(after.bytes - before.bytes == 5000);
  CHECK(after.job_bytes - before.job_bytes == 5000);
  CHECK(after.engine_bytes == before.engine_bytes);
}

}  // namespace
}  // namespace driftscope::test::job_test
