// Weights that stay in their source until an engine packs them: the same bits as from memory, and never all
// of them in memory beside the packed ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "core/base/rng.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::deferred_weights_test {
namespace {

/// Bytes that record how they are read.
struct Watched {
  std::vector<std::byte> bytes;
  std::int64_t read = 0;
  std::int64_t max_alive = 0;  // bytes of tensors while they were read
  bool closed = false;

  [[nodiscard]] ByteSource source() {
    return {bytes.size(), [this](std::uint64_t offset, std::span<std::byte> target) {
              REQUIRE_FALSE(closed);
              read += std::ssize(target);
              max_alive = std::max(max_alive, alive_tensors().bytes);
              source_of(bytes).read(offset, target);
            }};
  }
};

std::vector<float> random(Rng& rng, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = rng.normal();
  return values;
}

Tensor yes() {
  constexpr auto byte = std::byte{1};
  const auto made = Tensor::from_bytes(DType::boolean, {}, {&byte, 1});
  REQUIRE(made.ok());
  return *made;
}

std::shared_ptr<const Graph> graph_of(const Result<Model>& model) {
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  auto graph = build_graph(*model);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  auto inferred = infer_shapes(*std::move(graph));
  REQUIRE_MESSAGE(inferred.ok(), inferred.error().message);
  return std::make_shared<const Graph>(*std::move(inferred));
}

std::vector<Tensor> outputs_of(const char* engine_name, std::shared_ptr<const Graph> graph,
                               const NamedInputs& inputs, Watched* traced) {
  auto bound = bind_inputs(*graph, inputs);
  REQUIRE_MESSAGE(bound.ok(), bound.error().message);
  graph.reset();
  const auto engine = find_engine(engine_name);
  REQUIRE(engine.ok());
  EngineOptions options;
  options.threads = 2;
  options.fuse = true;
  auto session = (*engine)->prepare(std::move(bound->graph), options);
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  if (traced != nullptr) traced->closed = true;
  auto outputs = run_to_end(**session, std::move(bound->inputs), no_trace_sink());
  REQUIRE_MESSAGE(outputs.ok(), outputs.error().message);
  return *std::move(outputs);
}

}  // namespace

TEST_CASE("DeferredTensor_IsReadWhenItIsAsked_ForEveryCopy") {
  Watched traced{.bytes = std::vector<std::byte>(64)};
  for (std::size_t i = 0; i < 64; ++i) traced.bytes[i] = static_cast<std::byte>(i);
  const auto tensor = Tensor::deferred(DType::float32, {4, 4}, traced.source());
  REQUIRE(tensor.ok());
  const auto view = tensor->reshaped({16});
  REQUIRE(view.ok());
  std::vector<std::byte> part(5);
  tensor->copy_bytes(7, part);
  CHECK(part[4] == std::byte{11});
  CHECK_FALSE(tensor->in_memory());
  CHECK(tensor->byte_size() == 64);
  CHECK(traced.read == 5);
  CHECK(std::ranges::equal(tensor->bytes(), traced.bytes));
  CHECK(view->in_memory());
  CHECK(view->bytes().data() == tensor->bytes().data());
  CHECK(traced.read == 69);
  const auto wrong = Tensor::deferred(DType::float32, {4, 5}, traced.source(), "w");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message == "w: float32 of shape 4x5 needs 80 bytes, got 64");
}

TEST_CASE("DeferredTensor_ElementsInPlace_AreUsedThereIfTheyAreAligned") {
  alignas(64) static std::array<std::byte, 256> memory{};
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
  std::size_t asked_behind = 0;
  const auto tensor_at = [&](std::uint64_t offset) {
    ByteSource source;
    source.size = memory.size();
    source.read = [](std::uint64_t at, std::span<std::byte> target) { source_of(memory).read(at, target); };
    source.in_place = [&](std::uint64_t at, std::uint64_t, std::size_t behind) {
      asked_behind = behind;
      return std::shared_ptr<const std::byte>(std::shared_ptr<void>(), memory.data() + at);
    };
    auto made = Tensor::deferred(DType::uint8, {64}, source.part(offset, 64));
    REQUIRE(made.ok());
    return *std::move(made);
  };
  const Tensor aligned = tensor_at(128);
  CHECK(aligned.lies_in_place());
  CHECK_FALSE(aligned.in_memory());
  CHECK(aligned.bytes().data() == memory.data() + 128);
  CHECK(asked_behind == 64);  // what vector loads of the last elements reach
  const Tensor other = tensor_at(4);
  CHECK_FALSE(other.lies_in_place());
  CHECK(other.bytes().data() != memory.data() + 4);
  CHECK(other.bytes()[0] == std::byte{4});
}

TEST_CASE("DeferredWeights_AreReadOnceUntilASessionIsPrepared_SameBits") {
  constexpr std::int64_t k = 1024;
  Rng rng(11);
  ModelBuilder builder("deferred");
  builder.input("x", DType::float32, {3, k});
  // Gemm with N×K, with K×N, MatMul, weights that a strict kernel reads while it runs, and one in a branch.
  const auto weights = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    builder.initializer(name, tensor<float>({rows, columns}, random(rng, rows * columns)));
  };
  weights("a", 3000, k);
  weights("b", 3000, k);
  weights("c", k, 2100);
  weights("d", 3, 2100);
  weights("e", 3, 2100);
  ModelBuilder branch("branch");
  branch.node("Add", {"yd", "e"}, {"ye"}).output("ye");
  builder.initializer("bias", tensor<float>({3000}, random(rng, 3000)))
      .node("Gemm", {"x", "a", "bias"}, {"ya"}, {integer("transB", 1)})
      .node("Gemm", {"ya", "b"}, {"yb"}, {real("alpha", 0.01f)})
      .node("MatMul", {"yb", "c"}, {"yc"})
      .node("Mod", {"yc", "d"}, {"yd"}, {integer("fmod", 1)})
      .input("which", DType::boolean, {})
      .node("If", {"which"}, {"y"})
      .graph_attribute("then_branch", branch.graph_message())
      .graph_attribute("else_branch", branch.graph_message())
      .output("y");
  Watched traced{.bytes = builder.bytes()};
  const NamedInputs inputs = {{"x", tensor<float>({3, k}, random(rng, 3 * k))}, {"which", yes()}};
  for (const char* engine : {"fast", "strict"}) {
    CAPTURE(engine);
    const auto want = outputs_of(engine, graph_of(read_onnx(traced.bytes)), inputs, nullptr);
    traced.max_alive = 0;
    traced.closed = false;
    const std::int64_t before = alive_tensors().bytes;
    auto deferred = graph_of(read_onnx(traced.source(), no_external_data(), Weights::deferred));
    CHECK(alive_tensors().bytes - before < 100'000);
    traced.read = 0;
    const auto got = outputs_of(engine, std::move(deferred), inputs, &traced);
    REQUIRE(got.size() == 1);
    CHECK(std::ranges::equal(got[0].bytes(), want[0].bytes()));
    CHECK(traced.read == 4 * (3000 * k + 3000 * k + k * 2100 + 3 * 2100 + 3 * 2100));
    // Only a part of one is in memory at a time.
    CHECK(traced.max_alive - before < 9 << 20);
  }
}

}  // namespace driftscope::test::deferred_weights_test
