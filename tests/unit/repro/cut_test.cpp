// Models that start at one of their values.
#include "core/repro/cut.hpp"

#include <doctest/doctest.h>

#include "core/graph/build.hpp"
#include "core/graph/graph_model.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::cut_test {
namespace {

/// x → a → b → y, and y2 from a and z.
Graph net() {
  return built(ModelBuilder()
                   .input("x", DType::float32, {2})
                   .input("z", DType::float32, {2})
                   .node("Relu", {"x"}, {"a"})
                   .node("Neg", {"a"}, {"b"})
                   .node("Exp", {"b"}, {"y"})
                   .node("Add", {"a", "z"}, {"y2"})
                   .output("y")
                   .output("y2"));
}

std::vector<std::string> names(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> list;
  for (const ValueId id : ids) list.push_back(graph.values[id].name);
  return list;
}

}  // namespace

TEST_CASE("CutAt_InTheMiddle_KeepsWhatOthersNeed") {
  const auto cut = cut_at(net(), "b");
  REQUIRE(cut.ok());
  CHECK(names(*cut, cut->inputs) == std::vector<std::string>{"x", "z", "b"});
  REQUIRE(cut->nodes.size() == 3);
  CHECK(cut->nodes[1].op_type == "Exp");
  // It is a model that opens.
  const auto model = model_of(*cut);
  REQUIRE(model.ok());
  CHECK(build_graph(*model).ok());
}

TEST_CASE("CutAt_ASharedValue_DropsWhatIsBefore") {
  const auto cut = cut_at(net(), "a");
  REQUIRE(cut.ok());
  CHECK(names(*cut, cut->inputs) == std::vector<std::string>{"z", "a"});
  CHECK(cut->nodes.size() == 3);
  CHECK(build_graph(*model_of(*cut)).ok());
}

TEST_CASE("CutAt_WhatIsNoNodesOutput_IsRefused") {
  CHECK_FALSE(cut_at(net(), "x").ok());
  CHECK_FALSE(cut_at(net(), "nothing").ok());
}

}  // namespace driftscope::test::cut_test
