// ConvTranspose beyond the ONNX cases: against the definition by scattering, and sizes.
#include <doctest/doctest.h>

#include "core/base/rng.hpp"
#include "core/eval/evaluate.hpp"
#include "unit/ops/one_node.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::conv_transpose_test {
namespace {

// Small integers: every sum is exact, in any order.
Tensor small_integers(Rng& rng, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& x : values) x = static_cast<float>(static_cast<int>(rng.below(9)) - 4);
  return floats(shape, values);
}

std::int64_t below(Rng& rng, std::uint64_t bound) { return static_cast<std::int64_t>(rng.below(bound)); }

}  // namespace

TEST_CASE("ConvTranspose_RandomGeometry_ScattersEveryInput") {
  const std::uint64_t seed = test_seed(77);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < 120; ++round) {
    // With strides of 1 and four channels or more, exact factors are multiplied as matrices.
    const bool unit = round % 2 == 1;
    const std::int64_t group = 1 + below(rng, 2);
    const std::int64_t c = group * (1 + below(rng, 2));
    const std::int64_t m = unit ? 3 + below(rng, 4) : 1 + below(rng, 3);
    const std::int64_t h = 1 + below(rng, 4), w = 1 + below(rng, 5);
    const std::int64_t kh = 1 + below(rng, 3), kw = 1 + below(rng, 4);
    const std::int64_t sh = unit ? 1 : 1 + below(rng, 3), sw = unit ? 1 : 1 + below(rng, 3);
    const std::int64_t dh = 1 + below(rng, 2), dw = 1 + below(rng, 3);
    const std::int64_t top = below(rng, 2), left = below(rng, 2), right = below(rng, 2);
    const std::int64_t extra = below(rng, static_cast<std::uint64_t>(sw));
    const std::int64_t oh = (h - 1) * sh + (kh - 1) * dh + 1 - top;
    const std::int64_t ow = (w - 1) * sw + (kw - 1) * dw + 1 - left - right + extra;
    if (oh < 1 || ow < 1) continue;
    const Tensor x = small_integers(rng, {2, c, h, w});
    const Tensor weights = small_integers(rng, {c, m, kh, kw});
    const Tensor bias = small_integers(rng, {m * group});
    OneNode node{"ConvTranspose",
                 {x, weights, bias},
                 {integer("group", group), ints("strides", {sh, sw}), ints("dilations", {dh, dw}),
                  ints("pads", {top, left, 0, right}), ints("output_padding", {0, extra})}};
    std::vector<double> want(static_cast<std::size_t>(2 * m * group * oh * ow));
    const auto at = [&](std::int64_t n, std::int64_t o, std::int64_t y, std::int64_t z) -> double& {
      return want[static_cast<std::size_t>(((n * m * group + o) * oh + y) * ow + z)];
    };
    const auto xs = x.values<float>();
    const auto ws = weights.values<float>();
    for (std::int64_t n = 0; n < 2; ++n) {
      for (std::int64_t o = 0; o < m * group; ++o)
        for (std::int64_t i = 0; i < oh * ow; ++i)
          at(n, o, i / ow, i % ow) = static_cast<double>(bias.values<float>()[static_cast<std::size_t>(o)]);
      for (std::int64_t ci = 0; ci < c; ++ci)
        for (std::int64_t i = 0; i < h * w; ++i)
          for (std::int64_t o = 0; o < m; ++o)
            for (std::int64_t k = 0; k < kh * kw; ++k) {
              const std::int64_t y = i / w * sh - top + k / kw * dh;
              const std::int64_t z = i % w * sw - left + k % kw * dw;
              if (y < 0 || y >= oh || z < 0 || z >= ow) continue;
              at(n, ci / (c / group) * m + o, y, z) +=
                  static_cast<double>(xs[static_cast<std::size_t>((n * c + ci) * h * w + i)] *
                                      ws[static_cast<std::size_t>((ci * m + o) * kh * kw + k)]);
            }
    }
    const auto results = node.run();
    CHECK(results[0].shape() == Shape{2, m * group, oh, ow});
    CHECK(as_doubles(results[0]) == want);
  }
}

// Of the first three channels alone, sums are added row by row, with the same bounds.
TEST_CASE("ConvTranspose_AsMatrixProducts_HasTheSameBounds") {
  const std::uint64_t seed = test_seed(78);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto drawn = [&](const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& x : values) x = rng.uniform() - 0.5f;
    return floats(shape, values);
  };
  const Tensor x = drawn({1, 4, 5, 6});
  const Tensor all = drawn({4, 6, 3, 2});
  std::vector<float> some;
  for (std::size_t c = 0; c < 4; ++c)
    for (std::size_t i = 0; i < 3 * 6; ++i) some.push_back(all.values<float>()[c * 36 + i]);
  const std::vector<Attribute> how = {ints("pads", {1, 0, 2, 1}), ints("dilations", {1, 2})};
  // As verify has them: both factors known, without errors.
  const auto bounded = [&](const Tensor& weights) {
    const Graph graph = OneNode{"ConvTranspose", {x, weights}, how}.graph();
    const Evaluated<Bounded> left = known<Bounded>(x), right = known<Bounded>(weights);
    const std::vector<const Evaluated<Bounded>*> factors = {&left, &right};
    ThreadPool threads(1);
    const auto made = evaluate<Bounded>(graph.nodes[0], factors, threads);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    return (*made)[0].real;
  };
  const auto products = bounded(all);
  const auto rows = bounded(floats({4, 3, 3, 2}, some));
  REQUIRE(products.size() == 2 * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(products[i].value == doctest::Approx(rows[i].value).epsilon(1e-13));
    CHECK(products[i].worst == doctest::Approx(rows[i].worst).epsilon(1e-9));
    CHECK(products[i].likely == doctest::Approx(rows[i].likely).epsilon(1e-9));
  }
}

TEST_CASE("ConvTranspose_OutputShape_DecidesThePadding") {
  const auto run = [](std::vector<Attribute> attributes) {
    return OneNode{
        "ConvTranspose", {floats({1, 1, 2}, {1, 10}), floats({1, 1, 3}, {1, 2, 3})}, std::move(attributes)}
        .numbers();
  };
  // In full: 1 2 3+10 20 30.
  CHECK(run({ints("strides", {2})}) == std::vector<double>{1, 2, 13, 20, 30});
  CHECK(run({ints("strides", {2}), ints("output_shape", {4})}) == std::vector<double>{2, 13, 20, 30});
  CHECK(run({ints("strides", {2}), ints("output_shape", {4}), text("auto_pad", "SAME_UPPER")}) ==
        std::vector<double>{1, 2, 13, 20});
  CHECK(run({ints("strides", {2}), text("auto_pad", "SAME_LOWER")}) == std::vector<double>{2, 13, 20, 30});
  CHECK(run({ints("strides", {2}), ints("output_shape", {6})}) == std::vector<double>{1, 2, 13, 20, 30, 0});
}

TEST_CASE("ConvTranspose_BadGeometry_IsAnError") {
  const auto error = [](std::vector<Attribute> attributes, Tensor w = floats({1, 1, 3}, {1, 2, 3})) {
    return OneNode{"ConvTranspose", {floats({1, 1, 2}, {1, 10}), std::move(w)}, std::move(attributes)}
        .error()
        .message;
  };
  CHECK(contains(error({ints("pads", {3, 3})}), "remove more"));
  CHECK(contains(error({ints("output_padding", {-1})}), "output_padding"));
  CHECK(contains(error({ints("output_shape", {1, 2, 3, 4})}), "output_shape"));
  CHECK(contains(error({integer("group", 2)}), "groups"));
  CHECK(contains(error({}, floats({2, 1, 3}, {1, 2, 3, 4, 5, 6})), "input 1 (W)"));
  CHECK(contains(error({ints("strides", {std::int64_t{1} << 40})}), "strides"));
}

}  // namespace driftscope::test::conv_transpose_test
