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

// Nodes as "name: inputs", one in a line.
std::string lines(const Topology& topology) {
  std::string result;
  for (const TopologyNode& node : topology.nodes) {
    result += node.name + ":";
    for (const std::string& input : node.inputs) result += " " + input;
    result += "\n";
  }
  return result;
}

TEST_CASE("Topology_OfLoops_IsUnrolledByTheIterationsThatAreKnown") {
  ModelBuilder inner("inner");
  inner.input("j", DType::int64, {}).input("on", DType::boolean, {}).input("u", DType::float32, {1});
  inner.node("Neg", {"u"}, {"n"}).named("neg").output("on").output("n");
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {}).input("v", DType::float32, {1});
  body.node("Add", {"v", "x"}, {"t"}).named("add");
  body.node("Loop", {"m", "", "t"}, {"w"}).named("deep").graph_attribute("body", inner.graph_message());
  body.output("go").output("w");
  ModelBuilder model;
  model.input("m", DType::int64, {}).input("x", DType::float32, {1});
  model.node("Abs", {"x"}, {"a"}).named("abs");
  model.node("Loop", {"m", "", "a"}, {"y"}).named("loop").graph_attribute("body", body.graph_message());
  const Topology topology = topology_of(built(model.output("y")));
  CHECK(lines(topology) == R"(abs: x
loop[*]/v: a loop[*]/w
loop[*]/add: loop[*]/v x
loop[*]/deep[*]/u: loop[*]/t loop[*]/deep[*]/n
loop[*]/deep[*]/neg: loop[*]/deep[*]/u
loop[*]/deep: m loop[*]/t loop[*]/deep[*]/on loop[*]/deep[*]/n
loop: m a x m loop[*]/go loop[*]/w
)");
  const std::vector<std::string_view> values = {
      "a", "loop[0]/t", "loop[0]/deep[0]/n", "loop[0]/deep[4]/n", "loop[7]/t", "loop[x]/t"};
  CHECK(lines(with_iterations(topology, values)) == R"(abs: x
loop[0]/v: a
loop[0]/add: loop[0]/v x
loop[0]/deep[0]/u: loop[0]/t
loop[0]/deep[0]/neg: loop[0]/deep[0]/u
loop[0]/deep[4]/u: loop[0]/deep[0]/n
loop[0]/deep[4]/neg: loop[0]/deep[4]/u
loop[0]/deep: m loop[0]/t loop[0]/deep[4]/on loop[0]/deep[4]/n
loop[7]/v: loop[0]/w
loop[7]/add: loop[7]/v x
loop[7]/deep: m loop[7]/t
loop: m a x m loop[7]/go loop[7]/w
)");
}

// Names come from files.
TEST_CASE("Topology_OfAMillionIterations_IsBounded") {
  Topology topology;
  for (int i = 0; i < 30; ++i)
    topology.nodes.push_back({"loop[*]/n" + std::to_string(i), "Neg", {"loop[*]/v"}, {"loop[*]/v"}, false});
  std::vector<std::string> names;
  for (int i = 0; i < 100'000; ++i) names.push_back("loop[" + std::to_string(i) + "]/v");
  const std::vector<std::string_view> values(names.begin(), names.end());
  const std::size_t nodes = with_iterations(topology, values).nodes.size();
  CHECK(nodes >= 100'000);
  CHECK(nodes <= 1'000'000);
}

}  // namespace driftscope::test::topology_test
