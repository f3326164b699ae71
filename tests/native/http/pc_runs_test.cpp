// Runs on the PC for a page: who may begin one, and what it may ask.
#include "native/http/pc_runs.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "core/base/json.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope::test::pc_runs_test {
namespace {

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

Reply send(PcRuns& runs, const std::string& run, const char* head, std::span<const std::byte> payload = {}) {
  const std::vector<std::byte> response = runs.exchange(run, pack_message(head, payload));
  const Message message = unpack_message(response);
  return {parse_json(message.json), {message.payload.begin(), message.payload.end()}};
}

}  // namespace

TEST_CASE("PcRuns_ARun_GivesATraceOfThisPc") {
  PcRuns runs;
  CHECK(send(runs, "a", R"({"do":"load","target":"pc/strict"})", model()).error() == "");
  CHECK(send(runs, "a", R"({"do":"start","target":"pc/strict","seed":42,"environment":{"host":"pc"}})")
            .error() == "");
  for (int i = 0; i < 1000; ++i)
    if (send(runs, "a", R"({"do":"poll","budget_ms":100})").head.value("finished", false)) break;
  const Reply done = send(runs, "a", R"({"do":"finish"})");
  CHECK(done.error() == "");
  const auto trace = read_trace(done.payload);
  REQUIRE(trace.ok());
  CHECK(trace->target == "pc/strict");
  CHECK(trace->tensors.size() > 5);
  // It has ended, and its model is gone.
  CHECK(send(runs, "a", R"({"do":"poll"})").error().find("begins with load") != std::string::npos);
}

TEST_CASE("PcRuns_ASecondRun_WaitsForTheFirst") {
  PcRuns runs;
  CHECK(send(runs, "a", R"({"do":"load"})", model()).error() == "");
  CHECK(send(runs, "b", R"({"do":"load"})", model()).error().find("another page") != std::string::npos);
  CHECK(send(runs, "a", R"({"do":"finish"})").error() != "");  // nothing was started: the run has failed
  CHECK(send(runs, "b", R"({"do":"load"})", model()).error() == "");
}

TEST_CASE("PcRuns_WhatAPageMayNotAsk_IsAnError") {
  PcRuns runs;
  CHECK(send(runs, "a", R"({"do":"conformance"})").error().find("nothing else") != std::string::npos);
  CHECK(send(runs, "a", R"({"do":"load","target":"chrome/strict"})").error().find("host pc") !=
        std::string::npos);
  CHECK(send(runs, "a", "[]").error().find("expected a message") != std::string::npos);
  CHECK(send(runs, "a", R"({"do":"start"})").error().find("begins with load") != std::string::npos);
  CHECK(unpack_message(runs.exchange("a", {})).json.find("expected a message") != std::string::npos);
}

TEST_CASE("PcTargets_BeginWithTheDefault" * doctest::test_suite("posix")) {
  const std::vector<std::string> targets = pc_targets();
  REQUIRE(!targets.empty());
  CHECK(targets.front() == "pc/strict");
}

}  // namespace driftscope::test::pc_runs_test
