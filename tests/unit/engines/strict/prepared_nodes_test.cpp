// Preparation in the strict engine: nodes on constants alone are computed ahead, nodes in loops have
// their fast kernels; neither changes a bit or hides a value.
#include "core/engines/strict/prepared_nodes.hpp"

#include <doctest/doctest.h>

#include <map>

#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::prepared_nodes_test {
namespace {

// Keeps every value by its name.
class Keeper final : public TraceSink {
 public:
  explicit Keeper(const Graph& graph) : graph_(graph) {}
  [[nodiscard]] bool wants(ValueId) const override { return true; }
  Status value(ValueId id, const Tensor& tensor) override {
    values[graph_.value_name(id)] = tensor;
    return {};
  }
  void node_done(NodeId, std::int64_t) override {}

  std::map<std::string, Tensor> values;

 private:
  const Graph& graph_;
};

struct Prepared {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<StrictSession> session;
};

Prepared prepare(const ModelBuilder& model) {
  auto graph = infer_shapes(built(model));
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  auto shared = std::make_shared<const Graph>(*std::move(graph));
  auto session = std::make_unique<StrictSession>(shared, simd_targets().front(), 2,
                                                 std::map<std::string, std::string>());
  REQUIRE(session->prepare().ok());
  return {shared, std::move(session)};
}

void check_same(const Tensor& got, const Tensor& want) {
  REQUIRE(got.shape() == want.shape());
  int different = 0;
  for (std::size_t i = 0; i < got.values<float>().size(); ++i)
    different += same_result(got.values<float>()[i], want.values<float>()[i]) ? 0 : 1;
  CHECK(different == 0);
}

NodeId id_of(const Graph& graph, std::string_view op_type) {
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].op_type == op_type) return id;
  FAIL("no such node");
  return no_node;
}

const Node& node_of(const Graph& graph, std::string_view op_type) {
  for (const Node& node : graph.nodes)
    if (node.op_type == op_type) return node;
  FAIL("no such node");
  return graph.nodes[0];
}

// y = Conv(x, DequantizeLinear(weights of 8 bits)), as quantized models have it.
ModelBuilder with_quantized_weights() {
  std::vector<std::int8_t> w;
  for (int i = 0; i < 4 * 3 * 3 * 3; ++i) w.push_back(static_cast<std::int8_t>(i * 37 % 251 - 125));
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, 9, 9});
  model.initializer("w", tensor<std::int8_t>({4, 3, 3, 3}, w));
  model.initializer("scale", tensor<float>({4}, {0.5f, 0.01f, 0.3f, 1.7f}));
  model.node("DequantizeLinear", {"w", "scale"}, {"weights"}, {integer("axis", 0)});
  model.node("Conv", {"x", "weights"}, {"y"});
  return model.output("y");
}

TEST_CASE("StrictPreparedNodes_WeightsOf8Bits_AreDequantizedAhead") {
  const Prepared model = prepare(with_quantized_weights());
  CHECK(model.session->is_fast(id_of(*model.graph, "DequantizeLinear")));
  CHECK(model.session->is_fast(id_of(*model.graph, "Conv")));
  Rng rng(1);
  const Tensor x = random_tensor(rng, {1, 3, 9, 9}, Values::normal);
  ThreadPool alone(1);
  const Tensor& w = *model.graph->values[*model.graph->find_value("w")].constant;
  const Tensor& scale = *model.graph->values[*model.graph->find_value("scale")].constant;
  const std::array<const Tensor*, 2> stored = {&w, &scale};
  const auto weights = evaluate_strict(node_of(*model.graph, "DequantizeLinear"), stored, alone);
  REQUIRE(weights.ok());
  const std::array<const Tensor*, 2> operands = {&x, &weights->front()};
  const auto want = evaluate_strict(node_of(*model.graph, "Conv"), operands, alone);
  REQUIRE(want.ok());
  for (int run = 0; run < 2; ++run) {
    Keeper keeper(*model.graph);
    const auto y = run_to_end(*model.session, {x}, keeper);
    REQUIRE(y.ok());
    check_same(y->front(), want->front());
    check_same(keeper.values.at("weights"), weights->front());  // still a value of the trace
  }
}

TEST_CASE("StrictPreparedNodes_MuchFromLittle_IsMadeWhenItRuns") {
  ModelBuilder model;
  model.input("x", DType::float32, {1});
  model.initializer("shape", tensor<std::int64_t>({1}, {1 << 20}));
  model.node("ConstantOfShape", {"shape"}, {"zeros"});
  model.node("Add", {"x", "zeros"}, {"y"}).output("y");
  const Prepared prepared = prepare(model);
  CHECK(!prepared.session->is_fast(id_of(*prepared.graph, "ConstantOfShape")));
}

TEST_CASE("StrictPreparedNodes_ConstantsThatFitNot_FailWhenTheyRun") {
  ModelBuilder body("body");
  body.initializer("table", tensor<float>({2}, {1.0f, 2.0f}));
  body.initializer("beyond", tensor<std::int64_t>({1}, {7}));
  body.node("Gather", {"table", "beyond"}, {"z"}).output("z");
  const auto other = ModelBuilder("other").node("Identity", {"x"}, {"z"}).output("z");
  ModelBuilder model;
  model.input("c", DType::boolean, {}).input("x", DType::float32, {1});
  model.node("If", {"c"}, {"y"})
      .graph_attribute("then_branch", body.graph_message())
      .graph_attribute("else_branch", other.graph_message());
  model.output("y");
  const Prepared prepared = prepare(model);
  const Tensor x = tensor<float>({1}, {5.0f});
  const auto flag = [](bool on) {
    const std::byte byte{static_cast<unsigned char>(on)};
    return *Tensor::from_bytes(DType::boolean, {}, {&byte, 1});
  };
  CHECK(run_to_end(*prepared.session, {flag(false), x}, no_trace_sink()).ok());
  CHECK(!run_to_end(*prepared.session, {flag(true), x}, no_trace_sink()).ok());
}

// h = tanh(h·w) repeatedly; if `grows`, h gets another row each time.
ModelBuilder loop(bool grows) {
  Rng rng(3);
  ModelBuilder body("body");
  body.input("i", DType::int64, {}).input("go", DType::boolean, {});
  if (grows)
    body.input("h", DType::float32, {"rows", 5});
  else
    body.input("h", DType::float32, {2, 5});
  body.initializer("w", random_tensor(rng, {5, 5}, Values::normal));
  body.node("Identity", {"go"}, {"keep"});
  body.node("MatMul", {"h", "w"}, {"product"});
  body.node("Tanh", {"product"}, {"next"});
  if (grows) body.node("Concat", {"next", "x"}, {"result"}, {integer("axis", 0)});
  body.output("keep").output(grows ? "result" : "next");
  ModelBuilder model;
  model.input("x", DType::float32, {2, 5});
  model.initializer("trips", tensor<std::int64_t>({}, {6}));
  model.node("Loop", {"trips", "", "x"}, {"y"}).graph_attribute("body", body.graph_message());
  return model.output("y");
}

TEST_CASE("StrictPreparedNodes_NodesOfALoop_HaveFastKernelsWithTheSameBits") {
  for (const bool grows : {false, true}) {
    CAPTURE(grows);
    const Prepared model = prepare(loop(grows));
    const Node& outer = node_of(*model.graph, "Loop");
    const Graph& body = *outer.subgraphs[0].graph;
    CHECK(model.session->is_fast(node_of(body, "MatMul")) == !grows);
    CHECK(model.session->is_fast(node_of(body, "Tanh")) == !grows);
    Rng rng(4);
    const Tensor x = random_tensor(rng, {2, 5}, Values::normal);
    std::vector<const Tensor*> operands;
    for (const ValueId id : outer.reads())
      operands.push_back(id == no_value                                 ? nullptr
                         : model.graph->values[id].constant.has_value() ? &*model.graph->values[id].constant
                                                                        : &x);
    ThreadPool alone(1);
    const auto want = evaluate_strict(outer, operands, alone);
    REQUIRE_MESSAGE(want.ok(), want.error().message);
    for (int run = 0; run < 2; ++run) {
      const auto y = run_to_end(*model.session, {x}, no_trace_sink());
      REQUIRE_MESSAGE(y.ok(), y.error().message);
      check_same(y->front(), want->front());
    }
  }
}

}  // namespace
}  // namespace driftscope::test::prepared_nodes_test
