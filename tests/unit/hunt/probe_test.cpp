// The cases of a hunt: the same from the same seed, valid, of every operator, and right on our own engines.
#include "core/hunt/probe.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <span>

#include "core/base/sha256.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/hunt/judged.hpp"
#include "core/model/onnx_writer.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::hunt_probe_test {
namespace {

using hunt::draw_probe;
using hunt::Probe;

Graph graph_of(const Probe& probe) {
  auto graph = build_graph(probe.model);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

Trace run(const Graph& graph, const Probe& probe, const char* engine_name) {
  const auto bound = bind_inputs(graph, probe.inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine(engine_name);
  REQUIRE(engine.ok());
  const auto session = (*engine)->prepare(bound->graph, {});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  auto trace = record(bound->graph, **session, bound->inputs, {.capture = Capture::all});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  return *std::move(trace);
}

/// What verify finds, but for overflows on the way, which strict has as well.
void check_right(const Probe& probe, const char* engine, ThreadPool& threads) {
  CAPTURE(engine);
  CAPTURE(probe.text);
  const Graph graph = graph_of(probe);
  const auto verification = verify(graph, "", run(graph, probe, engine), threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  for (const documents::HuntFound& found : hunt::found_in(graph, *verification)) {
    CAPTURE(found.key);
    CAPTURE(found.text);
    CHECK(found.kind == "overflow");
  }
}

}  // namespace

TEST_CASE("HuntProbe_SameSeedAndNumber_SameBytes") {
  for (std::int64_t number = 0; number < 40; ++number) {
    const Probe one = draw_probe(7, number), again = draw_probe(7, number);
    const auto bytes = write_onnx(one.model), same = write_onnx(again.model);
    REQUIRE(bytes.ok());
    REQUIRE(same.ok());
    CHECK(*bytes == *same);
    REQUIRE(one.inputs.size() == again.inputs.size());
    for (std::size_t i = 0; i < one.inputs.size(); ++i)
      CHECK(std::ranges::equal(one.inputs[i].tensor.bytes(), again.inputs[i].tensor.bytes()));
  }
  CHECK(write_onnx(draw_probe(7, 0).model).ok());
  CHECK(*write_onnx(draw_probe(7, 0).model) != *write_onnx(draw_probe(8, 0).model));
}

// Results of other machines name cases by seed and number. A new operator or fill changes the hash.
TEST_CASE("HuntProbe_Bytes_AreTheSameOnEveryHost") {
  std::string hashes;
  for (std::int64_t number = 0; number < 100; ++number) {
    const Probe probe = draw_probe(1, number);
    const auto bytes = write_onnx(probe.model);
    REQUIRE(bytes.ok());
    hashes += sha256_hex(*bytes) + probe.text;
    for (const NamedTensor& input : probe.inputs) hashes += sha256_hex(input.tensor.bytes());
  }
  CHECK(sha256_hex(std::as_bytes(std::span(hashes))) ==
        "d67ac13f325fb0660a7e0bc8a6d92c3596a9544a7bbbaa3659d07f0f1460b784");
}

TEST_CASE("HuntProbe_ManyNumbers_EveryFamilyFillAndLength") {
  std::set<std::string> operators, fills;
  std::map<std::size_t, int> lengths;
  for (std::int64_t number = 0; number < 500; ++number) {
    const Probe probe = draw_probe(1, number);
    for (const ModelNode& node : probe.model.graph.nodes) operators.insert(node.op_type);
    fills.insert(probe.text.substr(probe.text.rfind(' ') + 1));
    ++lengths[probe.model.graph.nodes.size()];
    CHECK_FALSE(probe.model.graph.outputs.empty());
  }
  CHECK(operators.size() > 90);
  for (const hunt::Fill& fill : hunt::fill_table().all()) CHECK(fills.contains(std::string(fill.name)));
  CHECK(lengths[1] > 250);
  CHECK(lengths[6] > 5);
}

TEST_CASE("HuntProbe_ChosenFamily_OnlyItsOperators") {
  const std::vector<std::string> families = {"softmax"};
  for (std::int64_t number = 0; number < 30; ++number)
    for (const ModelNode& node : draw_probe(3, number, families).model.graph.nodes) {
      CAPTURE(node.op_type);
      CHECK((node.op_type == "Softmax" || node.op_type == "LogSoftmax" || node.op_type == "Hardmax"));
    }
}

TEST_CASE("HuntProbe_EveryFamily_DrawsValidGraphs") {
  for (const hunt::HuntOperator& family : hunt::operator_table().all()) {
    CAPTURE(family.name);
    const std::vector<std::string> only = {std::string(family.name)};
    int nodes = 0;
    for (std::int64_t number = 0; number < 20; ++number) {
      const Probe probe = draw_probe(5, number, only);
      nodes += static_cast<int>(probe.model.graph.nodes.size());
      CHECK(infer_shapes(graph_of(probe)).ok());
    }
    CHECK(nodes >= 15);
  }
}

TEST_CASE("HuntProbe_OnStrictAndFast_RaisesNoAlarm" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(40);
  SEED_INFO(seed);
  ThreadPool threads(2);
  for (std::int64_t number = 0; number < repetitions(300); ++number) {
    CAPTURE(number);
    const Probe probe = draw_probe(seed, number);
    check_right(probe, "strict", threads);
    // XNNPACK's depthwise kernels spread what is no number to windows beside it (docs/fast.md).
    if (!probe.text.ends_with("nonfinite")) check_right(probe, "fast", threads);
  }
}

}  // namespace driftscope::test::hunt_probe_test
