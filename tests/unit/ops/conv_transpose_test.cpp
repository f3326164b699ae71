// ConvTranspose beyond the ONNX cases: against the definition by scattering, and sizes.
#include <doctest/doctest.h>

#include "core/base/rng.hpp"
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
  for (int round = 0; round < 60; ++round) {
    const std::int64_t group = 1 + below(rng, 2);
    const std::int64_t c = group * (1 + below(rng, 2));
    const std::int64_t m = 1 + below(rng, 3);
    const std::int64_t h = 1 + below(rng, 4), w = 1 + below(rng, 5);
    const std::int64_t kh = 1 + below(rng, 3), kw = 1 + below(rng, 4);
    const std::int64_t sh = 1 + below(rng, 3), sw = 1 + below(rng, 3);
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
