#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/support/random_tensor.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::conv_test {
namespace {

using Numbers = std::vector<double>;
constexpr float infinity = std::numeric_limits<float>::infinity();

std::int64_t pick(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

}  // namespace

TEST_CASE("Conv_SameUpperStride2_PadsTail") {
  const auto x = floats({1, 1, 4}, {1, 2, 3, 4});
  const auto w = floats({1, 1, 3}, {1, 10, 100});
  const std::vector<Attribute> upper = {text("auto_pad", "SAME_UPPER"), ints("strides", {2})};
  const std::vector<Attribute> lower = {text("auto_pad", "SAME_LOWER"), ints("strides", {2})};
  CHECK(OneNode{"Conv", {x, w}, upper}.numbers() == Numbers{321, 43});
  CHECK(OneNode{"Conv", {x, w}, lower}.numbers() == Numbers{210, 432});
}

TEST_CASE("Conv_TapsInThePadding_AreLeftOut") {
  const auto w = floats({1, 1, 3}, {infinity, 2, infinity});
  CHECK(OneNode{"Conv", {floats({1, 1, 1}, {3}), w}, {ints("pads", {1, 1})}}.numbers() == Numbers{6});
}

TEST_CASE("Conv_Strict_StartsAtTheBiasAndAddsInOrder") {
  // 2²⁴ + 1 + 1 is 2²⁴ from the left and 2²⁴ + 2 from the right.
  const auto x = floats({1, 2, 1}, {1, 1});
  const auto w = floats({1, 2, 1}, {1, 1});
  const auto b = floats({1}, {0x1p24f});
  CHECK(OneNode{"Conv", {x, w, b}}.strict_numbers() == Numbers{0x1p24});
  // −2²⁴ + 2²⁴ + 1: channels in ascending order.
  const auto y = floats({1, 3, 1}, {-0x1p24f, 0x1p24f, 1});
  CHECK(OneNode{"Conv", {y, floats({1, 3, 1}, {1, 1, 1})}}.strict_numbers() == Numbers{1});
  const auto z = floats({1, 3, 1}, {1, 0x1p24f, -0x1p24f});
  CHECK(OneNode{"Conv", {z, floats({1, 3, 1}, {1, 1, 1})}}.strict_numbers() == Numbers{0});
}

TEST_CASE("Conv_WrongShapes_SayWhatWasExpected") {
  const auto x = floats({1, 8, 5, 5}, std::vector<float>(200));
  const auto w = floats({4, 3, 3, 3}, std::vector<float>(108));
  const Error groups = OneNode{"Conv", {x, w}, {integer("group", 2)}}.error();
  CHECK(groups.kind == ErrorKind::bad_input);
  CHECK(
      contains(groups.message, "input 1 (W): 3 channels × group 2 must equal the 8 channels of input 0 (X)"));
  CHECK(contains(groups.message, "Conv_0"));
  const auto uneven = floats({3, 4, 3, 3}, std::vector<float>(108));
  CHECK(contains(OneNode{"Conv", {x, uneven}, {integer("group", 2)}}.error().message,
                 "3 output channels cannot be cut into 2 groups"));
  CHECK(contains(OneNode{"Conv", {x, uneven}, {integer("group", 0)}}.error().message, "group"));
  const auto good = floats({4, 8, 3, 3}, std::vector<float>(288));
  CHECK(
      contains(OneNode{"Conv", {x, good}, {ints("pads", {0, -1, 0, 0})}}.error().message, "attribute pads"));
  CHECK(contains(OneNode{"Conv", {x, good}, {ints("pads", {1, 1})}}.error().message,
                 "expected 4 values, got 2"));
  CHECK(contains(OneNode{"Conv", {x, good}, {ints("strides", {0, 1})}}.error().message, "attribute strides"));
  CHECK(contains(OneNode{"Conv", {x, good}, {ints("kernel_shape", {3, 5})}}.error().message,
                 "attribute kernel_shape: expected 3"));
  CHECK(contains(OneNode{"Conv", {x, good}, {ints("dilations", {3, 1})}}.error().message,
                 "covers 7, more than the input of 5"));
  CHECK(contains(OneNode{"Conv", {x, good}, {text("auto_pad", "SAME")}}.error().message, "got 'SAME'"));
  CHECK(contains(OneNode{"Conv", {x, good}, {real("group", 1)}}.error().message,
                 "attribute group: expected an integer, got a float"));
  CHECK(contains(OneNode{"Conv", {x, good, floats({3}, {1, 2, 3})}}.error().message,
                 "input 2 (B): expected 4 elements"));
  CHECK(contains(OneNode{"Conv", {x, floats({4, 8, 3}, std::vector<float>(96))}}.error().message,
                 "input 1 (W): expected rank 4"));
  const auto big = std::int64_t{1} << 62;
  CHECK(contains(OneNode{"Conv", {x, good}, {ints("pads", {big, big, big, big})}}.error().message,
                 "attribute pads"));
}

TEST_CASE("Conv_EmptyBatch_GivesAnEmptyResult") {
  const auto x = floats({0, 1, 4}, {});
  CHECK(OneNode{"Conv", {x, floats({2, 1, 3}, std::vector<float>(6))}}.shape() == Shape{0, 2, 2});
}

TEST_CASE("Conv_SymbolicSizes_ArePassedOn") {
  const auto w = floats({6, 1, 5, 5}, std::vector<float>(150));
  const auto model = [&](const std::vector<Attribute>& attributes) {
    ModelBuilder builder;
    builder.input("x", DType::float32, {"N", 1, "H", 28}).initializer("w", w);
    return builder.node("Conv", {"x", "w"}, {"y"}, attributes).output("y");
  };
  CHECK(inferred_shape(model({}), "y") == "Nx6x?x24");
  CHECK(inferred_shape(model({ints("pads", {2, 2, 2, 2})}), "y") == "Nx6xHx28");
  CHECK(inferred_shape(model({text("auto_pad", "SAME_UPPER")}), "y") == "Nx6xHx28");
}

// Against sums written out index by index, in double, for random geometries.
TEST_CASE("Conv_RandomGeometries_EqualTheDefinition") {
  const std::uint64_t seed = 20261120;
  Rng rng(seed);
  for (int trial = 0; trial < 60; ++trial) {
    INFO(fmt::format("seed {} trial {}", seed, trial));
    const std::int64_t group = pick(rng, 1, 3);
    const std::int64_t channels = pick(rng, 1, 3);
    const std::int64_t per_group = pick(rng, 1, 3);
    const Shape k = {pick(rng, 1, 3), pick(rng, 1, 4)};
    const Shape d = {pick(rng, 1, 2), pick(rng, 1, 3)};
    const Shape s = {pick(rng, 1, 3), pick(rng, 1, 3)};
    const Shape p = {pick(rng, 0, 3), pick(rng, 0, 3), pick(rng, 0, 3), pick(rng, 0, 3)};
    const Shape size = {(k[0] - 1) * d[0] + pick(rng, 1, 5), (k[1] - 1) * d[1] + pick(rng, 1, 9)};
    const Shape xs = {2, channels * group, size[0], size[1]};
    const Shape ws = {per_group * group, channels, k[0], k[1]};
    const Tensor x = random_tensor(rng, xs);
    const Tensor w = random_tensor(rng, ws);
    const Tensor b = random_tensor(rng, {ws[0]});
    const OneNode node{"Conv",
                       {x, w, b},
                       {ints("strides", s), ints("dilations", d), ints("pads", p), integer("group", group)}};
    const Tensor y = node.run()[0];
    const Shape out = {(size[0] + p[0] + p[2] - (k[0] - 1) * d[0] - 1) / s[0] + 1,
                       (size[1] + p[1] + p[3] - (k[1] - 1) * d[1] - 1) / s[1] + 1};
    REQUIRE(y.shape() == Shape{2, ws[0], out[0], out[1]});
    const auto at = [](const Tensor& t, std::int64_t a, std::int64_t c, std::int64_t i, std::int64_t j) {
      const Shape& q = t.shape();
      return static_cast<double>(
          t.values<float>()[static_cast<std::size_t>(((a * q[1] + c) * q[2] + i) * q[3] + j)]);
    };
    double worst = 0.0;
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t m = 0; m < ws[0]; ++m)
        for (std::int64_t i = 0; i < out[0]; ++i)
          for (std::int64_t j = 0; j < out[1]; ++j) {
            double sum = static_cast<double>(b.values<float>()[static_cast<std::size_t>(m)]);
            for (std::int64_t c = 0; c < channels; ++c)
              for (std::int64_t u = 0; u < k[0]; ++u)
                for (std::int64_t v = 0; v < k[1]; ++v) {
                  const std::int64_t row = i * s[0] - p[0] + u * d[0];
                  const std::int64_t column = j * s[1] - p[1] + v * d[1];
                  if (row < 0 || row >= size[0] || column < 0 || column >= size[1]) continue;
                  sum += at(x, n, m / per_group * channels + c, row, column) * at(w, m, c, u, v);
                }
            worst = std::fmax(worst, std::fabs(at(y, n, m, i, j) - sum));
          }
    CHECK(worst < 1e-4);
  }
}

TEST_CASE("ConvGemmMatMul_AnyNumberOfThreads_SameBits") {
  Rng rng(7);
  const std::vector<OneNode> nodes = {
      {"Conv",
       {random_tensor(rng, {2, 6, 17, 19}), random_tensor(rng, {8, 3, 3, 3}), random_tensor(rng, {8})},
       {integer("group", 2), ints("pads", {1, 1, 1, 1})}},
      {"Gemm",
       {random_tensor(rng, {40, 70}), random_tensor(rng, {150, 70}), random_tensor(rng, {150})},
       {integer("transB", 1), real("alpha", 0.7f)}},
      {"MatMul", {random_tensor(rng, {3, 40, 70}), random_tensor(rng, {70, 150})}}};
  for (const OneNode& node : nodes) {
    INFO(node.op);
    const Graph graph = node.graph();
    ThreadPool one(1);
    const auto strict = run_graph_strict(graph, node.named(), one);
    const auto bounded = run_graph<Bounded>(graph, node.named(), one);
    REQUIRE((strict.ok() && bounded.ok()));
    const ValueId y = graph.outputs[0];
    for (const int count : {2, 3, 4}) {
      ThreadPool threads(count);
      const auto again = run_graph_strict(graph, node.named(), threads);
      const auto bounds = run_graph<Bounded>(graph, node.named(), threads);
      REQUIRE((again.ok() && bounds.ok()));
      CHECK(std::ranges::equal((*again)[y].bytes(), (*strict)[y].bytes()));
      CHECK(std::memcmp((*bounds)[y].real.data(), (*bounded)[y].real.data(),
                        (*bounded)[y].real.size() * sizeof(Bounded)) == 0);
    }
  }
}

}  // namespace driftscope::test::conv_test
