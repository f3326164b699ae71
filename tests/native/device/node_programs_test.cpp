// The programs that the WebGPU engine reports: fused, on strict, without a shader.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/device/device.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/programs.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::node_programs_test {
namespace {

Graph conv_and_relu(const Tensor& weights) {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 3, 8, 8})
      .initializer("w", weights)
      .node("Conv", {"x", "w"}, {"y"})
      .node("Relu", {"y"}, {"z"})
      .output("z");
  return built(model);
}

std::optional<NodePrograms> programs_of(const Graph& graph, const Tensor& input, bool fuse, NodeId node) {
  const auto bound = bind_inputs(graph, {{"x", input}});
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  const auto engine = find_engine("webgpu");
  REQUIRE(engine.ok());
  EngineOptions options;
  options.fuse = fuse;
  const auto session = (*engine)->prepare(bound->graph, options);
  if (!session.ok()) return std::nullopt;
  auto* const source = dynamic_cast<ProgramSource*>(session->get());
  REQUIRE(source != nullptr);
  while (true) {
    auto found = source->programs(graph, node);
    if (!found.ok()) {
      MESSAGE("not tried: ", found.error().message);
      return std::nullopt;
    }
    if (*found) return **std::move(found);
  }
}

bool binds(const Program& program, std::string_view what, bool written) {
  return std::ranges::any_of(program.bindings, [&](const ProgramBinding& binding) {
    return binding.what == what && binding.written == written;
  });
}

TEST_CASE("NodePrograms_OfAConvolution_HaveSourceBindingsAndGroups") {
  Rng rng(3);
  const Graph graph = conv_and_relu(random_tensor(rng, {4, 3, 3, 3}));
  const auto made = programs_of(graph, random_tensor(rng, {1, 3, 8, 8}), false, 0);
  if (!made) return;
  CHECK(made->nodes.size() == 1);
  CHECK(made->language == "WGSL");
  CHECK_FALSE(made->device.empty());
  CHECK_FALSE(made->on_strict);
  REQUIRE_FALSE(made->programs.empty());
  const Program& last = made->programs.back();
  CHECK(last.code.find("@compute") != std::string::npos);
  CHECK(last.file.ends_with(".wgsl"));
  CHECK(binds(last, "x", false));
  CHECK(binds(last, "weights", false));
  CHECK(binds(last, "y", true));
}

TEST_CASE("NodePrograms_OfAFusedNode_AreThoseOfTheGroup") {
  Rng rng(4);
  const Graph graph = conv_and_relu(random_tensor(rng, {4, 3, 3, 3}));
  const auto made = programs_of(graph, random_tensor(rng, {1, 3, 8, 8}), true, 0);
  if (!made) return;
  CHECK(made->nodes.size() == 2);
  REQUIRE_FALSE(made->programs.empty());
  CHECK(binds(made->programs.back(), "z", true));
}

TEST_CASE("NodePrograms_OfANodeWithoutAShader_SayThatItRunsOnStrict") {
  ModelBuilder model;  // WGSL has no such integers
  model.input("x", DType::int64, {3}).node("Add", {"x", "x"}, {"y"}).output("y");
  const auto input = Tensor::make(DType::int64, {3}, "x");
  REQUIRE(input.ok());
  const auto made = programs_of(built(model), *input, false, 0);
  if (!made) return;
  CHECK(made->on_strict);
  CHECK(made->programs.empty());
}

}  // namespace
}  // namespace driftscope::test::node_programs_test
