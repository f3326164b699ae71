// The service's "prepare" and "measure".
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "core/base/json.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/tensor.hpp"
#include "core/protocol/measure.hpp"
#include "core/protocol/service.hpp"

namespace driftscope::test::measure_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

json ask(Service& service, const json& request, const Bytes& payload = {}) {
  const Bytes reply = service.request(pack_message(json_text(request), payload));
  json answer = parse_json(unpack_message(reply).json);
  REQUIRE(answer.is_object());
  return answer;
}

json measure_to_end(Service& service, json request) {
  request["do"] = "measure";
  for (int i = 0; i < 100000; ++i) {
    json answer = ask(service, request);
    if (answer.contains("error") || answer["finished"] == true) return answer;
  }
  FAIL("never finished");
  return {};
}

struct Prepared {
  /// `name` and `value`: one more field of the request, or another value of one.
  explicit Prepared(const char* name = nullptr, const json& value = {}, RunRecorder* recorder = nullptr) {
    service.measure_into(recorder);
    std::ifstream file(std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/models/lenet1.onnx", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    REQUIRE(!ask(service, {{"do", "load"}}, {begin, begin + text.size()}).contains("error"));
    json request = {{"do", "prepare"},
                    {"target", "pc/strict:threads=1"},
                    {"seed", 42},
                    {"capture", "none"},
                    {"environment", {{"browser", "Test 1"}}}};
    if (name != nullptr) request[name] = value;
    answer = ask(service, request);
  }
  Service service;
  json answer;
};

TEST_CASE("Measure_Prepared_SaysWhatWillRun") {
  const Prepared prepared;
  REQUIRE_MESSAGE(!prepared.answer.contains("error"), json_text(prepared.answer));
  CHECK(prepared.answer["nodes"].get<int>() > 3);
  CHECK(prepared.answer["clock_ns"].get<double>() > 0.0);
  CHECK(prepared.answer["ran"]["engine"] == "strict");
  CHECK(prepared.answer["ran"]["threads_real"] == 1);
  CHECK(prepared.answer["ran"]["browser"] == "Test 1");
}

TEST_CASE("Measure_MostRuns_GivesAsManyReadings") {
  Prepared prepared;
  const json answer = measure_to_end(prepared.service, {{"slice_us", 60'000'000}, {"max_runs", 5}});
  REQUIRE_MESSAGE(!answer.contains("error"), json_text(answer));
  CHECK(answer["times_ns"].size() == 5);
  for (const json& time : answer["times_ns"]) CHECK(time.get<double>() > 0.0);
  CHECK(!answer["memory_kind"].get<std::string>().empty());
  CHECK(answer["preparing_ns"] == 0);
  CHECK(ask(prepared.service, {{"do", "describe"}})["ran"]["engine"] == "strict");
}

TEST_CASE("Measure_OneRunAtMost_IsOneReading") {
  Prepared prepared;
  const json answer = measure_to_end(prepared.service, {{"slice_us", 500'000}, {"max_runs", 1}});
  REQUIRE_MESSAGE(!answer.contains("error"), json_text(answer));
  CHECK(answer["times_ns"].size() == 1);
}

// The calls to it, a letter each, except for the values.
class WrittenOrder final : public RunRecorder {
 public:
  Status begin(const Graph& /*graph*/) override { return note('b'); }
  Status add(const std::string& /*name*/, const Tensor& /*tensor*/) override { return {}; }
  Status finish(const Trace& /*about*/) override { return note('f'); }
  Status discard() override { return note('d'); }
  std::string order;

 private:
  Status note(char what) {
    order += what;
    return {};
  }
};

TEST_CASE("Measure_RecordedRuns_AreDiscardedBetweenReadings") {
  WrittenOrder recorder;
  Prepared prepared("capture", "all", &recorder);
  const json answer =
      measure_to_end(prepared.service, {{"slice_us", 60'000'000}, {"inner", 2}, {"max_runs", 6}});
  CHECK(answer["times_ns"].size() == 3);
  CHECK(recorder.order == "dbfbfdbfbfdbfbf");
}

TEST_CASE("Measure_InnerRuns_MakeOneReading") {
  Prepared prepared;
  const json answer =
      measure_to_end(prepared.service, {{"slice_us", 60'000'000}, {"inner", 4}, {"max_runs", 12}});
  CHECK(answer["times_ns"].size() == 3);
}

TEST_CASE("Measure_NoTime_StillMeasuresOnce") {
  Prepared prepared;
  CHECK(measure_to_end(prepared.service, {{"slice_us", 0}})["times_ns"].size() == 1);
}

TEST_CASE("Measure_NoBudget_GoesOnWhereItWas") {
  Prepared prepared;
  const json first =
      ask(prepared.service, {{"do", "measure"}, {"max_runs", 2}, {"budget_ms", 0}, {"slice_us", 60'000'000}});
  CHECK(first["finished"] == false);
  // Parameters sent meanwhile are ignored: the slice already begun goes on.
  const json done = measure_to_end(prepared.service, {{"max_runs", 99}, {"budget_ms", 0}});
  CHECK(done["times_ns"].size() == 2);
}

TEST_CASE("Measure_ManyRuns_LeaveNoTensorBehind") {
  for (const char* capture : {"none", "all"}) {
    Prepared prepared("capture", capture);
    REQUIRE_MESSAGE(!prepared.answer.contains("error"), json_text(prepared.answer));
    const auto alive = [&] {
      return measure_to_end(prepared.service, {{"slice_us", 60'000'000}, {"max_runs", 3}});
    };
    const json before = alive();
    const json after = alive();
    CHECK(before["alive_tensors"].get<int>() > 0);
    CHECK(before["alive_tensors"] == after["alive_tensors"]);
    CHECK(before["alive_bytes"] == after["alive_bytes"]);
  }
}

TEST_CASE("Measure_BadRequests_AreRejected") {
  Service service;
  CHECK(ask(service, {{"do", "measure"}}).contains("error"));
  CHECK(ask(service, {{"do", "describe"}}).contains("error"));
  CHECK(ask(service, {{"do", "prepare"}, {"target", "pc/strict"}, {"seed", 1}}).contains("error"));
  Prepared prepared;
  for (const json& bad : {json{{"inner", 0}}, json{{"inner", -1}}, json{{"slice_us", -5}},
                          json{{"max_runs", 1.5}}, json{{"slice_us", "soon"}}}) {
    json request = bad;
    request["do"] = "measure";
    CHECK(ask(prepared.service, request)["error"]["kind"] == "bad_input");
  }
  CHECK(Prepared("repeat", 2).answer.contains("error"));
  CHECK(Prepared("capture", "nothing").answer.contains("error"));
  CHECK(Prepared("target", "pc/none").answer.contains("error"));
  const json start = {{"do", "start"}, {"target", "pc/strict"}, {"seed", 1}, {"capture", "none"}};
  CHECK(ask(prepared.service, start).contains("error"));
}

TEST_CASE("AliveTensors_CountsBuffersNotViews") {
  const AliveTensors before = alive_tensors();
  {
    const auto tensor = Tensor::make(DType::float32, {4, 4});
    REQUIRE(tensor.ok());
    const auto view = tensor->reshaped({16});
    CHECK(alive_tensors().count == before.count + 1);
    CHECK(alive_tensors().bytes == before.bytes + 64);
  }
  CHECK(alive_tensors().count == before.count);
  CHECK(alive_tensors().bytes == before.bytes);
}

}  // namespace
}  // namespace driftscope::test::measure_test
