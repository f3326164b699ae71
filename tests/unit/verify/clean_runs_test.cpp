// No false alarm: correct float32 engines in every usual order of accumulation, on inputs that make
// their roundings alike.
#include <doctest/doctest.h>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/imitation.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::clean_runs_test {
namespace {

struct Extremes {
  double budget = 0.0;
  double statistical = 0.0;
  double bias = 0.0;
  std::int64_t layers = 0;
};

void check_clean(const Graph& graph, const Trace& trace, Extremes& extremes, ThreadPool& threads) {
  const auto verification = verify(graph, "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  for (const LayerVerdict& layer : verification->layers) {
    CAPTURE(layer.node);
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used);
    CAPTURE(layer.budget_used_statistical);
    CAPTURE(layer.mean_signed_z);
    CHECK((layer.verdict == Verdict::identical || layer.verdict == Verdict::rounding));
    extremes.budget = std::max(extremes.budget, layer.budget_used);
    extremes.statistical = std::max(extremes.statistical, layer.budget_used_statistical);
    extremes.bias = std::max(extremes.bias, std::fabs(layer.mean_signed_z));
    ++extremes.layers;
  }
}

void report(const Extremes& extremes, std::uint64_t seed) {
  MESSAGE("seed " << seed << ": " << extremes.layers << " layers, largest budget used " << extremes.budget
                  << ", statistical " << extremes.statistical << ", |mean signed z| " << extremes.bias);
}

}  // namespace

TEST_CASE("Verify_CleanRunsInEveryOrder_AreNeverSuspect" * doctest::test_suite("large")) {
  const std::uint64_t first = test_seed(20261120);
  SEED_INFO(first);
  ThreadPool threads(2);
  Extremes extremes;
  for (std::uint64_t seed = first; seed < first + 8; ++seed) {
    Rng rng(seed);
    const Shape shape = {1, 3, static_cast<std::int64_t>(9 + rng.below(8)),
                         static_cast<std::int64_t>(9 + rng.below(8))};
    const Graph graph = convolutional_net(rng, shape);
    const Kind kind = all_kinds[seed % all_kinds.size()];
    CAPTURE(static_cast<int>(kind));
    const Tensor input = drawn(shape, kind, rng);
    for (const Arithmetic& arithmetic : correct_arithmetics()) {
      CAPTURE(arithmetic.name);
      check_clean(graph, Imitation(graph, arithmetic).run({{"x", input}}), extremes, threads);
    }
  }
  report(extremes, first);
}

TEST_CASE("Verify_CleanLongSums_AreNeverSuspect" * doctest::test_suite("large")) {
  const std::uint64_t first = test_seed(31);
  SEED_INFO(first);
  ThreadPool threads(2);
  Extremes extremes;
  for (std::uint64_t seed = first; seed < first + repetitions(48); ++seed) {
    Rng rng(seed);
    ModelBuilder model;
    const Kind kind = all_kinds[seed % all_kinds.size()];
    const std::int64_t form = static_cast<std::int64_t>(seed / all_kinds.size() % 4);
    const auto long_one = static_cast<std::int64_t>(300 + rng.below(2000));
    Shape shape;
    if (form == 0) {  // a matrix product with a long inner axis
      shape = {8, long_one};
      model.initializer("w", drawn({long_one, 48}, Kind::normal, rng)).node("MatMul", {"x", "w"}, {"y"});
    } else if (form == 1) {  // positive weights: no cancellation
      shape = {8, long_one};
      model.initializer("w", drawn({long_one, 48}, Kind::positive, rng)).node("MatMul", {"x", "w"}, {"y"});
    } else if (form == 2) {  // thousands of numbers averaged
      shape = {1, 48, 40, static_cast<std::int64_t>(30 + rng.below(30))};
      model.node("GlobalAveragePool", {"x"}, {"y"});
    } else {  // overlapping windows
      shape = {1, 48, 24, 24};
      model.node("AveragePool", {"x"}, {"y"}, {ints("kernel_shape", {13, 11})});
    }
    std::vector<Dim> dims(shape.begin(), shape.end());
    model.input("x", DType::float32, dims).output("y");
    const Graph graph = built(model);
    CAPTURE(static_cast<int>(kind));
    CAPTURE(form);
    CAPTURE(seed);
    const Tensor input = drawn(shape, kind, rng);
    for (const Arithmetic& arithmetic : correct_arithmetics()) {
      CAPTURE(arithmetic.name);
      check_clean(graph, Imitation(graph, arithmetic).run({{"x", input}}), extremes, threads);
    }
  }
  report(extremes, first);
}

}  // namespace driftscope::test::clean_runs_test
