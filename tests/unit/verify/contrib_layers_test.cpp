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

// One expert without a function, and its two products as a runtime may compute them.
struct PackedExpert {
  std::int64_t bits;
  Tensor a, scales, weights;

  PackedExpert(std::uint64_t seed, std::int64_t bits_of_weights) : bits(bits_of_weights) {
    Rng rng(seed);
    a = random_tensor(rng, {rows, depth});
    std::vector<float> factors(depth * depth / block);
    for (float& x : factors) x = rng.uniform(0.01F, 0.1F);
    scales = tensor<float>({1, depth, depth / block}, factors);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(depth * depth * bits / 8));
    for (auto& x : bytes) x = static_cast<std::uint8_t>(rng.below(256));
    weights = tensor<std::uint8_t>({1, depth, depth * bits / 8}, bytes);
  }

  enum class Rounding { none, int8, tables };

  // A row after both products, with `weights` twice.
  [[nodiscard]] std::vector<double> product(std::vector<double> x, Rounding rounding) const {
    std::vector<double> y(depth, 0.0);
    for (std::int64_t first = 0; first < depth; first += block) {
      double largest = 0.0;
      const std::int64_t together = rounding == Rounding::tables ? 4 : 1;
      for (std::int64_t k = first; k < first + block; k += together) {
        double sum = 0.0;
        for (std::int64_t i = k; i < k + together; ++i) sum += std::fabs(x[static_cast<std::size_t>(i)]);
        largest = std::fmax(largest, sum);
      }
      const double step = largest / 127.0;
      const auto in_steps = [&](double value) { return std::nearbyint(value / step) * step; };
      for (std::int64_t n = 0; n < depth; ++n) {
        double sum = 0.0;
        const auto code = [&](std::int64_t k) {
          const std::int64_t bit = (n * depth + k) * bits;
          return (weights.values<std::uint8_t>()[static_cast<std::size_t>(bit / 8)] >> (bit % 8)) &
                 ((1 << bits) - 1);
        };
        for (std::int64_t k = first; k < first + block; k += 4) {
          double plain = 0.0;
          double signs[2] = {0.0, 0.0};
          for (std::int64_t i = k; i < k + 4; ++i) {
            const double value = x[static_cast<std::size_t>(i)];
            plain += (rounding == Rounding::int8 ? in_steps(value) : value) * (code(i) - (1 << (bits - 1)));
            for (int b = 0; b < 2; ++b) signs[b] += (code(i) >> b & 1) != 0 ? value : -value;
          }
          // q − 2 = −½ + Σ 2ᵇ⁻¹ · sign.
          double four = 0.0;
          for (std::int64_t i = k; i < k + 4; ++i) four += x[static_cast<std::size_t>(i)];
          sum += rounding == Rounding::tables ? 0.5 * in_steps(signs[0]) + in_steps(signs[1]) - 0.5 * four
                                              : plain;
        }
        y[static_cast<std::size_t>(n)] +=
            sum * static_cast<double>(
                      scales.values<float>()[static_cast<std::size_t>(n * (depth / block) + first / block)]);
      }
    }
    return y;
  }

  [[nodiscard]] LayerVerdict verdict(Rounding rounding, std::int64_t level = 0) const {
    std::vector<float> y;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<double> x;
      for (std::int64_t k = 0; k < depth; ++k)
        x.push_back(static_cast<double>(a.values<float>()[static_cast<std::size_t>(row * depth + k)]));
      for (const double value : product(product(x, rounding), rounding))
        y.push_back(static_cast<float>(value));
    }
    ModelBuilder model;
    model.opset(21)
        .opset("com.microsoft", 1)
        .input("a", DType::float32, {rows, depth})
        .initializer("logits", tensor<float>({rows, 1}, std::vector<float>(rows, 0.0F)))
        .initializer("w", weights)
        .initializer("s", scales)
        .node("QMoE", {"a", "logits", "w", "s", "", "w", "s"}, {"y"},
              {integer("expert_weight_bits", bits), integer("block_size", block),
               integer("accuracy_level", level), text("activation_type", "identity")},
              "com.microsoft")
        .output("y");
    Trace trace;
    trace.tensors = {{"a", a}, {"y", tensor<float>({rows, depth}, y)}};
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

TEST_CASE("QMoE_InputsRoundedToInt8_AreRoundingWhereKernelsDoSo") {
  const std::uint64_t seed = test_seed(43);
  SEED_INFO(seed);
  using Rounding = PackedExpert::Rounding;
  const PackedExpert four(seed, 4);
  CHECK(four.verdict(Rounding::none).verdict == Verdict::identical);
  CHECK(four.verdict(Rounding::int8).verdict == Verdict::fault);
  const LayerVerdict allowed = four.verdict(Rounding::int8, 4);
  CHECK(allowed.verdict == Verdict::rounding);
  CHECK(names(allowed, "int8-activations-of-experts"));
  CHECK(PackedExpert(seed, 8).verdict(Rounding::int8).verdict == Verdict::rounding);
}

TEST_CASE("QMoE_InputsInTablesOfInt8_AreRoundingWithTwoBits") {
  const std::uint64_t seed = test_seed(44);
  SEED_INFO(seed);
  using Rounding = PackedExpert::Rounding;
  const PackedExpert two(seed, 2);
  CHECK(two.verdict(Rounding::none).verdict == Verdict::identical);
  const LayerVerdict tables = two.verdict(Rounding::tables);
  CHECK(tables.verdict == Verdict::rounding);
  CHECK(names(tables, "tables-of-int8"));
}

}  // namespace driftscope::test::contrib_layers_test
