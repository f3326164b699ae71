// Values inside subgraphs as outputs: the rewritten file is read again and run by our own engine.
#include "core/model/inside_outputs.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/model/graph_outputs.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::inside_outputs_test {
namespace {

Tensor flag(bool x) {
  const std::byte byte{static_cast<unsigned char>(x)};
  const auto made = Tensor::from_bytes(DType::boolean, {}, {&byte, 1});
  REQUIRE(made.ok());
  return *made;
}

// y = c ? (d ? -(x + x) : x) : |x|, with an inner value in each branch.
ModelBuilder model() {
  const auto negate = ModelBuilder("negate").node("Neg", {"twice"}, {"n"}).output("n");
  const auto same = ModelBuilder("same").node("Identity", {"x"}, {"s"}).output("s");
  ModelBuilder outer("outer");
  outer.node("Add", {"x", "x"}, {"twice"});
  outer.node("If", {"d"}, {"t"})
      .graph_attribute("then_branch", negate.graph_message())
      .graph_attribute("else_branch", same.graph_message());
  outer.output("t");
  const auto absolute =
      ModelBuilder("absolute").node("Abs", {"x"}, {"a"}).node("Relu", {"a"}, {"e"}).output("e");
  ModelBuilder builder;
  builder.input("c", DType::boolean, {}).input("d", DType::boolean, {}).input("x", DType::float32, {2});
  builder.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", outer.graph_message())
      .graph_attribute("else_branch", absolute.graph_message());
  return builder.output("y");
}

std::vector<InsideOutputs> wanted() {
  InsideOutputs inner{"t",
                      "inner",
                      {{"then_branch", {{"n", "out_n", DType::float32}}, {}},
                       {"else_branch", {{"s", "out_s", DType::float32}}, {}}}};
  return {{"y",
           "outer",
           {{"then_branch", {{"twice", "out_twice", DType::float32}}, {inner}},
            {"else_branch", {{"a", "out_a", DType::float32}, {"nowhere", "out_b", DType::float32}}, {}}}},
          {"missing", "other", {}}};
}

using Numbers = std::vector<double>;

// Values of the outputs by name; a marker is a number as well.
std::map<std::string, Numbers> outputs(bool c, bool d) {
  const std::vector<std::byte> original = model().bytes();
  std::vector<InsideOutputs> ifs = wanted();
  const auto inside = with_inside_outputs(original, ifs);
  REQUIRE_MESSAGE(inside.ok(), inside.error().message);
  REQUIRE(ifs.size() == 1);
  const std::vector<std::string> names = names_of(ifs);
  const auto bytes = with_graph_outputs(*inside, names);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  const Graph graph = built(*bytes);
  const std::vector<NamedTensor> inputs = {
      {"c", flag(c)}, {"d", flag(d)}, {"x", tensor<float>({2}, {-1.5f, 2.0f})}};
  const auto results = strict_outputs(graph, inputs);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  std::map<std::string, Numbers> found;
  for (std::size_t i = 0; i < results->size(); ++i)
    found[graph.values[graph.outputs[i]].name] = as_doubles((*results)[i]);
  return found;
}

}  // namespace

TEST_CASE("InsideOutputs_SayWhichBranchRanAndWhatItMade") {
  auto found = outputs(true, true);
  CHECK(found.at("y") == Numbers{3, -4});
  CHECK(found.at("outer") == Numbers{1});
  CHECK(found.at("inner") == Numbers{1});
  CHECK(found.at("out_twice") == Numbers{-3, 4});
  CHECK(found.at("out_n") == Numbers{3, -4});
  CHECK(found.at("out_s").empty());
  CHECK(found.at("out_a").empty());
  CHECK_FALSE(found.contains("out_b"));

  found = outputs(true, false);
  CHECK(found.at("inner") == Numbers{0});
  CHECK(found.at("out_n").empty());
  CHECK(found.at("out_s") == Numbers{-1.5, 2});

  found = outputs(false, true);
  CHECK(found.at("outer") == Numbers{0});
  CHECK(found.at("inner").empty());
  CHECK(found.at("out_twice").empty());
  CHECK(found.at("out_a") == Numbers{1.5, 2});
}

// v ← v + x, three times; collects 2·v. Scan: running sums of the columns of w, stacked along axis 1.
TEST_CASE("InsideOutputs_OfLoops_AreStacked") {
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {}).input("v", DType::float32, {2});
  body.node("Add", {"v", "x"}, {"next"}).node("Add", {"v", "v"}, {"twice"}).node("Neg", {"twice"}, {"less"});
  body.output("go").output("next").output("twice");
  ModelBuilder sums("sums");
  sums.input("s", DType::float32, {2}).input("e", DType::float32, {2});
  sums.node("Add", {"s", "e"}, {"t"})
      .node("Neg", {"t"}, {"n"})
      .node("Abs", {"n"}, {"a"})
      .output("t")
      .output("n");
  ModelBuilder builder;
  builder.input("x", DType::float32, {2}).input("w", DType::float32, {2, 2});
  builder.initializer("m", tensor<std::int64_t>({}, {3}));
  builder.node("Loop", {"m", "", "x"}, {"y", "all"}).graph_attribute("body", body.graph_message());
  builder
      .node("Scan", {"x", "w"}, {"z", "columns"},
            {integer("num_scan_inputs", 1), ints("scan_input_axes", {1}), ints("scan_output_axes", {1})})
      .graph_attribute("body", sums.graph_message());
  builder.output("y").output("all").output("z").output("columns");

  std::vector<InsideOutputs> nodes = {
      {"y", "trips", {{"body", {{"less", "out_less", DType::float32}}, {}}}},
      {"z", "steps", {{"body", {{"a", "out_a", DType::float32}}, {}}}},
  };
  const auto inside = with_inside_outputs(builder.bytes(), nodes);
  REQUIRE_MESSAGE(inside.ok(), inside.error().message);
  const auto bytes = with_graph_outputs(*inside, names_of(nodes));
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  const Graph graph = built(*bytes);
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({2}, {1, -2})},
                                           {"w", tensor<float>({2, 2}, {10, 20, 30, 40})}};
  const auto results = strict_outputs(graph, inputs);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  std::map<std::string, Tensor> found;
  for (std::size_t i = 0; i < results->size(); ++i)
    found[graph.values[graph.outputs[i]].name] = (*results)[i];
  CHECK(as_doubles(found.at("y")) == Numbers{4, -8});
  CHECK(found.at("trips").shape() == Shape{3});
  CHECK(found.at("out_less").shape() == Shape{3, 2});
  CHECK(as_doubles(found.at("out_less")) == Numbers{-2, 4, -4, 8, -6, 12});
  CHECK(found.at("columns").shape() == Shape{2, 2});
  CHECK(as_doubles(found.at("columns")) == Numbers{-11, -31, -28, -68});
  CHECK(found.at("steps").shape() == Shape{2});
  CHECK(as_doubles(found.at("out_a")) == Numbers{11, 28, 31, 68});
}

TEST_CASE("InsideOutputs_OfNothing_ChangeNothing") {
  const std::vector<std::byte> original = model().bytes();
  std::vector<InsideOutputs> none;
  const auto bytes = with_inside_outputs(original, none);
  REQUIRE(bytes.ok());
  CHECK(*bytes == original);
}

TEST_CASE("InsideOutputs_DamagedBytes_AreErrors") {
  const std::vector<std::byte> original = model().bytes();
  for (std::size_t size = 1; size < original.size(); ++size) {
    std::vector<InsideOutputs> ifs = wanted();
    (void)with_inside_outputs(std::span(original).first(size), ifs);  // an error or a model, never worse
  }
  std::vector<InsideOutputs> ifs = wanted();
  CHECK_FALSE(with_inside_outputs({}, ifs).ok());
}

}  // namespace driftscope::test::inside_outputs_test
