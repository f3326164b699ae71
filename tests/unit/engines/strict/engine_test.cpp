// The strict engine's options, and its report of what ran.
#include "core/runtime/engine.hpp"

#include <doctest/doctest.h>

#include "core/platform/platform.hpp"
#include "tests/unit/engines/strict/same_bits.hpp"

namespace driftscope::test::engine_test {
namespace {

std::shared_ptr<const Graph> relu_graph() {
  Rng rng(1);
  const NodeCase relu{.op_type = "Relu", .inputs = {random_tensor(rng, {2, 3}, Values::normal)}};
  return std::make_shared<const Graph>(*single_node_graph(relu));
}

const Engine& strict() { return **find_engine("strict"); }

TEST_CASE("StrictEngine_EachWidthOfThisMachine_RunsAndSaysSo") {
  for (const SimdTarget& simd : simd_targets()) {
    if (simd.name == "no SIMD") continue;
    const auto session =
        strict().prepare(relu_graph(), {.threads = 1, .values = {{"simd", std::to_string(simd.bits)}}});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    const RanWith ran = (*session)->ran_with();
    CHECK(ran.engine == "strict");
    CHECK(ran.instruction_set == simd.name);
    CHECK(ran.instruction_set.find(std::to_string(simd.bits)) != std::string::npos);
    CHECK(ran.threads_real == 1);
  }
}

TEST_CASE("StrictEngine_DefaultWidth_IsTheBest") {
  const auto session = strict().prepare(relu_graph(), {});
  REQUIRE(session.ok());
  CHECK((*session)->ran_with().instruction_set == simd_targets().front().name);
}

TEST_CASE("StrictEngine_Threads_RealCountIsTold") {
  const auto session = strict().prepare(relu_graph(), {.threads = 3, .values = {}});
  REQUIRE(session.ok());
  const RanWith ran = (*session)->ran_with();
  CHECK(ran.threads_asked == 3);
  CHECK(ran.threads_real == (threads_available() ? 3 : 1));
}

TEST_CASE("StrictEngine_UnknownOption_ListsTheOptions") {
  const auto session = strict().prepare(relu_graph(), {.threads = 0, .values = {{"fast", "1"}}});
  REQUIRE(!session.ok());
  CHECK(session.error().kind == ErrorKind::bad_input);
  CHECK(session.error().message.find("fast") != std::string::npos);
  CHECK(session.error().message.find("simd=128|256|512") != std::string::npos);
}

TEST_CASE("StrictEngine_OddWidth_IsAnError") {
  const auto session = strict().prepare(relu_graph(), {.threads = 0, .values = {{"simd", "64"}}});
  REQUIRE(!session.ok());
  CHECK(session.error().message.find("128, 256, 512") != std::string::npos);
}

TEST_CASE("StrictEngine_WidthThatThisMachineLacks_ListsThoseItHas") {
  for (const int bits : {128, 256, 512}) {
    bool here = false;
    for (const SimdTarget& simd : simd_targets())
      here = here || (simd.bits == bits && simd.name != "no SIMD");
    if (here) continue;
    const auto target = choose_simd(bits);
    REQUIRE(!target.ok());
    CHECK(target.error().message.find("128") != std::string::npos);
  }
  CHECK(!choose_simd(1024).ok());
}

TEST_CASE("StrictEngine_UnknownOperator_NamesNodeAndOperator") {
  Graph graph = *relu_graph();
  graph.nodes[0].op_type = "Frobnicate";
  const auto session = strict().prepare(std::make_shared<const Graph>(std::move(graph)), {});
  REQUIRE(!session.ok());
  CHECK(session.error().message.find("Frobnicate") != std::string::npos);
}

}  // namespace
}  // namespace driftscope::test::engine_test
