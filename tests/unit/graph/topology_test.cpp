#include "core/graph/topology.hpp"

#include <doctest/doctest.h>

#include "unit/support/model_builder.hpp"

namespace driftscope::test::topology_test {

TEST_CASE("Topology_OfAnIf_NamesTheNodesOfItsBranches") {
  const auto deeper = [](const char* op, const char* value) {
    return ModelBuilder(op).node(op, {"t"}, {value}).named("inner").output(value).graph_message();
  };
  ModelBuilder then("then");
  then.node("Add", {"x", "w"}, {"t"}).named("add");
  then.node("If", {"c"}, {"d"})
      .named("deep")
      .graph_attribute("then_branch", deeper("Neg", "n"))
      .graph_attribute("else_branch", deeper("Abs", "a"));
  then.initializer("w", tensor<float>({1}, {1})).output("d");
  const auto other = ModelBuilder("else").node("Relu", {"x"}, {"r"}).named("relu").output("r");
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("x", DType::float32, {1});
  model.node("If", {"c"}, {"y"})
      .named("choice")
      .graph_attribute("then_branch", then.graph_message())
      .graph_attribute("else_branch", other.graph_message());
  const Topology topology = topology_of(built(model.output("y")));
  using Names = std::vector<std::string>;
  Names nodes;
  for (const TopologyNode& node : topology.nodes) nodes.push_back(node.name);
  CHECK(nodes == Names{"choice[then]/add", "choice[then]/deep[then]/inner", "choice[then]/deep[else]/inner",
                       "choice[then]/deep", "choice[else]/relu", "choice"});
  CHECK(topology.nodes[0].inputs == Names{"x"});
  CHECK(topology.nodes[1].inputs == Names{"choice[then]/t"});
  CHECK(topology.nodes[1].outputs == Names{"choice[then]/deep[then]/n"});
  CHECK(topology.nodes[3].inputs ==
        Names{"c", "choice[then]/t", "choice[then]/deep[then]/n", "choice[then]/deep[else]/a"});
  CHECK(topology.nodes[5].outputs == Names{"y"});
}

}  // namespace driftscope::test::topology_test
