// The fast Gemm and MatMul against the plain ones.
#include <doctest/doctest.h>

#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::product_test {
namespace {

// Mostly small, sometimes beyond the blocks of the micro kernel.
std::int64_t size(Rng& rng) {
  if (rng.below(8) == 0) return 1;
  if (rng.below(16) == 0) return 0;
  return 1 + static_cast<std::int64_t>(rng.below(rng.below(4) == 0 ? 300 : 40));
}

Values values(Rng& rng) { return rng.below(2) == 0 ? Values::special : Values::normal; }

NodeCase random_gemm(Rng& rng) {
  const std::int64_t m = size(rng);
  const std::int64_t k = size(rng);
  const std::int64_t n = size(rng);
  const auto trans_a = static_cast<std::int64_t>(rng.below(2));
  const auto trans_b = static_cast<std::int64_t>(rng.below(2));
  NodeCase gemm{.op_type = "Gemm", .attributes = {{"transA", trans_a}, {"transB", trans_b}}};
  if (rng.below(3) == 0) gemm.attributes.push_back({"alpha", 0.3f});
  if (rng.below(3) == 0) gemm.attributes.push_back({"beta", rng.below(2) == 0 ? 0.0f : 1.7f});
  const Values v = values(rng);
  gemm.inputs = {random_tensor(rng, trans_a ? Shape{k, m} : Shape{m, k}, v),
                 random_tensor(rng, trans_b ? Shape{n, k} : Shape{k, n}, v)};
  const std::array<Shape, 6> c = {Shape{n}, Shape{m, n}, Shape{1, n}, Shape{m, 1}, Shape{}, Shape{1}};
  if (rng.below(4) != 0) gemm.inputs.push_back(random_tensor(rng, c[rng.below(c.size())], v));
  gemm.variable = 1 + rng.below(3);
  return gemm;
}

NodeCase random_matmul(Rng& rng) {
  const std::int64_t m = size(rng);
  const std::int64_t k = size(rng);
  const std::int64_t n = size(rng);
  const std::array<std::pair<Shape, Shape>, 9> shapes = {{{{m, k}, {k, n}},
                                                          {{k}, {k, n}},
                                                          {{m, k}, {k}},
                                                          {{k}, {k}},
                                                          {{3, m, k}, {k, n}},
                                                          {{2, 3, m, k}, {1, 3, k, n}},
                                                          {{2, 1, m, k}, {3, k, n}},
                                                          {{m, k}, {2, k, n}},
                                                          {{2, m, k}, {1, k, n}}}};
  const auto& [a, b] = shapes[rng.below(shapes.size())];
  const Values v = values(rng);
  return {.op_type = "MatMul",
          .inputs = {random_tensor(rng, a, v), random_tensor(rng, b, v)},
          .variable = 1 + rng.below(2)};
}

void try_many(NodeCase (*make)(Rng&), int cases, const char* op_type) {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  CAPTURE(op_type);
  Rng rng(seed);
  cases = repetitions(cases);
  int fast = 0;
  for (int i = 0; i < cases; ++i) {
    const SameBits result = check_same_bits(make(rng));
    CHECK(result.valid);
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast > cases / 2);
}

TEST_CASE("StrictGemm_RandomNodes_SameBitsAsPlain" * doctest::test_suite("slow")) {
  try_many(random_gemm, 120, "Gemm");
}

TEST_CASE("StrictMatMul_RandomNodes_SameBitsAsPlain" * doctest::test_suite("slow")) {
  try_many(random_matmul, 120, "MatMul");
}

TEST_CASE("StrictGemm_OneRow_SameBitsAsPlain") {
  Rng rng(1);
  const NodeCase gemm{.op_type = "Gemm",
                      .attributes = {{"transB", std::int64_t{1}}},
                      .inputs = {random_tensor(rng, {1, 400}, Values::normal),
                                 random_tensor(rng, {1000, 400}, Values::normal),
                                 random_tensor(rng, {1000}, Values::normal)}};
  CHECK(check_same_bits(gemm).fast);
}

}  // namespace
}  // namespace driftscope::test::product_test
