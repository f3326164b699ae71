// The door's "judge" and "topology".
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

Answer ask(Door& door, const json& request, const Bytes& payload = {}) {
  const Bytes bytes = door.request(pack_message(json_text(request), payload));
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

Bytes traced(Door& door, const std::string& target) {
  REQUIRE(ask(door, {{"do", "start"}, {"target", target}, {"seed", 42}, {"capture", "all"}})
              .head.contains("nodes"));
  while (!ask(door, {{"do", "poll"}}).head.value("finished", false)) {
  }
  return ask(door, {{"do", "finish"}}).payload;
}

}  // namespace

TEST_CASE("Judge_ATraceAlone_IsVerified") {
  Door door;
  ask(door, {{"do", "load"}}, small_model());
  const Answer judged = ask(door, {{"do", "judge"}}, traced(door, "pc/strict"));
  REQUIRE_MESSAGE(judged.head.contains("left"), json_text(judged.head));
  CHECK(judged.head["format"] == "driftscope-compare-1");
  CHECK(judged.head["left"]["verify"]["verdict"] == "identical");
  CHECK(judged.head["right"].empty());
}

TEST_CASE("Judge_BesideAnother_IsComparedWithIt") {
  Door door;
  ask(door, {{"do", "load"}}, small_model());
  const Bytes left = traced(door, "pc/strict");
  auto other = read_trace(traced(door, "pc/reference"));
  REQUIRE(other.ok());
  for (NamedTensor& named : other->tensors)
    if (named.name == "y") named.tensor.mutable_values<float>()[0] += 1.0f;
  const auto damaged = write_trace(*other);
  REQUIRE(damaged.ok());
  Bytes both = left;
  both.insert(both.end(), damaged->begin(), damaged->end());
  const Answer judged = ask(door, {{"do", "judge"}, {"left_bytes", left.size()}}, both);
  REQUIRE_MESSAGE(judged.head.contains("right"), json_text(judged.head));
  const json& right = judged.head["right"][0];
  CHECK(judged.head["left"]["target"] == "pc/strict");
  CHECK(right["first_divergence"] == "second");
  CHECK(right["verify"]["verdict"] == "fault");
  CHECK(right["verify"]["first_fault"] == "second");
}

TEST_CASE("Judge_NonsenseOrNoModel_IsAnError") {
  Door door;
  CHECK(ask(door, {{"do", "judge"}}).head["error"]["message"] ==
        "request: \"judge\" before a model was loaded");
  CHECK(ask(door, {{"do", "topology"}}).head.contains("error"));
  ask(door, {{"do", "load"}}, small_model());
  CHECK(ask(door, {{"do", "judge"}}, Bytes(7)).head.contains("error"));
  CHECK(ask(door, {{"do", "judge"}, {"left_bytes", 100}}, Bytes(7)).head["error"]["message"] ==
        "request: \"left_bytes\" is 100, the payload has 7");
}

TEST_CASE("Topology_NamesNodesWithWhatTheyRead") {
  Door door;
  ask(door, {{"do", "load"}}, small_model());
  const json nodes = ask(door, {{"do", "topology"}}).head["nodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[1] == json{{"node", "second"}, {"op", "Neg"}, {"inputs", {"a"}}, {"outputs", {"y"}}});
}

}  // namespace driftscope::test::judge_test
