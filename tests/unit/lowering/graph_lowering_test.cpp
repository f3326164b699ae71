// Plans for an engine on a device and for one in host memory, by an engine that computes nothing.
#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "tests/unit/lowering/fake_engine.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::graph_lowering_test {
namespace {

using namespace lowering;

struct Planned {
  explicit Planned(Graph g) {
    auto inferred = infer_shapes(std::move(g));
    REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
    graph = *std::move(inferred);
  }
  Graph graph;
  FakeFallback fallback;
  Plan plan;
};

// The graph is unchanged; only the steps are planned.
void plan(Planned& planned, LoweringOptions options, Space home, bool whole_objects = false,
          bool kinds_are_bytes = false) {
  std::vector<NodeId> producers;
  for (const Value& value : planned.graph.values) producers.push_back(value.producer);
  FakeEngine engine(planned.graph, producers, options, planned.fallback, home);
  engine.whole_objects = whole_objects;
  engine.kinds_are_bytes = kinds_are_bytes;
  auto made = engine.run();
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  planned.plan = *std::move(made);
}

Graph convolutions() {
  const std::vector<float> weights = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  return built(ModelBuilder()
                   .input("x", DType::float32, {1, 3, 4, 5})
                   .initializer("w", tensor<float>({3, 3, 1, 1}, weights))
                   .initializer("w2", tensor<float>({1, 3, 1, 3}, weights))
                   .node("Conv", {"x", "w"}, {"a"})
                   .node("Relu", {"a"}, {"b"})
                   .node("Conv", {"b", "w"}, {"c"})
                   .node("Softmax", {"c"}, {"d"})
                   .node("Conv", {"d", "w2"}, {"e"})
                   .output("e"));
}

}  // namespace

TEST_CASE("GraphLowering_OnADevice_StaysThereBetweenUploadAndReadBack") {
  Planned it(convolutions());
  plan(it, {}, Space::device);
  CHECK(text_of(it.plan, it.graph) ==
        "Conv: upload 0 > 1\n"
        "Conv: conv 1 2 > 3\n"
        "Relu: relu 3 > 4\n"
        "Conv: conv 4 2 > 5\n"
        "Softmax: read back 5 > 6\n"
        "Softmax: fallback 6 > 7\n"
        "Conv: upload 7 > 8\n"
        "Conv: conv 8 10 > 11\n"
        "Conv: read back 11 > 12\n");
  CHECK(form_of(it.plan.buffers[0]) == "host");
  CHECK(form_of(it.plan.buffers[1]) == "device C3/4");
  CHECK(form_of(it.plan.buffers[6]) == "host");
  CHECK(form_of(it.plan.buffers[11]) == "device C1/4");
  CHECK(form_of(it.plan.buffers[it.plan.outputs[0]]) == "host");
  CHECK(it.plan.buffers[1].bytes == 4 * 5 * 16);
  CHECK(it.plan.on_fallback == std::map<std::string, int>{{"Softmax", 1}});
  CHECK(it.fallback.prepared == std::vector<std::string>{"Softmax"});
}

TEST_CASE("GraphLowering_Fused_RunsTheActivationWithItsConvolution") {
  Planned it(convolutions());
  plan(it, {.fuse = true}, Space::device);
  CHECK(text_of(it.plan, it.graph) ==
        "Relu: upload 0 > 1\n"
        "Relu: conv+clamp 1 2 > 3\n"
        "Conv: conv 3 2 > 4\n"
        "Softmax: read back 4 > 5\n"
        "Softmax: fallback 5 > 6\n"
        "Conv: upload 6 > 7\n"
        "Conv: conv 7 9 > 10\n"
        "Conv: read back 10 > 11\n");
}

TEST_CASE("GraphLowering_PlainInHostMemory_ConvertsNothing") {
  Planned it(convolutions());
  plan(it, {}, Space::host);
  CHECK(text_of(it.plan, it.graph) ==
        "Conv: conv 0 1 > 2\n"
        "Relu: relu 2 > 3\n"
        "Conv: conv 3 1 > 4\n"
        "Softmax: fallback 4 > 5\n"
        "Conv: conv 5 7 > 8\n");
  CHECK(it.plan.arena(Space::device) == 0);
}

TEST_CASE("GraphLowering_Constant_IsArrangedWhilePlanning") {
  Planned it(convolutions());
  plan(it, {}, Space::device);
  const Buffer& w2 = it.plan.buffers[10];
  CHECK(w2.storage == Storage::constant);
  CHECK(form_of(w2) == "device C3");
  const auto values = w2.constant.values<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8});
}

TEST_CASE("GraphLowering_DeferredNode_RunsOnlyForAReader") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, 4, 5})
      .node("MaxPool", {"x"}, {"never"}, {ints("kernel_shape", {2, 2})})
      .node("MaxPool", {"x"}, {"p"}, {ints("kernel_shape", {2, 2})})
      .node("Relu", {"x"}, {"a"})
      .node("Relu", {"p"}, {"b"})
      .output("a")
      .output("b");
  Planned it(built(model));
  plan(it, {.fuse = true}, Space::host);
  CHECK(text_of(it.plan, it.graph) ==
        "Relu: relu 0 > 1\n"
        "Relu: fallback 0 > 2\n"
        "Relu: relu 2 > 3\n");
  Planned single(built(model));
  plan(single, {}, Space::host);
  CHECK(single.plan.on_fallback == std::map<std::string, int>{{"MaxPool", 2}});
}

TEST_CASE("GraphLowering_WholeObjects_TakeTurnsWithinTheirKind") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, 4, 5});
  for (int i = 0; i < 6; ++i)
    model.node("Relu", {i == 0 ? "x" : "v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  model.node("Conv", {"v6", "w"}, {"y"}).initializer("w", tensor<float>({1, 3, 1, 1}, {1, 2, 3})).output("y");
  Planned it(built(model));
  plan(it, {}, Space::device, true);
  // Two buffers of the size of x alternate, and one each for x in texels and for y.
  REQUIRE(it.plan.objects.size() == 4);
  CHECK(it.plan.arena(Space::device) == 0);
  std::vector<std::size_t> uses(it.plan.objects.size());
  for (BufferId id = 0; id < it.plan.buffers.size(); ++id) {
    const Buffer& buffer = it.plan.buffers[id];
    if (buffer.space != Space::device || buffer.storage != Storage::arena) continue;
    CHECK(it.plan.objects[buffer.object] == static_cast<std::uint64_t>(buffer.bytes));
    ++uses[buffer.object];
  }
  CHECK(*std::max_element(uses.begin(), uses.end()) >= 3);
  for (const PlannedStep& step : it.plan.steps)
    for (const BufferId read : step.reads)
      for (const BufferId written : step.writes)
        if (it.plan.buffers[read].space == Space::device && it.plan.buffers[written].space == Space::device &&
            it.plan.buffers[read].storage == Storage::arena)
          CHECK(it.plan.buffers[read].object != it.plan.buffers[written].object);
}

TEST_CASE("GraphLowering_ObjectsOfAnySize_ServeWhatIsSmaller") {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, 4, 5});
  for (int i = 0; i < 6; ++i)
    model.node("Relu", {i == 0 ? "x" : "v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  model.node("Conv", {"v6", "w"}, {"y"}).initializer("w", tensor<float>({1, 3, 1, 1}, {1, 2, 3})).output("y");
  Planned it(built(model));
  plan(it, {}, Space::device, true, true);
  // Two that take turns, and grow where x lies in texels.
  REQUIRE(it.plan.objects.size() == 2);
  for (const Buffer& buffer : it.plan.buffers)
    if (buffer.space == Space::device && buffer.storage == Storage::arena)
      CHECK(it.plan.objects[buffer.object] >= static_cast<std::uint64_t>(buffer.bytes));
  for (const PlannedStep& step : it.plan.steps)
    for (const BufferId read : step.reads)
      for (const BufferId written : step.writes)
        if (it.plan.buffers[read].space == Space::device && it.plan.buffers[written].space == Space::device &&
            it.plan.buffers[read].storage == Storage::arena)
          CHECK(it.plan.buffers[read].object != it.plan.buffers[written].object);
}

TEST_CASE("GraphLowering_DeviceArena_HasItsOwnAlignment") {
  Planned it(convolutions());
  plan(it, {}, Space::device);
  CHECK(it.plan.arena(Space::device) > 0);
  for (const Buffer& buffer : it.plan.buffers)
    if (buffer.space == Space::device && buffer.storage == Storage::arena) CHECK(buffer.offset % 256 == 0);
}

TEST_CASE("FallbackStep_GivesInputsInOrderAndChecksWhatCameBack") {
  class OneTensor final : public Memory {
   public:
    Location locate(BufferId /*buffer*/) const override { return {}; }
    Result<Tensor> tensor(BufferId /*buffer*/) const override { return test::tensor<float>({1}, {7}); }
    void put(BufferId buffer, Tensor /*tensor*/) override { written.push_back(buffer); }
    std::vector<BufferId> written;
  };
  const Graph graph = convolutions();
  FakeFallback fallback;
  OneTensor memory;
  fallback.outputs = 2;
  auto step = make_fallback_step(graph, graph.nodes[0], fallback, {4, no_buffer}, {5, no_buffer});
  REQUIRE(step.ok());
  REQUIRE((*step)->run(memory).ok());
  REQUIRE(fallback.seen.size() == 2);
  CHECK(fallback.seen[0] != nullptr);
  CHECK(fallback.seen[1] == nullptr);
  CHECK(memory.written == std::vector<BufferId>{5});
  fallback.outputs = 1;
  const Status status = (*step)->run(memory);
  REQUIRE(!status.ok());
  CHECK(status.error().message.find("made 1 outputs of 2") != std::string::npos);
}

TEST_CASE("Rearranged_ThereAndBack_IsTheSame") {
  const Shape shape = {2, 3, 2};
  std::vector<float> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor plain = tensor<float>(shape, values);
  const auto there = rearranged({"w", shape, plain, {}}, channels_last(shape));
  REQUIRE(there.ok());
  CHECK(there->values<float>()[1] == 2);
  const auto back = rearranged({"w", shape, *there, channels_last(shape)}, {});
  REQUIRE(back.ok());
  CHECK(std::vector<float>(back->values<float>().begin(), back->values<float>().end()) == values);
  CHECK(!rearranged({"w", shape, plain, {}}, {.channels = 3, .packing = 4}).ok());
}

TEST_CASE("Layout_OfDifferentPacking_IsNeverTheSameOrder") {
  CHECK(!same_order({1, 1, 1, 1}, {}, {.packing = 4}));
  CHECK(!same_order({4, 1, 5, 6}, {.channels = 1}, {.channels = 1, .packing = 4}));
  CHECK(same_order({4, 1, 5, 6}, {.packing = 4}, {.channels = 1, .packing = 4}));
}

}  // namespace driftscope::test::graph_lowering_test
