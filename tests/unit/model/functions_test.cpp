// Functions that a model defines itself: inlined by the reader.
#include <doctest/doctest.h>

#include "core/graph/print.hpp"
#include "core/model/alive_tensors.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::functions_test {
namespace {

std::string failure(const ModelBuilder& builder) { return build_failure(builder).message; }

// f(a, b) = LeakyRelu(a + b, alpha), with alpha 0.25 unless the call says otherwise.
std::string leaky(std::int64_t opset = 18) {
  return ModelBuilder("Leaky")
      .opset(opset)
      .node("Add", {"a", "b"}, {"t"})
      .node("LeakyRelu", {"t"}, {"y"}, {reference("alpha", "slope")})
      .named("act")
      .function_message("my.ops", {"a", "b"}, {"y"}, {real("slope", 0.25f)});
}

ModelBuilder two_inputs() {
  ModelBuilder model("m");
  return model.input("x", DType::float32, {2}).input("t", DType::float32, {2});
}

/// Tensors may take so much more while it lives.
class TensorLimit {
 public:
  explicit TensorLimit(std::int64_t more) { limit_alive_tensors(alive_tensors().bytes + more, "a test"); }
  ~TensorLimit() { limit_alive_tensors(0, ""); }
  TensorLimit(const TensorLimit&) = delete;
  TensorLimit& operator=(const TensorLimit&) = delete;
};

}  // namespace

TEST_CASE("Functions_CallsAreReplaced_NamesAndAttributesAreThoseOfTheCall") {
  // "t" is a name of the model and of the function.
  auto model = two_inputs();
  model.node("Leaky", {"x", "t"}, {"u"}, {}, "my.ops").named("first");
  model.node("Leaky", {"u", "t"}, {"v"}, {real("slope", 0.5f)}, "my.ops");
  model.model_field(25, leaky()).opset(20).output("v");
  CHECK(print_graph(built(model)) ==
        R"(graph m
input  x: float32 2
input  t: float32 2
Add_0 = Add(x, t) -> first/t: ? (unknown rank)
first/act = LeakyRelu[alpha=0.25](first/t) -> u: ? (unknown rank)
Add_2 = Add(u, t) -> Leaky_1/t: ? (unknown rank)
Leaky_1/act = LeakyRelu[alpha=0.5](Leaky_1/t) -> v: ? (unknown rank)
output v: ? (unknown rank)
)");
  // Nodes of the function keep its opset.
  CHECK(built(model).nodes[0].opset == 18);
}

TEST_CASE("Functions_NestedCallsAndGraphsInside_AreInlined") {
  const auto branch = ModelBuilder("branch").node("Leaky", {"x", "h"}, {"t"}, {}, "my.ops").output("t");
  const std::string outer = ModelBuilder("Outer")
                                .node("Relu", {"x"}, {"h"})
                                .node("If", {"c"}, {"y"})
                                .graph_attribute("then_branch", branch.graph_message())
                                .graph_attribute("else_branch", branch.graph_message())
                                .function_message("my.ops", {"c", "x"}, {"y"});
  auto model = two_inputs();
  model.input("c", DType::boolean, {}).node("Outer", {"c", "t"}, {"z"}, {}, "my.ops").named("o");
  model.model_field(25, outer).model_field(25, leaky()).output("z");
  const Graph graph = built(model);
  REQUIRE(graph.nodes.size() == 2);
  const Node& choice = graph.nodes[1];
  REQUIRE(choice.subgraphs.size() == 2);
  CHECK(choice.subgraphs[0].graph->nodes.size() == 2);
  CHECK(choice.subgraphs[0].graph->nodes[0].op_type == "Add");
  REQUIRE(choice.captured.size() == 2);
  CHECK(graph.value_name(choice.captured[0]) == "t");
  CHECK(graph.value_name(choice.captured[1]) == "o/h");
}

TEST_CASE("Functions_OmittedInputsAndPassedThroughOutputs") {
  const std::string function = ModelBuilder("Pass")
                                   .node("Clip", {"a", "", "b"}, {"y"})
                                   .function_message("my.ops", {"a", "b"}, {"y", "a"});
  auto model = two_inputs();
  model.node("Pass", {"x"}, {"p", "q"}, {}, "my.ops").model_field(25, function);
  const Graph graph = built(model.output("p").output("q"));
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[0].inputs[2] == no_value);
  CHECK(graph.nodes[1].op_type == "Identity");
}

TEST_CASE("Functions_ThatExpandToMuchMoreThanTheirFile_AreErrorsBeforeTheyTakeIt") {
  const TensorLimit limit(16'000'000);
  const auto model = [] {
    ModelBuilder built;
    built.input("x", DType::float32, {1}).node("F0", {"x"}, {"y"}, {}, "my.ops").named("n");
    return built.output("y");
  };
  const auto pass = [](const std::string& name) {
    return ModelBuilder(name).node("Relu", {"a"}, {"y"}).function_message("my.ops", {"a"}, {"y"});
  };
  const std::string refused = "nodes and names take more than 8000000 bytes";

  SUBCASE("names inside names, doubled at every level") {
    auto deep = model();
    for (int i = 0; i < 14; ++i) {
      ModelBuilder body("F" + std::to_string(i));
      const std::string called = "F" + std::to_string(i + 1);
      body.node(called, {"a"}, {"v"}, {}, "my.ops").named(std::string(400, 'n'));
      body.node(called, {"v"}, {"y"}, {}, "my.ops").named(std::string(400, 'm'));
      deep.model_field(25, body.function_message("my.ops", {"a"}, {"y"}));
    }
    deep.model_field(25, pass("F14"));
    CHECK(holds(failure(deep), "function 'F0'"));
    CHECK(holds(failure(deep), refused));
  }
  SUBCASE("a long name that one node takes very often") {
    auto wide = model();
    const std::vector<std::string> often(5000, "v");
    ModelBuilder body("F0");
    body.node("Relu", {"a"}, {"v"}).node("Sum", often, {"y"});
    wide.model_field(25, body.function_message("my.ops", {"a"}, {"y"}));
    CHECK(built(wide).nodes.size() == 2);
    auto longer = ModelBuilder();
    longer.input("x", DType::float32, {1}).node("F0", {"x"}, {"y"}, {}, "my.ops");
    longer.named(std::string(4000, 'n')).output("y");
    longer.model_field(25, body.function_message("my.ops", {"a"}, {"y"}));
    CHECK(holds(failure(longer), refused));
  }
  SUBCASE("a large attribute that every call copies") {
    auto large = model();
    ModelBuilder body("F0");
    body.node("Relu", {"a"}, {"v0"});
    for (int i = 0; i < 200; ++i)
      body.node("F1", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}, {}, "my.ops");
    body.node("Relu", {"v200"}, {"y"});
    large.model_field(25, body.function_message("my.ops", {"a"}, {"y"}));
    large.model_field(25,
                      ModelBuilder("F1")
                          .node("Relu", {"a"}, {"y"}, {ints("axes", std::vector<std::int64_t>(10'000, 1))})
                          .function_message("my.ops", {"a"}, {"y"}));
    CHECK(holds(failure(large), "function 'F0': function 'F1'"));
    CHECK(holds(failure(large), refused));
  }
}

TEST_CASE("Functions_HostileOnes_AreErrors") {
  const auto calling = [](const std::string& name, const std::string& other, int times) {
    ModelBuilder body(name);
    std::string last = "a";
    for (int i = 0; i < times; ++i) {
      const std::string next = i + 1 == times ? "y" : "v" + std::to_string(i);
      body.node(other, {last}, {next}, {}, "my.ops");
      last = next;
    }
    return body.function_message("my.ops", {"a"}, {"y"});
  };
  ModelBuilder model;
  model.input("x", DType::float32, {1}).node("F0", {"x"}, {"y"}, {}, "my.ops").output("y");
  auto circle = model;
  circle.model_field(25, calling("F0", "F1", 1)).model_field(25, calling("F1", "F0", 1));
  CHECK(holds(failure(circle), "function 'F0': function 'F1': function 'F0': it calls itself"));
  auto doubling = model;
  for (int i = 0; i < 40; ++i)
    doubling.model_field(25, calling("F" + std::to_string(i), "F" + std::to_string(i + 1), 2));
  doubling.model_field(25, calling("F40", "", 0));
  CHECK(holds(failure(doubling), "more than 250000 nodes"));
  auto deep = model;
  for (int i = 0; i < 100; ++i)
    deep.model_field(25, calling("F" + std::to_string(i), "F" + std::to_string(i + 1), 1));
  deep.model_field(25, calling("F100", "", 0));
  CHECK(holds(failure(deep), "beyond the limit of 64"));
  auto twice = model;
  twice.model_field(25, calling("F0", "", 0)).model_field(25, calling("F0", "", 0));
  CHECK(holds(failure(twice), "defined twice"));
  auto invalid = two_inputs();
  invalid.node("S", {"x"}, {"y"}, {}, "my.ops").output("y");
  invalid.model_field(
      25, ModelBuilder("S").node("Add", {"a", "t"}, {"y"}).function_message("my.ops", {"a"}, {"y"}));
  CHECK(holds(failure(invalid), "value 't' does not exist in it"));
  auto many = two_inputs();
  many.node("Leaky", {"x", "t", "x"}, {"y"}, {}, "my.ops").output("y").model_field(25, leaky());
  CHECK(holds(failure(many), "called with 3 inputs"));
  auto lost = two_inputs();
  lost.node("LeakyRelu", {"x"}, {"y"}, {reference("alpha", "slope")}).output("y");
  CHECK(holds(failure(lost), "is not in one"));
  auto none = two_inputs();
  none.node("Leaky", {"x", "t"}, {"y"}, {}, "my.ops").output("y").model_field(25, leaky(-1));
  CHECK(holds(failure(none), "opset -1 is not supported"));
}

}  // namespace driftscope::test::functions_test
