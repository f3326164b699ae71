// Damaged models must be read or rejected, never crash, hang or request absurd amounts of memory.
#include <doctest/doctest.h>

#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/graph/print.hpp"
#include "core/model/onnx_reader.hpp"
#include "unit/support/allocation_watch.hpp"
#include "unit/support/files.hpp"
#include "unit/support/mutate.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::damaged_model_test {
namespace {

enum class Outcome { accepted, rejected };

/// The whole way from bytes to a graph with shapes.
Outcome read_through(const std::vector<std::byte>& bytes) {
  const AllocationWatch watch;
  const auto finish = [&](const Error* error) {
    // Typed data grows eightfold in memory, vectors twofold while they grow.
    CHECK(watch.largest() <= 32 * bytes.size() + (1 << 20));
    if (error == nullptr) return Outcome::accepted;
    CHECK_FALSE(error->message.empty());
    CHECK(error->message.size() < 2000);
    CHECK(error->kind != ErrorKind::internal);
    return Outcome::rejected;
  };
  const auto model = read_onnx(bytes);
  if (!model.ok()) return finish(&model.error());
  auto graph = build_graph(*model);
  if (!graph.ok()) return finish(&graph.error());
  (void)print_graph(*graph);
  const auto inferred = infer_shapes(*std::move(graph));
  return inferred.ok() ? finish(nullptr) : finish(&inferred.error());
}

}  // namespace

TEST_CASE("DamagedModel_AThousandMutations_AreReadOrRejected") {
  const std::uint64_t seed = test_seed(20261120);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto lenet5 = repository_file("assets/models/lenet5.onnx");
  REQUIRE(read_through(lenet5) == Outcome::accepted);
  int rejected = 0;
  for (int i = 0; i < 1000; ++i) {
    INFO("mutation " << i);
    rejected += read_through(mutated(lenet5, rng)) == Outcome::rejected ? 1 : 0;
  }
  CHECK(rejected > 500);  // most cuts and shifts destroy a model; flipped weights do not
}

TEST_CASE("DamagedModel_DamageOutsideTheWeights_IsReadOrRejected") {
  const std::uint64_t seed = test_seed(7);
  SEED_INFO(seed);
  Rng rng(seed);
  // Small tensors: nearly every byte is structure.
  const auto lenet1 = repository_file("assets/models/lenet1.onnx");
  const std::vector<std::byte> head(lenet1.begin(), lenet1.begin() + 600);
  const std::vector<std::byte> tail(lenet1.end() - 600, lenet1.end());
  for (int i = 0; i < 2000; ++i) {
    INFO("mutation " << i);
    auto bytes = lenet1;
    auto part = mutated(i % 2 == 0 ? head : tail, rng);
    if (i % 2 == 0)
      bytes.erase(bytes.begin(), bytes.begin() + 600);
    else
      bytes.resize(bytes.size() - 600);
    bytes.insert(i % 2 == 0 ? bytes.begin() : bytes.end(), part.begin(), part.end());
    (void)read_through(bytes);
  }
}

TEST_CASE("DamagedModel_CutAnywhere_IsRejected") {
  const auto lenet1 = repository_file("assets/models/lenet1.onnx");
  for (std::size_t size = 0; size < lenet1.size(); size += size < 1000 ? 1 : 37) {
    INFO("cut after " << size << " bytes");
    CHECK(read_through({lenet1.begin(), lenet1.begin() + static_cast<std::ptrdiff_t>(size)}) ==
          Outcome::rejected);
  }
}

}  // namespace driftscope::test::damaged_model_test
