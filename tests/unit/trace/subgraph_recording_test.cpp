// Layers inside If, Loop and Scan: recorded by every engine that runs nodes on the CPU, kept in the file,
// judged and compared like any other.
#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/unfold.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/trace/trace_file.hpp"
#include "core/verify/compare.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::subgraph_recording_test {
namespace {

Tensor flag(bool x) {
  const std::byte byte{static_cast<unsigned char>(x)};
  const auto made = Tensor::from_bytes(DType::boolean, {}, {&byte, 1});
  REQUIRE(made.ok());
  return *made;
}

// y = c ? tanh(x·w + x) : x·x.
ModelBuilder choice() {
  const auto network = ModelBuilder("network")
                           .initializer("w", tensor<float>({4}, {0.3f, -0.7f, 1.1f, 0.9f}))
                           .node("Mul", {"x", "w"}, {"product"})
                           .named("scale")
                           .node("Add", {"product", "x"}, {"sum"})
                           .named("shift")
                           .node("Tanh", {"sum"}, {"t"})
                           .named("squash")
                           .output("t");
  const auto square = ModelBuilder("square").node("Mul", {"x", "x"}, {"s"}).named("scale").output("s");
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("x", DType::float32, {4});
  model.node("If", {"c"}, {"y"})
      .named("choice")
      .graph_attribute("then_branch", network.graph_message())
      .graph_attribute("else_branch", square.graph_message());
  return model.output("y");
}

// v ← v·w + x, `trips` times; collects v·w.
ModelBuilder loop(std::int64_t trips) {
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {}).input("v", DType::float32, {4});
  body.initializer("w", tensor<float>({4}, {0.9f, -0.8f, 0.7f, 0.6f}));
  body.node("Mul", {"v", "w"}, {"product"}).named("scale");
  body.node("Add", {"product", "x"}, {"next"}).named("shift");
  body.node("Identity", {"go"}, {"again"}).named("again");
  body.output("again").output("next").output("product");
  ModelBuilder model;
  model.input("x", DType::float32, {4}).initializer("m", tensor<std::int64_t>({}, {trips}));
  model.node("Loop", {"m", "", "x"}, {"last", "all"})
      .named("loop")
      .graph_attribute("body", body.graph_message());
  return model.output("last").output("all");
}

ModelBuilder scan() {
  ModelBuilder body("body");
  body.input("s", DType::float32, {2}).input("e", DType::float32, {2});
  body.node("Add", {"s", "e"}, {"t"}).named("add").node("Tanh", {"t"}, {"u"}).named("squash");
  body.output("t").output("u");
  ModelBuilder model;
  model.input("s0", DType::float32, {2}).input("x", DType::float32, {2, 5});
  model
      .node("Scan", {"s0", "x"}, {"s", "sums"},
            {integer("num_scan_inputs", 1), ints("scan_input_axes", {1}), ints("scan_input_directions", {1}),
             ints("scan_output_axes", {1})})
      .named("scan")
      .graph_attribute("body", body.graph_message());
  return model.output("s").output("sums");
}

// In each of three iterations: v ← i·v even ? v + x : choice's network.
ModelBuilder nested() {
  const auto add = ModelBuilder("add").node("Add", {"v", "x"}, {"a"}).named("add").output("a");
  const auto squash = ModelBuilder("squash").node("Tanh", {"v"}, {"b"}).named("squash").output("b");
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {}).input("v", DType::float32, {4});
  body.node("Gather", {"plan", "i"}, {"which"}).named("which");
  body.node("If", {"which"}, {"next"})
      .named("choice")
      .graph_attribute("then_branch", add.graph_message())
      .graph_attribute("else_branch", squash.graph_message());
  body.node("Identity", {"go"}, {"again"}).named("again");
  body.output("again").output("next");
  ModelBuilder model;
  model.input("x", DType::float32, {4}).input("plan", DType::boolean, {3});
  model.initializer("m", tensor<std::int64_t>({}, {3}));
  model.node("Loop", {"m", "", "x"}, {"last"}).named("loop").graph_attribute("body", body.graph_message());
  return model.output("last");
}

Trace recorded(const ModelBuilder& model, std::vector<NamedTensor> inputs, const char* engine = "strict",
               RecordOptions options = {}) {
  auto bound = bind_inputs(built(model), inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  auto session = (*find_engine(engine))->prepare(bound->graph, {});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  auto trace = record(bound->graph, **session, bound->inputs, std::move(options));
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  return *std::move(trace);
}

Tensor x4() { return tensor<float>({4}, {0.31f, -1.7f, 0.77f, 2.3f}); }
std::vector<NamedTensor> choice_inputs(bool c) { return {{"c", flag(c)}, {"x", x4()}}; }

Graph inferred(const ModelBuilder& model) {
  auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

Verification verified(const ModelBuilder& model, const Trace& trace) {
  ThreadPool threads(1);
  auto result = verify(inferred(model), "", trace, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *std::move(result);
}

Verdict verdict_of(const Verification& verification, const std::string& output) {
  for (const LayerVerdict& layer : verification.layers)
    if (layer.output == output) return layer.verdict;
  FAIL("no layer " << output);
  return Verdict::missing;
}

void change(Trace& trace, const std::string& name, float by = 1.01f) {
  for (NamedTensor& named : trace.tensors)
    if (named.name == name) {
      // Values that are passed on share their memory.
      auto copy = Tensor::from_values<float>(named.tensor.shape(), named.tensor.values<float>());
      REQUIRE(copy.ok());
      copy->mutable_values<float>()[1] *= by;
      named.tensor = *std::move(copy);
      return;
    }
  FAIL("no value " << name);
}

std::vector<std::string> node_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const NodeRecord& node : trace.nodes) names.push_back(node.name);
  return names;
}

const std::vector<std::int64_t> sampled_of_40 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 39};

}  // namespace

TEST_CASE("If_OfARun_HasLayersOfTheBranchThatWasTaken") {
  for (const char* engine : {"strict", "reference"}) {
    CAPTURE(engine);
    const Trace trace = recorded(choice(), choice_inputs(true), engine, {.repeat = 3});
    CHECK(node_names(trace) == std::vector<std::string>{"choice[then]/scale", "choice[then]/shift",
                                                        "choice[then]/squash", "choice"});
    for (const NodeRecord& node : trace.nodes) {
      CHECK(node.time_ns.size() == 3);
      CHECK(node.inside == (node.name == "choice" ? "" : "choice"));
    }
    CHECK(trace.nodes[0].op == "Mul");
    for (const char* value : {"choice[then]/product", "choice[then]/sum", "choice[then]/t", "y"})
      CHECK(trace.find(value) != nullptr);
    REQUIRE(trace.control_flow.size() == 1);
    CHECK(trace.control_flow[0].branch == "then");
    const Verification verification = verified(choice(), trace);
    CHECK(verification.layers.size() == 4);
    CHECK(verification.verdict != Verdict::fault);
    CHECK(verdict_of(verification, "choice[then]/t") != Verdict::unjudged);
    CHECK(verdict_of(verification, "y") == Verdict::identical);
  }
  const Trace other = recorded(choice(), choice_inputs(false));
  CHECK(node_names(other) == std::vector<std::string>{"choice[else]/scale", "choice"});
}

TEST_CASE("If_FaultInsideABranch_IsFoundWhereItIs") {
  Trace trace = recorded(choice(), choice_inputs(true));
  change(trace, "choice[then]/sum");
  CHECK(verified(choice(), trace).first_fault == "choice[then]/shift");
  trace = recorded(choice(), choice_inputs(true));
  change(trace, "y");
  CHECK(verified(choice(), trace).first_fault == "choice");
}

TEST_CASE("If_ThatDecidesOtherwise_IsComparedByBothBranches") {
  const Trace left = recorded(choice(), choice_inputs(true));
  Trace right = recorded(choice(), choice_inputs(false));
  for (NamedTensor& named : right.tensors)
    if (named.name == "c") named.tensor = flag(true);  // as if the runtime had taken the wrong branch
  const auto comparison = compare(built(choice()), left, right);
  REQUIRE_MESSAGE(comparison.ok(), comparison.error().message);
  std::vector<std::string> outputs;
  for (const LayerDifference& layer : comparison->layers) outputs.push_back(layer.output);
  CHECK(outputs == std::vector<std::string>{"choice[then]/product", "choice[then]/sum", "choice[then]/t",
                                            "choice[else]/s", "y"});
}

TEST_CASE("Loop_OfARun_KeepsSomeIterationsAndJudgesThem") {
  for (const char* engine : {"strict", "reference"}) {
    CAPTURE(engine);
    Trace trace = recorded(loop(40), {{"x", x4()}}, engine);
    REQUIRE(trace.control_flow.size() == 1);
    CHECK(trace.control_flow[0].iterations == 40);
    CHECK(trace.control_flow[0].recorded == sampled_of_40);
    CHECK(trace.find("loop[9]/product") == nullptr);
    CHECK(trace.find("loop[16]/v") != nullptr);
    CHECK(trace.find("loop[5]/v") == nullptr);  // iteration 4 made it
    const Verification verification = verified(loop(40), trace);
    CHECK(verification.verdict != Verdict::fault);
    CHECK(verdict_of(verification, "last") == Verdict::identical);
    for (const char* value : {"loop[0]/next", "loop[5]/product", "loop[16]/next", "loop[39]/next"})
      CHECK(verdict_of(verification, value) != Verdict::unjudged);
    change(trace, "loop[16]/next");
    CHECK(verified(loop(40), trace).first_fault == "loop[16]/shift");
  }
}

TEST_CASE("Loop_WhoseIterationsAreAllRecorded_IsJudgedWithWhatItCollects") {
  Trace trace = recorded(loop(5), {{"x", x4()}});
  const Verification verification = verified(loop(5), trace);
  CHECK(verdict_of(verification, "last") == Verdict::identical);
  CHECK(verdict_of(verification, "all") == Verdict::identical);
  change(trace, "all");
  CHECK(verified(loop(5), trace).first_fault == "loop");
}

TEST_CASE("Loop_ThatNeverRuns_IsJudgedAsBefore") {
  const Trace trace = recorded(loop(0), {{"x", x4()}});
  REQUIRE(trace.control_flow.size() == 1);
  CHECK(trace.control_flow[0].iterations == 0);
  CHECK(verdict_of(verified(loop(0), trace), "last") == Verdict::identical);
}

TEST_CASE("Scan_OfARun_IsJudgedIterationByIteration") {
  const std::vector<NamedTensor> inputs = {
      {"s0", tensor<float>({2}, {0.5f, -0.25f})},
      {"x", tensor<float>({2, 5}, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, -1.1f, 1.2f, 1.3f, 1.4f, 1.5f})}};
  Trace trace = recorded(scan(), inputs);
  CHECK(node_names(trace).front() == "scan[0]/add");
  const Verification verification = verified(scan(), trace);
  CHECK(verification.verdict != Verdict::fault);
  CHECK(verdict_of(verification, "scan[4]/t") != Verdict::unjudged);
  CHECK(verdict_of(verification, "s") == Verdict::identical);
  CHECK(verdict_of(verification, "sums") == Verdict::identical);
  change(trace, "scan[3]/u");
  CHECK(verified(scan(), trace).first_fault == "scan[3]/squash");
}

TEST_CASE("Nested_IfInsideALoop_IsNamedByBoth") {
  const auto plan =
      Tensor::from_bytes(DType::boolean, {3}, std::as_bytes(std::span<const char>("\1\0\1", 3)));
  REQUIRE(plan.ok());
  const std::vector<NamedTensor> inputs = {{"x", x4()}, {"plan", *plan}};
  Trace trace = recorded(nested(), inputs);
  CHECK(node_names(trace) ==
        std::vector<std::string>{"loop[0]/which", "loop[0]/choice[then]/add", "loop[0]/choice",
                                 "loop[0]/again", "loop[1]/which", "loop[1]/choice[else]/squash",
                                 "loop[1]/choice", "loop[1]/again", "loop[2]/which",
                                 "loop[2]/choice[then]/add", "loop[2]/choice", "loop[2]/again", "loop"});
  CHECK(verified(nested(), trace).verdict != Verdict::fault);
  change(trace, "loop[1]/choice[else]/b");
  CHECK(verified(nested(), trace).first_fault == "loop[1]/choice[else]/squash");
}

TEST_CASE("ControlFlow_IsKeptInTheFile") {
  const Trace trace = recorded(loop(40), {{"x", x4()}});
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  const auto read = read_trace(*bytes);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  REQUIRE(read->control_flow.size() == 1);
  CHECK(read->control_flow[0].node == "loop");
  CHECK(read->control_flow[0].recorded == sampled_of_40);
  CHECK(read->nodes[0].inside == "loop");
  CHECK(verified(loop(40), *read).layers.size() == verified(loop(40), trace).layers.size());
}

TEST_CASE("Record_ChosenValues_AreChosenInAnyIteration") {
  RecordOptions options;
  options.values = {"loop[*]/next"};
  const Trace trace = recorded(loop(3), {{"x", x4()}}, "strict", options);
  CHECK(trace.find("loop[1]/next") != nullptr);
  CHECK(trace.find("loop[1]/product") == nullptr);
  CHECK(recorded(loop(3), {{"x", x4()}}, "strict", {.capture = Capture::outputs}).control_flow.empty());
}

// A record comes from a file.
TEST_CASE("Unfold_RecordsThatDoNotFit_LeaveTheNodeAsItIs") {
  const Graph graph = inferred(loop(5));
  const auto has = [](std::string_view) { return false; };
  const auto nodes = [&](const ControlFlowRecord& record) {
    return unfold(graph, std::vector{record}, has).nodes.size();
  };
  CHECK(nodes({"loop", "", 5, {0, 1, 2, 3, 4}}) == 16);
  CHECK(nodes({"loop", "", 5, {}}) == 1);
  CHECK(nodes({"loop", "", 5, {-1, 4}}) == 1);
  CHECK(nodes({"loop", "", 5, {0, 5}}) == 1);
  CHECK(nodes({"loop", "", 5, {2, 1}}) == 1);
  CHECK(nodes({"loop", "", 5, {1, 1}}) == 1);
  CHECK(nodes({"other", "then", 5, {0}}) == 1);
  CHECK(nodes({"loop", "", 5, {4}}) == 1);  // nothing says what it starts from
  std::vector<std::int64_t> many(1 << 20);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i);
  CHECK(nodes({"loop", "", 1 << 20, many}) == 1);
  CHECK(unfold(inferred(choice()), std::vector<ControlFlowRecord>{{"choice", "neither"}}, has).nodes.size() ==
        1);
}

}  // namespace driftscope::test::subgraph_recording_test
