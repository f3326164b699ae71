// Runs on devices for the page of a hub's owner: what a page may ask, what it is told, and when a run ends.
#include "native/host/page_runs.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "core/base/json.hpp"
#include "core/trace/trace_file.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope::test::page_runs_test {
namespace {

using std::chrono::milliseconds;

std::vector<std::byte> model() {
  std::ifstream file(DRIFTSCOPE_SOURCE_DIR "/assets/models/lenet1.onnx", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

struct Reply {
  nlohmann::json head;
  std::vector<std::byte> payload;
  [[nodiscard]] std::string error() const {
    return head.contains("error") ? head["error"]["message"].get<std::string>() : "";
  }
};

Reply read(const std::vector<std::byte>& response) {
  const Message message = unpack_message(response);
  return {parse_json(message.json), {message.payload.begin(), message.payload.end()}};
}

Reply send(RunElsewhere& run, const std::string& head, std::span<const std::byte> payload = {}) {
  return read(run.request(pack_message(head, payload)));
}

constexpr const char* load = R"({"do":"load","target":"remote:phone/strict"})";
constexpr const char* start = R"({"do":"start","target":"remote:phone/strict","seed":42,"repeat":3})";
constexpr const char* poll = R"({"do":"poll","budget_ms":20})";

/// The device is this process, by the same session as any other target's.
Result<Trace> run_here(const Target& target, const RunRequest& request, const TargetProgress& progress) {
  TargetRunner runner({});
  Target here = target;
  here.host = "pc";
  DRIFTSCOPE_TRY(Trace trace, runner.run(here, request, progress));
  trace.target = target.text();
  return trace;
}

void until(const std::atomic<bool>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!done && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  REQUIRE(done);
}

/// Blocks until it is stopped, as a device that works.
struct Blocked {
  std::atomic<bool> began = false;
  std::atomic<bool> ended = false;
  [[nodiscard]] RunTarget run() {
    return [this](const Target&, const RunRequest& request, const TargetProgress& progress) -> Result<Trace> {
      progress("running", 3, 40);
      began = true;
      while (!request.stopped()) std::this_thread::sleep_for(milliseconds(1));
      ended = true;
      return Error{ErrorKind::cancelled, "stopped"};
    };
  }
};

Reply poll_to_end(RunElsewhere& run) {
  for (int i = 0; i < 3000; ++i) {
    Reply reply = send(run, poll);
    if (!reply.error().empty() || reply.head.value("finished", false)) return reply;
  }
  return {};
}

}  // namespace

TEST_CASE("PageRun_ARun_GivesTheTraceOfItsTarget") {
  std::optional<messages::RunPlan> plan;
  const auto run =
      page_run([&](const Target& target, const RunRequest& request, const TargetProgress& progress) {
        plan = request.plan;
        return run_here(target, request, progress);
      });
  const Reply loaded = send(*run, load, model());
  CHECK(loaded.error() == "");
  CHECK(loaded.head.at("nodes") > 3);
  CHECK(send(*run, start).error() == "");
  const Reply last = poll_to_end(*run);
  CHECK(last.error() == "");
  CHECK(last.head.at("finished") == true);
  CHECK(plan->repeat == 3);
  const Reply done = send(*run, R"({"do":"finish"})");
  CHECK(done.error() == "");
  CHECK(done.head.at("layers").size() > 3);
  CHECK(done.head.at("outputs").size() == 1);
  CHECK(done.head.at("run").contains("inputs"));  // what the seed chose
  const auto trace = read_trace(done.payload);
  REQUIRE(trace.ok());
  CHECK(trace->target == "remote:phone/strict");
  CHECK(trace->tensors.size() > 5);
  CHECK(send(*run, R"({"do":"finish"})").error().find("without a run") != std::string::npos);
}

TEST_CASE("PageRun_WholeSet_HasItsPredictions") {
  const auto run = page_run(run_here);
  const Reply loaded = send(*run, load, model());
  REQUIRE(loaded.error() == "");
  const auto& input = loaded.head.at("inputs").at(0);
  Shape shape = {2};
  for (const auto& size : input.at("shape")) shape.push_back(size.is_number() ? size.get<std::int64_t>() : 1);
  Trace carrier;
  carrier.tensors.push_back({input.at("name"), *Tensor::make(DType::float32, shape)});
  const auto inputs = write_trace(carrier);
  REQUIRE(inputs.ok());
  const char* samples = R"({"do":"start","target":"remote:phone/strict","samples":2,"capture":"outputs"})";
  CHECK(send(*run, samples, *inputs).error() == "");
  const Reply last = poll_to_end(*run);
  CHECK(last.error() == "");
  CHECK(last.head.at("samples") == 2);
  CHECK(send(*run, R"({"do":"finish"})").head.at("predictions").size() == 2);
}

TEST_CASE("PageRun_WhileItRuns_SaysWhatGoesOn") {
  Blocked blocked;
  const auto run = page_run(blocked.run());
  CHECK(send(*run, load, model()).error() == "");
  CHECK(send(*run, start).error() == "");
  until(blocked.began);
  const Reply now = send(*run, poll);
  CHECK(now.head.at("step") == "running");
  CHECK(now.head.at("done") == 3);
  CHECK(now.head.at("total") == 40);
  CHECK(now.head.at("finished") == false);
  CHECK(send(*run, R"({"do":"finish"})").error().find("before the run has ended") != std::string::npos);
}

TEST_CASE("PageRun_DeviceThatIsLost_IsTheRunsError") {
  const auto run = page_run([](const Target&, const RunRequest&, const TargetProgress&) -> Result<Trace> {
    return missing_error("remote:phone lost its page in the run, after 12 of 40 layers");
  });
  CHECK(send(*run, load, model()).error() == "");
  CHECK(send(*run, start).error() == "");
  const Reply last = poll_to_end(*run);
  CHECK(last.error().find("after 12 of 40 layers") != std::string::npos);
  CHECK(last.head["error"]["kind"] == "missing");
}

TEST_CASE("PageRun_PageThatIsGone_EndsTheRun") {
  Blocked blocked;
  const auto run = page_run(blocked.run(), milliseconds(50));
  CHECK(send(*run, load, model()).error() == "");
  CHECK(send(*run, start).error() == "");
  until(blocked.began);
  until(blocked.ended);
  // A page that was asleep learns why; it is not what its user wanted.
  const Reply late = send(*run, poll);
  CHECK(late.error().find("the page said nothing") != std::string::npos);
  CHECK(late.head["error"]["kind"] == "io");
}

TEST_CASE("PageRun_ThatIsNotWantedAnyMore_IsEnded") {
  Blocked blocked;
  {
    const auto run = page_run(blocked.run());
    CHECK(send(*run, load, model()).error() == "");
    CHECK(send(*run, start).error() == "");
    until(blocked.began);
  }
  CHECK(blocked.ended);
}

TEST_CASE("PageRun_WhatAPageMayNotAsk_IsAnError") {
  const auto run = page_run(run_here);
  CHECK(send(*run, start).error().find("before a model was loaded") != std::string::npos);
  CHECK(send(*run, poll).error().find("without a run") != std::string::npos);
  CHECK(send(*run, R"({"do":"load","outside":10})").error().find("outside") != std::string::npos);
  CHECK(send(*run, load).error().find("no model bytes") != std::string::npos);
  const char* huge = R"({"do":"load","attachments":[{"name":"a","bytes":9223372036854775807}]})";
  CHECK(send(*run, huge, model()).error().find("only") != std::string::npos);
  CHECK(send(*run, load, model()).error() == "");
  for (const char* other : {"pc/strict", "chrome/strict", "file/etc/passwd"})
    CHECK_MESSAGE(
        send(*run, std::string(R"({"do":"start","seed":1,"target":")") + other + "\"}").error() != "", other);
  CHECK(send(*run, R"({"do":"start","target":"remote:phone/strict"})").error().find("neither inputs") !=
        std::string::npos);
  CHECK(send(*run, R"({"do":"measure"})").error() != "");
  CHECK(send(*run, "[]").error().find("expected a JSON object") != std::string::npos);
}

// The one gate of a server: which runs go where.
TEST_CASE("PcRuns_RunsOfDevices_GoElsewhereAndOneAtATime") {
  Blocked blocked;
  PcRuns runs([&] { return page_run(blocked.run()); });
  const auto ask = [&](const char* run, const char* head, std::span<const std::byte> payload = {}) {
    return read(runs.exchange(run, pack_message(head, payload)));
  };
  CHECK(ask("a", load, model()).error() == "");
  CHECK(ask("a", R"({"do":"start","target":"pc/strict","seed":42})").error().find("another host") !=
        std::string::npos);
  CHECK(ask("a", start).error() == "");
  until(blocked.began);
  CHECK(ask("b", R"({"do":"load","target":"pc/strict"})", model()).error().find("another page") !=
        std::string::npos);
  CHECK(!blocked.ended);
  CHECK(ask("b", R"({"do":"cancel"})").error().find("another page") != std::string::npos);
  CHECK(ask("a", R"({"do":"cancel"})").error() == "");
  CHECK(blocked.ended);
  CHECK(ask("b", R"({"do":"load","target":"pc/strict"})", model()).error() == "");
  CHECK(ask("b", start).error().find("another host") != std::string::npos);
  PcRuns without;
  CHECK(read(without.exchange("a", pack_message(load, model()))).error().find("host pc only") !=
        std::string::npos);
}

}  // namespace driftscope::test::page_runs_test
