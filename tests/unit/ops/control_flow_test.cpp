// If, Loop, Scan: in all scalars, through shape inference, and end to end.
#include <doctest/doctest.h>

#include "core/graph/print.hpp"
#include "core/ops/shared/control_flow.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::control_flow_test {
namespace {

using Numbers = std::vector<double>;

Tensor flag(bool x) {
  const std::byte byte{static_cast<unsigned char>(x)};
  const auto made = Tensor::from_bytes(DType::boolean, {}, {&byte, 1});
  REQUIRE(made.ok());
  return *made;
}
Tensor whole(std::int64_t x) { return tensor<std::int64_t>({}, {x}); }

// The strict kernels' results, after checking that all scalars agree on them.
std::vector<Tensor> run(const ModelBuilder& model, const std::vector<NamedTensor>& inputs) {
  // As for every loaded model: a loop that never runs takes the types of collected values from it.
  const auto inferred = infer_shapes(built(model));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  const Graph& graph = *inferred;
  const auto results = strict_outputs(graph, inputs);
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  GraphCase c{"control flow", graph, inputs, {}};
  for (std::size_t o = 0; o < results->size(); ++o)
    c.wanted.push_back({graph.values[graph.outputs[o]].name, (*results)[o]});
  ThreadPool threads(1);
  const auto problems = check_case(c, threads);
  REQUIRE_MESSAGE(problems.ok(), problems.error().message);
  for (const std::string& problem : *problems) FAIL_CHECK(problem);
  return *results;
}

Error failure(const ModelBuilder& model, const std::vector<NamedTensor>& inputs) {
  const auto results = strict_outputs(built(model), inputs);
  REQUIRE_MESSAGE(!results.ok(), "the model ran");
  return results.error();
}

// y = c ? x + x : x[0:1]; the branches differ in shape and read x from outside.
ModelBuilder choice() {
  const auto twice = ModelBuilder("twice").node("Add", {"x", "x"}, {"t"}).output("t");
  const auto first = ModelBuilder("first")
                         .initializer("zero", longs({0}))
                         .initializer("one", longs({1}))
                         .node("Slice", {"x", "zero", "one"}, {"f"})
                         .output("f");
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("x", DType::float32, {"N"});
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", twice.graph_message())
      .graph_attribute("else_branch", first.graph_message());
  return model.output("y");
}

// sum = 0; for i < M while keep: sum += i, collected: sum, sum of x; keep = sum < limit.
ModelBuilder counting_loop(bool endless) {
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {});
  body.input("sum", DType::int64, {});
  body.node("Add", {"sum", "i"}, {"next"});
  if (endless) {
    body.node("Identity", {"go"}, {"keep"});
  } else {
    // Without comparisons: continues as long as next[cut] is true.
    body.node("Gather", {"plan", "i"}, {"keep"});
  }
  body.node("Add", {"x", "x"}, {"double"});
  body.output("keep").output("next").output("next").output("double");
  ModelBuilder model;
  model.input("m", DType::int64, {}).input("c", DType::boolean, {});
  model.input("x", DType::float32, {2}).input("plan", DType::boolean, {"P"});
  model.initializer("start", whole(0));
  model.node("Loop", {endless ? "" : "m", "c", "start"}, {"last", "all", "doubles"})
      .graph_attribute("body", body.graph_message());
  return model.output("last").output("all").output("doubles");
}

std::vector<NamedTensor> loop_inputs(std::int64_t trips, bool condition,
                                     const std::vector<std::uint8_t>& plan) {
  const auto flags = Tensor::from_bytes(DType::boolean, {static_cast<std::int64_t>(plan.size())},
                                        std::as_bytes(std::span(plan)));
  REQUIRE(flags.ok());
  return {{"m", whole(trips)}, {"c", flag(condition)}, {"x", floats({2}, {1, 2})}, {"plan", *flags}};
}

// Running sums of `x` along its axis.
ModelBuilder scan_model(const std::vector<Attribute>& attributes) {
  ModelBuilder body("body");
  body.input("s", DType::float32, {2}).input("e", DType::float32, {2});
  body.node("Add", {"s", "e"}, {"t"}).node("Identity", {"t"}, {"u"}).output("t").output("u");
  ModelBuilder model;
  model.input("s0", DType::float32, {2}).input("x", DType::float32, {"A", "B"});
  model.node("Scan", {"s0", "x"}, {"s", "sums"}, attributes).graph_attribute("body", body.graph_message());
  return model.output("s").output("sums");
}

}  // namespace

TEST_CASE("If_BranchesCaptureAndMayDifferInShape") {
  const auto x = floats({3}, {1, 2, 3});
  CHECK(as_doubles(run(choice(), {{"c", flag(true)}, {"x", x}})[0]) == Numbers{2, 4, 6});
  CHECK(as_doubles(run(choice(), {{"c", flag(false)}, {"x", x}})[0]) == Numbers{1});
  CHECK(inferred_shape(choice(), "y") == "?");
}

// A value that a branch passes through has no error, and no kernel that would lift it.
TEST_CASE("If_BranchOfAConstant_IsJudged") {
  const auto constant = [](const char* name, float x) {
    return ModelBuilder(name).initializer("k", floats({2}, {x, x})).output("k").graph_message();
  };
  ModelBuilder model;
  model.input("c", DType::boolean, {});
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", constant("one", 1.0f))
      .graph_attribute("else_branch", constant("two", 2.0f));
  model.output("y");
  const Graph graph = built(model);
  ThreadPool threads(1);
  for (const float second : {1.0f, 1.0000001f}) {
    Trace trace;
    trace.tensors = {{"c", flag(true)}, {"y", floats({2}, {1.0f, second})}};
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    CHECK(verification->verdict == (second == 1.0f ? Verdict::identical : Verdict::fault));
  }
}

TEST_CASE("If_KnownCondition_GivesTheTypeOfItsBranch") {
  // The other branch does not even fit: exporters write such for shapes that do not occur.
  const auto yes = ModelBuilder("yes").node("Relu", {"x"}, {"t"}).output("t");
  const auto no =
      ModelBuilder("no").initializer("axis", longs({0})).node("Squeeze", {"x", "axis"}, {"f"}).output("f");
  ModelBuilder model;
  model.initializer("c", flag(true)).input("x", DType::float32, {4, 2});
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", yes.graph_message())
      .graph_attribute("else_branch", no.graph_message());
  model.output("y");
  CHECK(inferred_shape(model, "y") == "4x2");
  CHECK(as_doubles(run(model, {{"x", floats({4, 2}, std::vector<float>(8, -1))}})[0]) == Numbers(8, 0));
}

TEST_CASE("If_Nested_CapturesThroughEveryLevel") {
  const auto inner_then = ModelBuilder().node("Add", {"x", "k"}, {"t2"}).output("t2");
  const auto inner_else = ModelBuilder().node("Identity", {"m"}, {"e2"}).output("e2");
  const auto outer_then = ModelBuilder()
                              .node("Mul", {"x", "x"}, {"m"})
                              .node("If", {"d"}, {"o"})
                              .graph_attribute("then_branch", inner_then.graph_message())
                              .graph_attribute("else_branch", inner_else.graph_message())
                              .output("o");
  // The branch's output is a value of the enclosing graph.
  const auto outer_else = ModelBuilder().output("x");
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("d", DType::boolean, {});
  model.input("x", DType::float32, {2}).initializer("k", floats({1}, {10}));
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", outer_then.graph_message())
      .graph_attribute("else_branch", outer_else.graph_message());
  model.output("y");
  const auto y = [&](bool c, bool d) {
    return as_doubles(run(model, {{"c", flag(c)}, {"d", flag(d)}, {"x", floats({2}, {2, 3})}})[0]);
  };
  CHECK(y(true, true) == Numbers{12, 13});
  CHECK(y(true, false) == Numbers{4, 9});
  CHECK(y(false, true) == Numbers{2, 3});
  const Graph graph = built(model);
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].inputs.size() == 1);
  CHECK(graph.nodes[0].captured.size() == 2);  // x and d; k is a constant
  CHECK(inferred_shape(model, "y") == "2");
}

TEST_CASE("If_WrongBranches_AreErrors") {
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("x", DType::float32, {1});
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", ModelBuilder().output("x").output("x").graph_message());
  model.output("y");
  const std::vector<NamedTensor> yes = {{"c", flag(true)}, {"x", floats({1}, {1})}};
  const std::vector<NamedTensor> no = {{"c", flag(false)}, {"x", floats({1}, {1})}};
  CHECK(contains(failure(model, yes).message, "the graph has 2 outputs, the node 1"));
  CHECK(contains(failure(model, no).message, "else_branch: a graph is required"));
  ModelBuilder invalid;
  invalid.input("c", DType::boolean, {});
  invalid.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", ModelBuilder().output("nowhere").graph_message());
  CHECK(contains(build_failure(invalid.output("y")).message, "'nowhere' does not exist"));
  ModelBuilder loop;  // a branch that reads what its own node makes
  loop.input("c", DType::boolean, {}).node("If", {"c"}, {"y"});
  loop.graph_attribute("then_branch", ModelBuilder().node("Relu", {"y"}, {"z"}).output("z").graph_message());
  CHECK(contains(build_failure(loop.output("y")).message, "cycle"));
}

TEST_CASE("Loop_TripCountAndCondition_CarryAndCollect") {
  const auto model = counting_loop(false);
  const std::vector<std::uint8_t> on(8, 1);
  auto out = run(model, loop_inputs(4, true, on));
  CHECK(as_doubles(out[0]) == Numbers{6});
  CHECK(as_doubles(out[1]) == Numbers{0, 1, 3, 6});
  CHECK(out[2].shape() == Shape{4, 2});
  CHECK(as_doubles(out[2]) == Numbers{2, 4, 2, 4, 2, 4, 2, 4});
  out = run(model, loop_inputs(8, true, {1, 0, 1, 1, 1, 1, 1, 1}));
  CHECK(as_doubles(out[1]) == Numbers{0, 1});
  out = run(model, loop_inputs(8, false, on));
  CHECK(as_doubles(out[0]) == Numbers{0});
  CHECK(out[1].shape() == Shape{0});
  CHECK(inferred_shape(model, "doubles") == "?x2");
  CHECK(inferred_shape(model, "last") == "scalar");
}

TEST_CASE("Loop_CarriedShapeMayGrow") {
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {});
  body.graph_field(11, value_info_message("v", DType::float32, nullptr));
  body.node("Concat", {"v", "x"}, {"w"}, {integer("axis", 0)}).output("go").output("w");
  ModelBuilder model;
  model.input("m", DType::int64, {}).input("x", DType::float32, {1});
  model.node("Loop", {"m", "", "x"}, {"y"}).graph_attribute("body", body.graph_message());
  model.output("y");
  CHECK(as_doubles(run(model, {{"m", whole(3)}, {"x", floats({1}, {7})}})[0]) == Numbers{7, 7, 7, 7});
  CHECK(inferred_shape(model, "y") == "?");
}

TEST_CASE("Loop_WithoutEnd_StopsAtTheLimit") {
  // As if inside a loop that has used nearly all iterations: they count together.
  IterationScope around;
  bool ok = true;
  for (std::int64_t i = 0; i < max_iterations - 1000; ++i) ok = ok && around.next().ok();
  CHECK(ok);
  const Error error = failure(counting_loop(true), loop_inputs(0, true, {1}));
  CHECK(error.kind == ErrorKind::limit);
  CHECK(contains(error.message, "has not ended after 1000000 iterations"));
}

TEST_CASE("Scan_DirectionsAndAxes") {
  const auto s0 = floats({2}, {0, 0});
  const auto x = floats({3, 2}, {1, 10, 2, 20, 3, 30});
  auto out = run(scan_model({integer("num_scan_inputs", 1)}), {{"s0", s0}, {"x", x}});
  CHECK(as_doubles(out[0]) == Numbers{6, 60});
  CHECK(as_doubles(out[1]) == Numbers{1, 10, 3, 30, 6, 60});
  out = run(scan_model({integer("num_scan_inputs", 1), ints("scan_input_directions", {1}),
                        ints("scan_output_axes", {-1})}),
            {{"s0", s0}, {"x", x}});
  CHECK(as_doubles(out[1]) == Numbers{3, 5, 6, 30, 50, 60});
  const auto flat = floats({2, 3}, {1, 2, 3, 10, 20, 30});
  out = run(scan_model({integer("num_scan_inputs", 1), ints("scan_input_axes", {1}),
                        ints("scan_output_directions", {1})}),
            {{"s0", s0}, {"x", flat}});
  CHECK(as_doubles(out[1]) == Numbers{6, 60, 3, 30, 1, 10});
  CHECK(inferred_shape(scan_model({integer("num_scan_inputs", 1)}), "sums") == "Ax2");
  CHECK(contains(failure(scan_model({}), {{"s0", s0}, {"x", x}}).message, "num_scan_inputs"));
  CHECK(contains(failure(scan_model({integer("num_scan_inputs", 1), ints("scan_input_axes", {2})}),
                         {{"s0", s0}, {"x", x}})
                     .message,
                 "axis 2 is outside"));
}

// Two batches of up to three steps, as opset 8 has them: sums from s0 on.
ModelBuilder batched_scan_model(const std::vector<Attribute>& attributes, bool with_lengths) {
  ModelBuilder body("body");
  body.input("s", DType::float32, {2}).input("v", DType::float32, {2});
  body.node("Add", {"s", "v"}, {"t"}).node("Identity", {"t"}, {"u"}).output("t").output("u");
  ModelBuilder model;
  model.opset(8).input("s0", DType::float32, {"B", 2}).input("x", DType::float32, {"B", "T", 2});
  if (with_lengths) model.input("lengths", DType::int64, {"B"});
  model.node("Scan", {with_lengths ? "lengths" : "", "s0", "x"}, {"last", "sums"}, attributes)
      .graph_attribute("body", body.graph_message());
  return model.output("last").output("sums");
}

TEST_CASE("Scan_OfOpset8_HasBatchesOfTheirOwnLength") {
  const auto s0 = floats({2, 2}, {0, 0, 100, 200});
  const auto x = floats({2, 3, 2}, {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60});
  const auto one = integer("num_scan_inputs", 1);
  auto out = run(batched_scan_model({one}, false), {{"s0", s0}, {"x", x}});
  CHECK(as_doubles(out[0]) == Numbers{6, 60, 115, 350});
  CHECK(as_doubles(out[1]) == Numbers{1, 10, 3, 30, 6, 60, 104, 240, 109, 290, 115, 350});
  // Shorter batches: outputs after their end are 0; backwards they begin at their own end.
  const auto lengths = [](std::int64_t a, std::int64_t b) {
    return std::vector<NamedTensor>{{"lengths", longs({a, b})}};
  };
  const auto with = [&](std::vector<NamedTensor> inputs) {
    inputs.insert(inputs.end(), {{"s0", s0}, {"x", x}});
    return inputs;
  };
  out = run(batched_scan_model({one, ints("directions", {1})}, true), with(lengths(2, 3)));
  CHECK(as_doubles(out[0]) == Numbers{3, 30, 115, 350});
  CHECK(as_doubles(out[1]) == Numbers{2, 20, 3, 30, 0, 0, 106, 260, 111, 310, 115, 350});
  out = run(batched_scan_model({one}, true), with(lengths(0, 1)));
  CHECK(as_doubles(out[0]) == Numbers{0, 0, 104, 240});
  CHECK(as_doubles(out[1]) == Numbers{0, 0, 0, 0, 0, 0, 104, 240, 0, 0, 0, 0});
  CHECK(inferred_shape(batched_scan_model({one}, false), "sums") == "BxTx2");
  CHECK(contains(failure(batched_scan_model({one}, true), with(lengths(2, 4))).message,
                 "expected 0 to 3, got 4"));
  CHECK(contains(
      failure(batched_scan_model({one, ints("directions", {2})}, false), {{"s0", s0}, {"x", x}}).message,
      "expected 0 or 1"));
  CHECK(
      contains(failure(batched_scan_model({one}, false), {{"s0", floats({1, 2}, {0, 0})}, {"x", x}}).message,
               "batches"));
}

TEST_CASE("ControlFlow_EveryEngine_RecordsAndVerifies") {
  // Values of unknown shape on the way: NonZero, then a branch of either shape, then more nodes.
  auto model = choice();
  model.node("NonZero", {"y"}, {"z"}).node("Transpose", {"z"}, {"p"});
  model.node("GatherND", {"y", "p"}, {"q"}).node("Softmax", {"q"}, {"r"});
  const Graph graph = built(model.output("r"));
  for (const char* name : {"reference", "strict"})
    for (const bool condition : {true, false}) {
      INFO(name);
      const auto bound =
          bind_inputs(graph, {{"c", flag(condition)}, {"x", floats({4}, {0.3f, 0, -0.7f, 2})}});
      REQUIRE_MESSAGE(bound.ok(), bound.error().message);
      const auto engine = find_engine(name);
      REQUIRE(engine.ok());
      auto session = (*engine)->prepare(bound->graph, {.threads = 2, .values = {}});
      REQUIRE_MESSAGE(session.ok(), session.error().message);
      const auto trace = record(bound->graph, **session, bound->inputs, {});
      REQUIRE_MESSAGE(trace.ok(), trace.error().message);
      ThreadPool threads(1);
      const auto verification = verify(graph, "", *trace, threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      CHECK(verification->layers.size() == 6);  // the branch's node is one
      for (const LayerVerdict& layer : verification->layers) {
        INFO(layer.node << ": " << reason_of(layer));
        CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding));
      }
    }
}

TEST_CASE("BindShapes_ReachesIntoSubgraphs") {
  const auto x = floats({3}, {1, 2, 3});
  const auto bound = bind_inputs(built(choice()), {{"c", flag(true)}, {"x", x}});
  REQUIRE(bound.ok());
  CHECK(contains(print_graph(*bound->graph), "outer  x: float32 3"));
  CHECK(contains(print_graph(*bound->graph), "Add_0 = Add(x, x) -> t: float32 3"));
}

}  // namespace driftscope::test::control_flow_test
