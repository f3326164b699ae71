// "start" with "unwatched_ms": the time of the whole model after the watched run.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/json.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/platform/heap.hpp"
#include "core/platform/platform.hpp"
#include "core/protocol/service.hpp"
#include "core/results/run_times.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope::test::timed_run_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

Bytes lenet() {
  std::ifstream file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/models/lenet5.onnx", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  REQUIRE(!text.empty());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct Reply {
  json head;
  Bytes payload;
};

Reply ask(Service& service, const json& request, const Bytes& payload = {}) {
  const Bytes bytes = service.request(pack_message(json_text(request), payload));
  const Message message = unpack_message(bytes);
  return {parse_json(message.json), {message.payload.begin(), message.payload.end()}};
}

json start(int unwatched_ms) {
  return {{"do", "start"}, {"target", "pc/strict:threads=1"}, {"seed", 42}, {"unwatched_ms", unwatched_ms}};
}

struct Timed {
  Trace trace;
  bool timing = false;  // some poll said so
};

Timed run_to_end(Service& service, const json& request) {
  const Reply started = ask(service, request);
  REQUIRE_MESSAGE(!started.head.contains("error"), json_text(started.head));
  Timed timed;
  for (int i = 0; i < 100'000; ++i) {
    const Reply polled = ask(service, {{"do", "poll"}, {"budget_ms", 5}});
    REQUIRE_MESSAGE(!polled.head.contains("error"), json_text(polled.head));
    timed.timing = timed.timing || polled.head.value("timing", false);
    if (polled.head["finished"] != true) continue;
    const Reply finished = ask(service, {{"do", "finish"}});
    REQUIRE_MESSAGE(!finished.head.contains("error"), json_text(finished.head));
    auto trace = read_trace(finished.payload);
    REQUIRE(trace.ok());
    timed.trace = *std::move(trace);
    return timed;
  }
  FAIL("never finished");
  return timed;
}

}  // namespace

TEST_CASE("TimedRun_UnwatchedMs_MeasuresTheWholeModelBesideEveryValue") {
  Service service;
  ask(service, {{"do", "load"}}, lenet());
  const Timed timed = run_to_end(service, start(20));
  CHECK(timed.timing);
  const auto times = run_times_of(timed.trace);
  REQUIRE(times);
  CHECK(times->watched_ns.size() == 1);
  REQUIRE(times->unwatched);
  CHECK(times->unwatched->error.empty());
  CHECK(times->unwatched->runs >= 2);
  CHECK(times->unwatched->first_ns > 0.0);
  CHECK(run_time(timed.trace).kind == TimeKind::unwatched);
  // What the watched run recorded is all there.
  for (const NodeRecord& node : timed.trace.nodes) {
    CHECK(node.time_ns.size() == 1);
    for (const std::string& output : node.outputs) CHECK(timed.trace.find(output));
  }
}

TEST_CASE("TimedRun_WithoutUnwatchedMs_OnlyWatches") {
  Service service;
  ask(service, {{"do", "load"}}, lenet());
  const Timed timed = run_to_end(service, start(0));
  CHECK_FALSE(timed.timing);
  CHECK(run_time(timed.trace).kind == TimeKind::watched);
}

TEST_CASE("TimedRun_ModelOutsideLoadedOnce_IsReadAgain") {
  const Bytes model = lenet();
  int reads_of_the_first_byte = 0;
  Service service;
  service.load_from([&](std::uint64_t offset, std::span<std::byte> target) {
    reads_of_the_first_byte += offset == 0 && !target.empty() ? 1 : 0;
    std::memcpy(target.data(), model.data() + offset, target.size());
  });
  ask(service, {{"do", "load"}, {"once", true}, {"outside", model.size()}});
  const int reads_of_a_load = reads_of_the_first_byte;
  const Timed timed = run_to_end(service, start(20));
  CHECK(reads_of_the_first_byte > reads_of_a_load);
  CHECK(run_time(timed.trace).kind == TimeKind::unwatched);
  CHECK(timed.trace.model_sha256.size() == 64);
}

TEST_CASE("TimedRun_ModelThatIsGone_KeepsWhatWasRecordedAndSaysWhy") {
  Service service;
  ask(service, {{"do", "load"}, {"once", true}}, lenet());
  const Timed timed = run_to_end(service, start(20));
  const RunTime time = run_time(timed.trace);
  CHECK(time.kind == TimeKind::watched);
  CHECK(time.error.find("need the model once more") != std::string::npos);
  CHECK(timed.trace.tensors.size() > 10);
}

TEST_CASE("TimedRun_MemoryRuns_SamplesWhatTheServiceSees") {
  Service service;
  ask(service, {{"do", "load"}}, lenet());
  json request = start(20);
  request["memory_runs"] = 60;
  const Timed timed = run_to_end(service, request);
  const auto memory = memory_over_runs_of(timed.trace);
  REQUIRE(memory);
  CHECK(memory->runs >= 20);
  CHECK(memory->runs <= 60);
  if (heap_in_use() > 0) {  // a sanitizer's allocator does not say
    REQUIRE(!memory->series.empty());
    // A WebAssembly heap is the service's alone.
    const bool alone = platform_name().starts_with("wasm");
    const std::string kind = alone ? "heap_in_use" : "shared_heap_in_use";
    CHECK(memory->series.front().kind == kind);
    CHECK(memory->series.front().runs.size() >= 20);
    CHECK(growth_of(*memory) == Growth::flat);
  }
  // Both follow the watched run, which is all there.
  CHECK(run_time(timed.trace).kind == TimeKind::unwatched);
  CHECK(timed.trace.tensors.size() > 10);
}

TEST_CASE("TimedRun_WithSamples_IsRefused") {
  Service service;
  ask(service, {{"do", "load"}}, lenet());
  json request = start(20);
  request["samples"] = 2;
  CHECK(json_text(ask(service, request).head).find("exclude each other") != std::string::npos);
}

}  // namespace driftscope::test::timed_run_test
