// Which layer of two traces differs first, and elements of layers by the columns of a table.
#include "core/study/layer_values.hpp"

#include <doctest/doctest.h>

#include "core/study/study_tables.hpp"

namespace driftscope::test::layer_values_test {
namespace {

NamedTensor tensor(const char* name, std::vector<float> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {name, *Tensor::from_values<float>({size}, values)};
}

Trace trace_of(std::vector<NamedTensor> tensors) {
  Trace trace;
  trace.nodes.push_back({.name = "c", .op = "Conv", .outputs = {"conv"}, .time_ns = {}});
  trace.nodes.push_back({.name = "r", .op = "Relu", .outputs = {"relu"}, .time_ns = {}});
  trace.nodes.push_back({.name = "g", .op = "Gemm", .outputs = {"dense"}, .time_ns = {}});
  trace.tensors = std::move(tensors);
  return trace;
}

Graph two_convolutions() {
  Graph graph;
  graph.values.resize(2);
  graph.values[0].name = "conv";
  graph.values[1].name = "dense";
  Node node;
  node.op_type = "Conv";
  node.outputs = {0};
  graph.nodes.push_back(node);
  node.outputs = {1};
  graph.nodes.push_back(node);
  return graph;
}

}  // namespace

TEST_CASE("LayerValues_FirstDifference_IsTheFirstInTheOrderOfTheBase") {
  const Trace base = trace_of(
      {tensor("conv", {1, -2}), tensor("relu", {1, 0.0f}), tensor("dense", {4}), tensor("input", {1})});
  const Trace there = trace_of(
      {tensor("input", {7}), tensor("dense", {5}), tensor("relu", {1, -0.0f}), tensor("conv", {1, -2.5})});
  const LayerValues values = compare_layers(base, there);
  CHECK(values.compared == 3);   // the input is no layer
  CHECK(values.different == 2);  // −0 is 0
  CHECK(values.first == "conv (Conv)");
  CHECK(values.first_difference == 0.25);
  CHECK(values.largest == "conv (Conv)");
  const LayerValues same = compare_layers(base, base);
  CHECK(same.different == 0);
  CHECK(same.first.empty());
}

TEST_CASE("LayerValues_Columns_ArePlacesFromBothEnds") {
  const Graph graph = two_convolutions();
  const Trace trace = trace_of({tensor("conv", {1, 2, 3}), tensor("dense", {9})});
  documents::PublishedValues wanted;
  wanted.columns = {"0", "…", "-1", "3", "-4"};
  wanted.value = "first:Conv";
  const auto got = chosen_values(graph, wanted, trace);
  REQUIRE(got.ok());
  CHECK(*got == std::vector<std::optional<double>>{1.0, {}, 3.0, {}, {}});
  wanted.value = "last:Conv";
  CHECK(*chosen_values(graph, wanted, trace)->front() == 9.0);
  // Of a node with several outputs the first.
  Graph split = graph;
  split.nodes[1].op_type = "Split";
  split.nodes[1].outputs = {1, 0};
  wanted.value = "last:Split";
  CHECK(*chosen_values(split, wanted, trace)->front() == 9.0);
  wanted.value = "first:Gemm";
  CHECK_FALSE(chosen_values(graph, wanted, trace).ok());
  wanted.value = "nothing";
  CHECK_FALSE(chosen_values(graph, wanted, trace).ok());
}

TEST_CASE("LayerValues_Results_AreReadAsTheyWereWritten") {
  LayerValues values{.sample = 7, .values = {{1.5, {}}}, .compared = 2, .different = 1, .first = "a (Conv)"};
  values.first_difference = 1e-7;
  LayerValues read;
  REQUIRE(read_result(nlohmann::ordered_json(encode_result(values)), read).ok());
  CHECK(read.values == values.values);
  CHECK(read.first == values.first);
  CHECK(read.first_difference == values.first_difference);
  CHECK_FALSE(read_result(nlohmann::ordered_json::parse(R"({"sample":1})"), read).ok());
}

}  // namespace driftscope::test::layer_values_test
