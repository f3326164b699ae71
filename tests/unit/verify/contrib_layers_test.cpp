// Verdicts on layers of com.microsoft: what a runtime may do with them is rounding, what it may not is a
// fault.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::contrib_layers_test {
namespace {

constexpr std::int64_t rows = 4, depth = 64, columns = 8, block = 32;

bool names(const LayerVerdict& layer, std::string_view id) {
  return std::ranges::any_of(
      layer.findings, [&](const Finding& finding) { return finding.id.find(id) != std::string::npos; });
}

// A product with weights of 4 bits, and what a runtime may make of it.
struct PackedProduct {
  Tensor a, scales, weights, zeros;
  bool has_zeros = false;

  explicit PackedProduct(std::uint64_t seed) {
    Rng rng(seed);
    a = random_tensor(rng, {rows, depth});
    std::vector<float> factors(columns * depth / block);
    for (float& x : factors) x = rng.uniform(0.01F, 0.1F);
    scales = tensor<float>({columns, depth / block}, factors);
    std::vector<std::uint8_t> bytes(columns * depth / 2);
    for (auto& x : bytes) x = static_cast<std::uint8_t>(rng.below(256));
    weights = tensor<std::uint8_t>({columns, depth / block, block / 2}, bytes);
    zeros = tensor<std::uint8_t>({columns, 1}, std::vector<std::uint8_t>(columns, 0x35));
  }

  /// In float; `in_int8`: of the input rounded to int8 in blocks, `zero_points`: of the model's.
  [[nodiscard]] Tensor product(bool in_int8, bool zero_points) const {
    std::vector<float> y(rows * columns);
    const auto from = a.values<float>();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t n = 0; n < columns; ++n) {
        float sum = 0.0F;
        for (std::int64_t b = 0; b < depth / block; ++b) {
          float largest = 0.0F;
          for (std::int64_t k = 0; k < block; ++k)
            largest =
                std::fmax(largest, std::fabs(from[static_cast<std::size_t>(i * depth + b * block + k)]));
          const float zero = !zero_points ? 8.0F : b == 0 ? 5.0F : 3.0F;
          for (std::int64_t k = 0; k < block; ++k) {
            float x = from[static_cast<std::size_t>(i * depth + b * block + k)];
            if (in_int8) x = std::nearbyint(x * (127.0F / largest)) * (largest / 127.0F);
            const std::int64_t at = n * depth + b * block + k;
            const unsigned byte = weights.values<std::uint8_t>()[static_cast<std::size_t>(at / 2)];
            const auto step = static_cast<float>(at % 2 == 0 ? byte & 15U : byte >> 4);
            sum += x * ((step - zero) * scales.values<float>()[static_cast<std::size_t>(n * 2 + b)]);
          }
        }
        y[static_cast<std::size_t>(i * columns + n)] = sum;
      }
    return tensor<float>({rows, columns}, y);
  }

  [[nodiscard]] LayerVerdict verdict(const Tensor& y, std::vector<Attribute> more = {}) const {
    std::vector<Attribute> attributes = {integer("K", depth), integer("N", columns), integer("bits", 4),
                                         integer("block_size", block)};
    attributes.insert(attributes.end(), more.begin(), more.end());
    ModelBuilder model;
    model.opset(21)
        .opset("com.microsoft", 1)
        .input("a", DType::float32, {rows, depth})
        .initializer("w", weights)
        .initializer("s", scales)
        .initializer("z", zeros)
        .node("MatMulNBits", {"a", "w", "s", has_zeros ? "z" : ""}, {"y"}, attributes, "com.microsoft")
        .output("y");
    Trace trace;
    trace.tensors = {{"a", a}, {"y", y}};
    ThreadPool threads(1);
    const auto result = verify(built(model), "", trace, threads);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    REQUIRE(result->layers.size() == 1);
    return result->layers[0];
  }
};

}  // namespace

TEST_CASE("MatMulNBits_InputRoundedToInt8_IsRoundingWhereTheModelAllowsIt") {
  const std::uint64_t seed = test_seed(41);
  SEED_INFO(seed);
  const PackedProduct product(seed);
  CHECK(product.verdict(product.product(false, false)).verdict == Verdict::rounding);
  const Tensor rounded = product.product(true, false);
  const LayerVerdict allowed = product.verdict(rounded, {integer("accuracy_level", 4)});
  CHECK(allowed.verdict == Verdict::rounding);
  CHECK(names(allowed, "int8-activations"));
  CHECK(product.verdict(rounded).verdict == Verdict::fault);
  CHECK(product.verdict(rounded, {integer("accuracy_level", 1)}).verdict == Verdict::fault);
}

TEST_CASE("MatMulNBits_ZeroPointsLeftOut_IsAFaultWithThatCause") {
  const std::uint64_t seed = test_seed(42);
  SEED_INFO(seed);
  PackedProduct product(seed);
  product.has_zeros = true;
  CHECK(product.verdict(product.product(false, true)).verdict == Verdict::rounding);
  const LayerVerdict wrong = product.verdict(product.product(false, false));
  CHECK(wrong.verdict == Verdict::fault);
  CHECK(names(wrong, "zero_points_missing"));
}

}  // namespace driftscope::test::contrib_layers_test
