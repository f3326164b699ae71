// Adds values to a graph's outputs, in the bytes of the model.
#include "core/model/graph_outputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/model/onnx_reader.hpp"

#include "unit/support/files.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/mutate.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::graph_outputs_test {
namespace {

ModelBuilder two_nodes() {
  return ModelBuilder("two")
      .input("x", DType::float32, {"N", 3})
      .node("Relu", {"x"}, {"inner"})
      .node("Dropout", {"inner"}, {"y", ""})
      .named("drop")
      .output("y");
}

std::vector<std::byte> with_outputs(const std::vector<std::byte>& bytes,
                                    const std::vector<std::string>& names) {
  auto made = with_graph_outputs(bytes, names);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph.value_name(id));
  return names;
}

}  // namespace

TEST_CASE("GraphOutputs_InnerValue_IsAnOutputAfterTheOthers") {
  const auto bytes = with_outputs(two_nodes().bytes(), {"inner"});
  const Graph graph = built(bytes);
  CHECK(output_names(graph) == std::vector<std::string>{"y", "inner"});
  CHECK(graph.nodes.size() == 2);
}

TEST_CASE("GraphOutputs_GivenAType_SayIt") {
  auto made = with_graph_outputs(two_nodes().bytes(), std::vector<std::string>{"inner"},
                                 {{"inner", {DType::float32, {2, 3}}}, {"y", {DType::int64, {}}}});
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  const auto model = read_onnx(*made);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const ValueInfo& info = model->graph.outputs.back();
  CHECK(info.name == "inner");
  CHECK(info.dtype == DType::float32);
  REQUIRE(info.shape);
  REQUIRE(info.shape->size() == 2);
  CHECK((*info.shape)[0].size == 2);
  CHECK((*info.shape)[1].size == 3);
}

TEST_CASE("GraphOutputs_NoNames_LeaveTheModelAsItWas") {
  const auto bytes = repository_file("assets/models/lenet5.onnx");
  CHECK(with_outputs(bytes, {}) == bytes);
}

TEST_CASE("GraphOutputs_FieldsAroundTheGraph_StayWhereTheyAre") {
  // metadata_props (14) after the graph: everything but the graph's length and its end is untouched.
  const auto before = two_nodes().model_field(14, "\x0a\x01k\x12\x01v").bytes();
  const auto after = with_outputs(before, {"inner"});
  const std::size_t added = after.size() - before.size();
  CHECK(added == 2 + 2 + 5);  // two tags, two lengths, the name
  CHECK(std::equal(before.end() - 8, before.end(), after.end() - 8));
  CHECK(built(after).outputs.size() == 2);
}

TEST_CASE("GraphOutputs_Outline_NamesNodesAndOutputs") {
  const auto outline = outline_model(two_nodes().bytes());
  REQUIRE(outline.ok());
  REQUIRE(outline->nodes.size() == 2);
  CHECK(outline->nodes[1].name == "drop");
  CHECK(outline->nodes[1].op_type == "Dropout");
  CHECK(outline->nodes[1].inputs == std::vector<std::string>{"inner"});
  CHECK(outline->nodes[1].outputs == std::vector<std::string>{"y", ""});
  CHECK(outline->outputs == std::vector<std::string>{"y"});
}

TEST_CASE("GraphOutputs_NoGraphOrTwo_IsAnError") {
  for (const std::vector<std::byte>& bytes :
       {std::vector<std::byte>{}, ModelBuilder().model_field(7, "").bytes()}) {
    CHECK_FALSE(outline_model(bytes).ok());
    const auto made = with_graph_outputs(bytes, {});
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind == ErrorKind::bad_input);
    CHECK(made.error().message.find("graph") != std::string::npos);
  }
}

TEST_CASE("GraphOutputs_DamagedModels_AreRefusedOrReadAsBefore") {
  const std::uint64_t seed = test_seed(20261121);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto lenet1 = repository_file("assets/models/lenet1.onnx");
  const std::string name = "not there";
  for (int i = 0; i < 2000; ++i) {
    INFO("mutation " << i);
    const auto damaged = mutated(lenet1, rng);
    const auto outline = outline_model(damaged);
    const auto made = with_graph_outputs(damaged, std::span(&name, 1));
    if (!made.ok()) {
      CHECK(made.error().kind == ErrorKind::bad_input);
      continue;
    }
    // A model that could be read can still be read, and has one more output.
    const auto again = outline_model(*made);
    CHECK(again.ok() == outline.ok());
    if (!outline.ok()) continue;
    CHECK(again->outputs.size() == outline->outputs.size() + 1);
    CHECK(again->outputs.back() == name);
    CHECK(again->nodes.size() == outline->nodes.size());
  }
}

}  // namespace driftscope::test::graph_outputs_test
