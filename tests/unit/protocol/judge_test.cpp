// The service's "judge" and "topology".
#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::judge_test {
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
  model.input("x", DType::float32, {1, 4})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Neg", {"a"}, {"y"})
      .named("second")
      .output("y");
  return model.bytes();
}

Bytes traced(Service& service, const std::string& target) {
  REQUIRE(ask(service, {{"do", "start"}, {"target", target}, {"seed", 42}, {"capture", "all"}})
              .head.contains("nodes"));
  while (!ask(service, {{"do", "poll"}}).head.value("finished", false)) {
  }
  return ask(service, {{"do", "finish"}}).payload;
}

}  // namespace

TEST_CASE("Judge_ATraceAlone_IsVerified") {
  Service service;
  ask(service, {{"do", "load"}}, small_model());
  const Answer judged = ask(service, {{"do", "judge"}}, traced(service, "pc/strict"));
  REQUIRE_MESSAGE(judged.head.contains("left"), json_text(judged.head));
  CHECK(judged.head["format"] == "driftscope-compare-1");
  CHECK(judged.head["left"]["verify"]["verdict"] == "identical");
  CHECK(judged.head["right"].empty());
}

TEST_CASE("Judge_BesideAnother_IsComparedWithIt") {
  Service service;
  ask(service, {{"do", "load"}}, small_model());
  const Bytes left = traced(service, "pc/strict");
  auto other = read_trace(traced(service, "pc/reference"));
  REQUIRE(other.ok());
  for (NamedTensor& named : other->tensors)
    if (named.name == "y") named.tensor.mutable_values<float>()[0] += 1.0f;
  const auto damaged = write_trace(*other);
  REQUIRE(damaged.ok());
  Bytes both = left;
  both.insert(both.end(), damaged->begin(), damaged->end());
  const Answer judged = ask(service, {{"do", "judge"}, {"left_bytes", left.size()}}, both);
  REQUIRE_MESSAGE(judged.head.contains("right"), json_text(judged.head));
  const json& right = judged.head["right"][0];
  CHECK(judged.head["left"]["target"] == "pc/strict");
  CHECK(right["first_divergence"] == "second");
  CHECK(right["verify"]["verdict"] == "fault");
  CHECK(right["verify"]["first_fault"] == "second");
}

TEST_CASE("Judge_NonsenseOrNoModel_IsAnError") {
  Service service;
  CHECK(ask(service, {{"do", "judge"}}).head["error"]["message"] ==
        "request: \"judge\" before a model was loaded");
  CHECK(ask(service, {{"do", "topology"}}).head.contains("error"));
  ask(service, {{"do", "load"}}, small_model());
  CHECK(ask(service, {{"do", "judge"}}, Bytes(7)).head.contains("error"));
  CHECK(ask(service, {{"do", "judge"}, {"left_bytes", 100}}, Bytes(7)).head["error"]["message"] ==
        "request: \"left_bytes\" is 100, the payload has 7");
}

TEST_CASE("Topology_NamesNodesWithWhatTheyRead") {
  Service service;
  ask(service, {{"do", "load"}}, small_model());
  const json nodes = ask(service, {{"do", "topology"}}).head["nodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[1] == json{{"node", "second"}, {"op", "Neg"}, {"inputs", {"a"}}, {"outputs", {"y"}}});
}

}  // namespace driftscope::test::judge_test
