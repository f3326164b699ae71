// The service's "topology", "compare" and "advance", with runs done by another service, like a separate
// worker on a page.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/safetensors.hpp"
#include "core/trace/trace_file.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::service_comparison_test {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

struct Answer {
  json head;
  Bytes payload;
};

Answer ask(Service& service, const json& request, const Bytes& payload = {}) {
  const Bytes bytes = service.request(pack_message(json_text(request), payload));
  const Message message = unpack_message(bytes);
  return {parse_json(message.json), Bytes(message.payload.begin(), message.payload.end())};
}

Bytes small_model() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 4}).node("Relu", {"x"}, {"y"}).named("only").output("y");
  return model.bytes();
}

/// The page's part for a question.
Bytes run_elsewhere(const json& run) {
  Service service;
  ask(service, {{"do", "load"}}, small_model());
  json start = {{"do", "start"}, {"target", run["target"]}, {"capture", "all"}};
  Bytes inputs;
  if (run["purpose"] == "dataset") {
    start["samples"] = 3;
    Safetensors file;
    file.tensors = {{"x", tensor<float>({3, 1, 4}, {9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 9})}};
    inputs = *write_safetensors(file);
  } else {
    start["seed"] = 42;
  }
  const json started = ask(service, start, inputs).head;
  REQUIRE_MESSAGE(started.contains("nodes"), json_text(started));
  while (!ask(service, {{"do", "poll"}}).head.value("finished", false)) {
  }
  return ask(service, {{"do", "finish"}}).payload;
}

Bytes with_damage(const Bytes& bytes) {
  auto trace = read_trace(bytes);
  REQUIRE(trace.ok());
  for (NamedTensor& named : trace->tensors)
    if (named.name == "y") named.tensor.mutable_values<float>()[0] += 1.0f;
  auto written = write_trace(*trace);
  REQUIRE(written.ok());
  return *std::move(written);
}

struct Comparison {
  Service service = {};
  std::vector<std::string> runs = {};
  std::vector<json> results = {};
  std::string failing = {};  // a target whose runs fail
  std::string damaged = {};  // one whose output is off by 1

  explicit Comparison(json request) {
    ask(service, {{"do", "load"}}, small_model());
    request["do"] = "compare";
    const json answer = ask(service, request).head;
    REQUIRE_MESSAGE(!answer.contains("error"), json_text(answer));
  }

  void to_end() {
    json advance = {{"do", "advance"}};
    Bytes trace;
    for (int steps = 0; steps < 100; ++steps) {
      const auto [answer, payload] = ask(service, advance, trace);
      REQUIRE_MESSAGE(!answer.contains("error"), json_text(answer));
      if (answer.contains("result")) {
        results.push_back(answer["result"]);
        results.back()["comparison"] =
            parse_json({reinterpret_cast<const char*>(payload.data()), payload.size()});
      }
      if (answer["finished"] == true) return;
      advance = {{"do", "advance"}};
      trace.clear();
      if (answer.contains("run")) take_up(answer["run"], advance, trace);
    }
    FAIL("it does not end");
  }

  void take_up(const json& run, json& advance, Bytes& trace) {
    runs.push_back(std::to_string(run["place"].get<int>()) + " " + run["target"].get<std::string>() + " " +
                   run["purpose"].get<std::string>());
    CHECK(ask(service, {{"do", "advance"}}).head["waiting"] == true);
    advance["run"] = run["id"];
    if (run["target"] == failing)
      advance["error"] = {{"kind", "missing"}, {"message", "not here"}};
    else
      trace = run_elsewhere(run);
    if (run["target"] == damaged) trace = with_damage(trace);
  }
};

}  // namespace

TEST_CASE("ServiceComparison_RunsElsewhere_AreVerifiedAndCompared") {
  Comparison comparison(json{{"targets", {"pc/strict", "pc/reference"}}, {"threads", 1}});
  comparison.to_end();
  CHECK(comparison.runs == std::vector<std::string>{"0 pc/strict layers", "1 pc/reference layers"});
  REQUIRE(comparison.results.size() == 2);
  const json& left = comparison.results[0];
  CHECK(left["place"] == 0);
  CHECK(left["done"] == true);
  CHECK(left["recorded"] == true);
  CHECK(left["comparison"]["left"]["verify"]["verdict"] == "identical");
  CHECK(left["comparison"]["right"].empty());
  const json& right = comparison.results[1]["comparison"];
  CHECK(right["left"]["target"] == "pc/strict");
  CHECK(right["right"][0]["target"] == "pc/reference");
  CHECK(right["right"][0]["layers"].size() == 1);
}

TEST_CASE("ServiceComparison_ADataSet_IsToldAfterTheLayers") {
  Comparison comparison(
      json{{"targets", {"pc/strict", "pc/reference"}}, {"samples", 3}, {"labels", {0, 1, 1}}});
  comparison.to_end();
  CHECK(comparison.runs == std::vector<std::string>{"0 pc/strict layers", "0 pc/strict dataset",
                                                    "1 pc/reference layers", "1 pc/reference dataset"});
  REQUIRE(comparison.results.size() == 4);
  CHECK(comparison.results[2]["done"] == false);
  CHECK(!comparison.results[2]["comparison"]["right"][0].contains("dataset"));
  CHECK(comparison.results[1]["comparison"]["left"]["dataset"]["agree"] == 3);
  const json& said = comparison.results[3]["comparison"]["right"][0]["dataset"];
  CHECK(said["samples"] == 3);
  CHECK(said["correct"] == 2);
  CHECK(said["agree"] == 3);
}

TEST_CASE("ServiceComparison_AFailedRun_IsItsTargets") {
  Comparison comparison(json{{"targets", {"pc/fast", "no target", "pc/strict"}}});
  comparison.failing = "pc/fast";
  comparison.to_end();
  CHECK(comparison.runs == std::vector<std::string>{"0 pc/fast layers", "2 pc/strict layers"});
  REQUIRE(comparison.results.size() == 3);
  CHECK(comparison.results[0]["error"] == json{{"kind", "missing"}, {"message", "not here"}});
  CHECK(comparison.results[0]["recorded"] == false);
  CHECK(comparison.results[1]["error"]["kind"] == "bad_input");
  // Without a left trace: it stands alone.
  CHECK(comparison.results[2]["comparison"]["left"]["target"] == "pc/strict");
  CHECK(!comparison.results[2].contains("error"));
}

TEST_CASE("ServiceComparison_ATraceThatIsNone_IsItsTargetsError") {
  Comparison comparison(json{{"targets", {"pc/strict"}}});
  const json asked = ask(comparison.service, {{"do", "advance"}}).head["run"];
  const json response = ask(comparison.service, {{"do", "advance"}, {"run", asked["id"]}}, Bytes(7)).head;
  CHECK(response["result"]["recorded"] == false);
  CHECK(response["result"]["error"]["message"].get<std::string>().find("the trace") != std::string::npos);
}

// A trace with a damaged value is a fault of its layer, beside a left trace that has it right.
TEST_CASE("ServiceComparison_ADamagedTrace_IsAFault") {
  Comparison comparison(json{{"targets", {"pc/strict", "pc/reference"}}});
  comparison.damaged = "pc/reference";
  comparison.to_end();
  REQUIRE(comparison.results.size() == 2);
  const json& right = comparison.results[1]["comparison"]["right"][0];
  CHECK(right["first_divergence"] == "only");
  CHECK(right["verify"]["verdict"] == "fault");
  CHECK(right["verify"]["first_fault"] == "only");
}

TEST_CASE("Topology_NamesNodesWithWhatTheyRead") {
  Service service;
  CHECK(ask(service, {{"do", "topology"}}).head.contains("error"));
  ask(service, {{"do", "load"}}, small_model());
  const json nodes = ask(service, {{"do", "topology"}}).head["nodes"];
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0] ==
        json{{"node", "only"}, {"op", "Relu"}, {"inputs", {"x"}}, {"outputs", {"y"}}, {"constant", false}});
}

TEST_CASE("ServiceComparison_MalformedRequests_AreErrors") {
  Service service;
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const auto message = [&](const json& request) {
    const json answer = ask(service, request).head;
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : std::string();
  };
  CHECK(message({{"do", "compare"}, {"targets", {"pc/strict"}}}) ==
        "request: \"compare\" before a model was loaded");
  CHECK(message({{"do", "advance"}}) == "request: \"advance\" without a comparison");
  ask(service, {{"do", "load"}}, small_model());
  for (const json& targets : {json(), json("pc/strict"), json::array(), json::array({1})})
    CHECK(
        contains(message({{"do", "compare"}, {"targets", targets}}), "request \"compare\": field \"targets"));
  for (const json& labels : {json(7), json::array({1}), json::array({"a", "b"}), json::array({1, 2, 3})})
    CHECK(
        contains(message({{"do", "compare"}, {"targets", {"pc/strict"}}, {"samples", 2}, {"labels", labels}}),
                 "request \"compare\": field \"labels"));
  CHECK(message({{"do", "compare"}, {"targets", {"pc/strict"}}, {"samples", 0}}).find("samples") !=
        std::string::npos);
  CHECK(message({{"do", "compare"}, {"targets", {"pc/strict"}}}).empty());
  CHECK(message({{"do", "advance"}, {"run", 1}}) ==
        "request \"advance\": field \"run\": no run 1 is under way");
  const json run = ask(service, {{"do", "advance"}}).head["run"];
  CHECK(message({{"do", "advance"}, {"run", run["id"].get<int>() + 1}}).find("is under way") !=
        std::string::npos);
}

}  // namespace driftscope::test::service_comparison_test
