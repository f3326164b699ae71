// MatMulInteger on processors with AVX-512 VNNI against sums of products, and in the engine against strict.
// Programs for browsers have no such kernel.
#ifdef __x86_64__
#include "core/engines/fast/int8_product.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "core/base/rng.hpp"
#include "tests/unit/engines/fast/run_engine.hpp"
#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::int8_product_test {
namespace {

using namespace fast;

constexpr std::int32_t untouched = 12345;

// Bytes as numbers of a type.
std::int64_t number(std::uint8_t byte, bool is_signed) {
  return is_signed ? std::int64_t{static_cast<std::int8_t>(byte)} : std::int64_t{byte};
}

Tensor bytes_as(DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes) {
  if (dtype == DType::uint8) return tensor<std::uint8_t>(shape, bytes);
  return tensor<std::int8_t>(shape, {bytes.begin(), bytes.end()});
}

std::vector<std::uint8_t> drawn_bytes(Rng& rng, std::int64_t count) {
  const Tensor drawn = random_bytes(rng, count);
  const auto values = drawn.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

struct Case {
  std::int64_t rows, depth, columns;
  bool a_signed, b_signed;
  std::vector<std::uint8_t> a, b;
  std::vector<std::int32_t> zeros;
  std::int32_t a_zero;
};

Case drawn_case(Rng& rng) {
  Case made{.rows = drawn(rng, 1, 15),
            .depth = drawn(rng, 1, 200),
            .columns = drawn(rng, 1, 150),
            .a_signed = rng.below(2) == 0,
            .b_signed = rng.below(2) == 0,
            .a = {},
            .b = {},
            .zeros = {},
            .a_zero = 0};
  made.a = drawn_bytes(rng, made.rows * made.depth);
  made.b = drawn_bytes(rng, made.depth * made.columns);
  const auto byte = [&](bool is_signed) {
    return static_cast<std::int32_t>(number(static_cast<std::uint8_t>(rng.below(256)), is_signed));
  };
  made.a_zero = byte(made.a_signed);
  const std::int64_t zeros = rng.below(2) == 0 ? 1 : made.columns;
  for (std::int64_t i = 0; i < zeros; ++i) made.zeros.push_back(byte(made.b_signed));
  return made;
}

std::vector<std::int32_t> expected(const Case& it) {
  std::vector<std::int32_t> y;
  for (std::int64_t r = 0; r < it.rows; ++r)
    for (std::int64_t n = 0; n < it.columns; ++n) {
      std::int64_t sum = 0;
      const std::int32_t zero = it.zeros[it.zeros.size() == 1 ? 0 : static_cast<std::size_t>(n)];
      for (std::int64_t k = 0; k < it.depth; ++k)
        sum += (number(it.a[static_cast<std::size_t>(r * it.depth + k)], it.a_signed) - it.a_zero) *
               (number(it.b[static_cast<std::size_t>(k * it.columns + n)], it.b_signed) - zero);
      y.push_back(static_cast<std::int32_t>(sum));
    }
  return y;
}

std::vector<std::int32_t> multiplied(const Case& it, const Int8Kernels& kernels, ThreadPool& pool,
                                     std::int64_t threads) {
  const Tensor b = bytes_as(it.b_signed ? DType::int8 : DType::uint8, {it.depth, it.columns}, it.b);
  const Int8Product product(b, it.zeros, kernels, it.rows, it.a_signed, pool, threads);
  std::vector<std::int32_t> scratch(product.scratch() / sizeof(std::int32_t) + 1, untouched);
  std::vector<std::int32_t> y(static_cast<std::size_t>(it.rows * it.columns) + 1, untouched);
  product.run(it.a.data(), it.a_zero, y.data(), reinterpret_cast<std::byte*>(scratch.data()));
  CHECK(scratch.back() == untouched);
  CHECK(y.back() == untouched);
  y.pop_back();
  return y;
}

TEST_CASE("Int8Product_AnyShape_IsTheProduct") {
  const std::uint64_t seed = test_seed(61);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool one(1);
  ThreadPool two(2);
  for (const SimdTarget& simd : simd_targets()) {
    const Int8Kernels kernels = int8_kernels(simd);
    if (kernels.columns == 0) continue;
    for (int i = 0; i < 60; ++i) {
      const Case it = drawn_case(rng);
      CAPTURE(fmt::format("{} x {} x {}, A {}, B {}", it.rows, it.depth, it.columns,
                          it.a_signed ? "int8" : "uint8", it.b_signed ? "int8" : "uint8"));
      const auto sums = expected(it);
      CHECK(multiplied(it, kernels, one, 1) == sums);
      CHECK(multiplied(it, kernels, two, 2) == sums);
      CHECK(multiplied(it, kernels, two, 7) == sums);
    }
  }
}

// Zero points that a run computes, three axes, the largest numbers there are, one after the other.
TEST_CASE("Int8Product_InTheEngine_HasTheBitsOfStrict") {
  const std::uint64_t seed = test_seed(62);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < 8; ++i) {
    const std::int64_t depth = drawn(rng, 1, 70);
    const std::int64_t columns = drawn(rng, 1, 90);
    const DType type = rng.below(2) == 0 ? DType::int8 : DType::uint8;
    auto bytes = drawn_bytes(rng, depth * columns);
    if (i == 0) std::fill(bytes.begin(), bytes.end(), std::uint8_t{128});
    ModelBuilder model;
    model.input("x", DType::float32, {2, 3, depth})
        .initializer("b", bytes_as(type, {depth, columns}, bytes))
        .initializer("zeros", bytes_as(type, {columns}, drawn_bytes(rng, columns)))
        .initializer("q2", bytes_as(type, {columns, 5}, drawn_bytes(rng, columns * 5)))
        .node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})
        .node("MatMulInteger", {"q", "b", "z", "zeros"}, {"sums"})
        .node("MatMulInteger", {"q", "b"}, {"plain"})
        .node("Cast", {"sums"}, {"f"}, {integer("to", 1)})
        .node("DynamicQuantizeLinear", {"f"}, {"fq", "fs", "fz"})
        .node("MatMulInteger", {"fq", "q2", "fz"}, {"y"})
        .output("plain")
        .output("y");
    const Graph graph = built(model);
    const NamedInputs inputs = {{"x", random_tensor(rng, {2, 3, depth})}};
    const Trace strict = run_engine(graph, inputs, Capture::all, 2, "strict");
    for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs}) {
      RanWith ran;
      const Trace fast = run_engine(graph, inputs, capture, 2, "fast", &ran);
      for (const char* name : {"plain", "y"}) {
        REQUIRE(fast.find(name) != nullptr);
        const auto a = fast.find(name)->values<std::int32_t>();
        const auto b = strict.find(name)->values<std::int32_t>();
        CHECK(std::ranges::equal(a, b));
      }
    }
  }
}

}  // namespace
}  // namespace driftscope::test::int8_product_test
#endif
