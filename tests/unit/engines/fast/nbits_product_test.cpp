// MatMulNBits of few rows against sums in double, on each instruction set, and in the engine against verify.
#include "core/engines/fast/nbits_product.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/rng.hpp"
#include "core/ops/shared/domains.hpp"
#include "tests/unit/engines/fast/run_engine.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::nbits_product_test {
namespace {

using namespace fast;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float untouched = 12345.0f;

enum class Zeros { none, packed, real };

struct Case {
  NBitsLayout layout;
  std::int64_t rows = 1;
  Tensor weights, scales;
  std::optional<Tensor> zeros;
  bool middle = false;  ///< all zero points are 2^(bits−1)
  std::vector<float> a, bias;

  [[nodiscard]] NBitsWeights decoded() const {
    auto groups = nbits_groups(nullptr, layout);
    REQUIRE(groups.ok());
    return {layout, *std::move(groups), weights, scales, zeros ? &*zeros : nullptr};
  }
};

Case drawn_case(Rng& rng, std::int64_t bits, Zeros zeros) {
  constexpr std::int64_t block_sizes[] = {16, 32, 64, 128};
  Case made;
  made.layout = {.depth = drawn(rng, 1, 300),
                 .columns = drawn(rng, 1, 150),
                 .bits = bits,
                 .block = block_sizes[rng.below(4)]};
  made.rows = drawn(rng, 1, 17);
  const NBitsLayout& layout = made.layout;
  made.weights = random_bytes(rng, layout.columns * layout.blocks() * layout.block_bytes());
  made.scales =
      tensor<float>({layout.columns * layout.blocks()}, normals(rng, layout.columns * layout.blocks()));
  if (zeros == Zeros::packed) made.zeros = random_bytes(rng, layout.columns * layout.zero_bytes());
  made.middle = zeros == Zeros::none;
  if (zeros == Zeros::real)
    made.zeros =
        tensor<float>({layout.columns * layout.blocks()}, normals(rng, layout.columns * layout.blocks()));
  made.a = normals(rng, made.rows * layout.depth);
  if (rng.below(2) == 0) made.bias = normals(rng, layout.columns);
  return made;
}

std::vector<float> multiplied(const Case& given, const NBitsKernels& kernels, ThreadPool& pool,
                              std::int64_t threads) {
  const NBitsProduct product(given.layout, given.decoded(), given.middle,
                             given.bias.empty() ? nullptr : given.bias.data(), kernels, given.rows, pool,
                             threads);
  std::vector<float> scratch(static_cast<std::size_t>(product.scratch()) + 1, untouched);
  std::vector<float> y(static_cast<std::size_t>(given.rows * given.layout.columns) + 1, untouched);
  product.run(given.a.data(), y.data(), scratch.data());
  CHECK(scratch.back() == untouched);
  CHECK(y.back() == untouched);
  y.pop_back();
  return y;
}

/// The largest error of an output, in units of u·(Σ|a·w| + |bias|).
double largest_error(const Case& given, const std::vector<float>& y) {
  const NBitsWeights weights = given.decoded();
  double largest = 0.0;
  for (std::int64_t row = 0; row < given.rows; ++row)
    for (std::int64_t n = 0; n < given.layout.columns; ++n) {
      double sum = given.bias.empty() ? 0.0 : static_cast<double>(given.bias[static_cast<std::size_t>(n)]);
      double magnitude = std::abs(sum);
      for (std::int64_t k = 0; k < given.layout.depth; ++k) {
        const std::int64_t block = k / given.layout.block;
        const double term =
            static_cast<double>(given.a[static_cast<std::size_t>(row * given.layout.depth + k)]) *
            (static_cast<double>(weights.step(k, n)) - static_cast<double>(weights.zero(block, n))) *
            static_cast<double>(weights.scale(block, n));
        sum += term;
        magnitude += std::abs(term);
      }
      const double got = static_cast<double>(y[static_cast<std::size_t>(row * given.layout.columns + n)]);
      if (magnitude == 0.0)
        CHECK(got == 0.0);
      else
        largest = std::max(largest, std::abs(got - sum) / (0x1p-24 * magnitude));
    }
  return largest;
}

/// Products, sums, scales and the bias of an output: the most units that it can be off by.
double terms(const Case& given) {
  return 3.0 * static_cast<double>(given.layout.depth) + 2.0 * static_cast<double>(given.layout.blocks()) +
         2.0;
}

TEST_CASE("NBitsProduct_AnyShape_IsTheProduct") {
  const std::uint64_t seed = test_seed(1);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  ThreadPool two(2);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    const NBitsKernels kernels = nbits_kernels(simd);
    for (const std::int64_t bits : {2, 4, 8})
      for (const Zeros zeros : {Zeros::none, Zeros::packed, Zeros::real})
        for (int i = 0; i < 5; ++i) {
          CAPTURE(bits);
          CAPTURE(static_cast<int>(zeros));
          CAPTURE(i);
          const Case given = drawn_case(rng, bits, zeros);
          const std::vector<float> y = multiplied(given, kernels, one, 1);
          CHECK(largest_error(given, y) < terms(given));
          CHECK(multiplied(given, kernels, two, 2) == y);
          CHECK(multiplied(given, kernels, two, 7) == y);
        }
  }
}

TEST_CASE("NBitsProduct_NumbersOfAnySize_NeitherOverflowNorVanish") {
  const std::uint64_t seed = test_seed(2);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  for (const SimdTarget& simd : simd_targets())
    for (const Zeros zeros : {Zeros::none, Zeros::packed}) {
      CAPTURE(simd.name);
      Case given = drawn_case(rng, 4, zeros);
      given.bias.clear();
      const auto count = static_cast<std::size_t>(given.scales.elements());
      given.scales = tensor<float>({given.scales.elements()}, std::vector<float>(count, 0x1p-5f));
      for (float& x : given.a) x = std::copysign(0.25f + std::min(std::abs(x), 1.6f), x);
      const std::vector<float> a = given.a;
      const std::vector<float> usual = multiplied(given, nbits_kernels(simd), one, 1);
      CHECK(largest_error(given, usual) < terms(given));
      for (const float size : {0x1p-120f, 0x1p-100f, 0x1p+100f, 0x1p+110f}) {
        CAPTURE(size);
        std::ranges::transform(a, given.a.begin(), [&](float x) { return size * x; });
        const std::vector<float> y = multiplied(given, nbits_kernels(simd), one, 1);
        double largest = 0.0;
        for (std::size_t i = 0; i < y.size(); ++i)
          largest = std::max(largest, std::abs(static_cast<double>(y[i]) -
                                               static_cast<double>(usual[i]) * static_cast<double>(size)));
        CHECK(largest <= 0x1p-149);
      }
    }
}

TEST_CASE("NBitsProduct_NanAndInfinity_StayInTheirRow") {
  ThreadPool one(1);
  for (const SimdTarget& simd : simd_targets()) {
    CAPTURE(simd.name);
    Rng rng(3);
    Case given = drawn_case(rng, 4, Zeros::none);
    given.layout = {.depth = 40, .columns = 70, .bits = 4, .block = 32};
    given.weights = tensor<std::uint8_t>({70 * 2 * 16}, std::vector<std::uint8_t>(70 * 2 * 16, 0x99));
    given.scales = tensor<float>({140}, std::vector<float>(140, 1.0f));
    given.rows = 3;
    given.bias.clear();
    given.a.assign(120, 1.0f);
    given.a[39] = infinity;
    given.a[80] = std::nanf("");
    const std::vector<float> y = multiplied(given, nbits_kernels(simd), one, 1);
    for (std::size_t n = 0; n < 70; ++n) {
      CHECK(y[n] == infinity);
      CHECK(y[70 + n] == 40.0f);
      CHECK(std::isnan(y[140 + n]));
    }
  }
}

TEST_CASE("NBitsProduct_GroupsOutOfOrder_AreNone") {
  const NBitsLayout layout{.depth = 70, .columns = 8, .bits = 4, .block = 32};
  auto groups = nbits_groups(nullptr, layout);
  REQUIRE(groups.ok());
  CHECK(are_blocks(*groups, layout));
  (*groups)[69] = 1;
  CHECK_FALSE(are_blocks(*groups, layout));
}

constexpr std::int64_t columns = 200;
constexpr std::int64_t depth = 300;
constexpr std::int64_t blocks = 10;

Graph product_graph(Rng& rng, std::int64_t rows, const std::vector<std::uint8_t>& zeros) {
  ModelBuilder model;
  model.input("a", DType::float32, {rows, depth});
  model.initializer("w", random_bytes(rng, columns * blocks * 16));
  model.initializer("s", tensor<float>({columns * blocks}, normals(rng, columns * blocks)));
  std::vector<std::string> inputs = {"a", "w", "s"};
  if (!zeros.empty()) {
    model.initializer("z", tensor<std::uint8_t>({columns * blocks / 2}, zeros));
    inputs.emplace_back("z");
  }
  model.opset(std::string(microsoft_domain), 1);
  model.node("MatMulNBits", inputs, {"y"},
             {integer("K", depth), integer("N", columns), integer("bits", 4), integer("block_size", 32)},
             std::string(microsoft_domain));
  model.node("Relu", {"y"}, {"out"});
  model.output("out");
  return built(model);
}

TEST_CASE("FastEngine_MatMulNBits_FewRowsAreItsOwn") {
  const std::uint64_t seed = test_seed(4);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(1);
  std::vector<std::uint8_t> drawn(columns * blocks / 2);
  for (std::uint8_t& byte : drawn) byte = static_cast<std::uint8_t>(rng.below(256));
  const std::vector<std::uint8_t> middle(drawn.size(), 0x88);
  std::vector<std::uint8_t> but_one = middle;
  but_one.back() = 0x98;
  for (const std::int64_t rows : {1, 5, 16, 17})
    for (const auto& zeros : {std::vector<std::uint8_t>(), drawn, middle, but_one}) {
      CAPTURE(rows);
      const Graph graph = product_graph(rng, rows, zeros);
      RanWith ran;
      const NamedInputs inputs = {{"a", tensor<float>({rows, depth}, normals(rng, rows * depth))}};
      const Trace trace = run_engine(graph, inputs, Capture::all, 2, "fast", &ran);
      CHECK(ran.options.count("on_strict") == (rows > 16 ? 1 : 0));
      check_clean(graph, trace, threads);
    }
}

}  // namespace
}  // namespace driftscope::test::nbits_product_test
