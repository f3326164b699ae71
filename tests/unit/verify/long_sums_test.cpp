// Long sums: factors rounded to a narrow format are detected although every element is within its budget; no
// order of float32 sums and no algorithm in float32 is mistaken for that, on data of several kinds.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/narrow_factors.hpp"
#include "core/verify/variant.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::long_sums_test {
namespace {

using Values = std::vector<float>;
using Span = std::span<const float>;

enum class Data { normal, positive, outliers, after_relu, constant, tiny, huge, cancelling, four_bits };
constexpr Data all_data[] = {Data::normal, Data::positive, Data::outliers,   Data::after_relu, Data::constant,
                             Data::tiny,   Data::huge,     Data::cancelling, Data::four_bits};

float draw_of(Data data, bool weights, Rng& rng) {
  const float x = rng.normal();
  switch (data) {
    case Data::positive: return rng.uniform(0.0f, 1.0f);
    case Data::outliers: return rng.below(1000) == 0 ? 1000.0f * x : x;
    case Data::after_relu: return weights ? 0.02f * x : std::fmax(x, 0.0f);
    case Data::constant: return weights ? x : 0.7134f;
    case Data::tiny: return 1e-15f * x;
    case Data::huge: return 1e15f * x;
    case Data::four_bits: return weights ? std::nearbyint(3.0f * x) * 0.0137f : x;
    default: return x;
  }
}

// [rows, depth] · [depth, columns]
struct Product {
  std::int64_t rows, depth, columns;
  Tensor a, b;
  Graph graph;

  Product(Rng& rng, Data data, std::int64_t k, std::int64_t r = 16, std::int64_t c = 16)
      : rows(r), depth(k), columns(c) {
    Values left(static_cast<std::size_t>(r * k)), right(static_cast<std::size_t>(k * c));
    for (float& x : left) x = draw_of(data, false, rng);
    for (float& x : right) x = draw_of(data, true, rng);
    // The second half nearly cancels the first.
    if (data == Data::cancelling) {
      for (std::int64_t i = 0; i < r; ++i)
        for (std::int64_t j = 0; j < k / 2; ++j)
          left[static_cast<std::size_t>(i * k + k / 2 + j)] = left[static_cast<std::size_t>(i * k + j)];
      for (std::size_t i = 0; i < right.size() / 2; ++i)
        right[right.size() / 2 + i] = -right[i] * (1.0f + 1e-3f * rng.normal());
    }
    a = tensor<float>({r, k}, left);
    b = tensor<float>({k, c}, right);
    graph = built(ModelBuilder()
                      .input("a", DType::float32, {r, k})
                      .input("b", DType::float32, {k, c})
                      .node("MatMul", {"a", "b"}, {"y"})
                      .output("y"));
  }

  LayerVerdict verdict(const Values& y) const {
    Trace trace;
    trace.tensors = {{"a", a}, {"b", b}, {"y", tensor<float>({rows, columns}, y)}};
    ThreadPool threads(2);
    const auto verification = verify(graph, "", trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    return verification->layers.front();
  }

  Values by(const std::function<float(Span, Span)>& dot) const {
    Values y;
    Values column(static_cast<std::size_t>(depth));
    std::vector<Values> turned(static_cast<std::size_t>(columns), column);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < depth; ++k)
        turned[static_cast<std::size_t>(j)][static_cast<std::size_t>(k)] =
            b.values<float>()[static_cast<std::size_t>(k * columns + j)];
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        y.push_back(dot(
            a.values<float>().subspan(static_cast<std::size_t>(i * depth), static_cast<std::size_t>(depth)),
            turned[static_cast<std::size_t>(j)]));
    return y;
  }

  /// By an algorithm of the table.
  Values by(std::string_view id) const {
    ThreadPool threads(2);
    for (const Variant& algorithm : variant_table().all())
      if (algorithm.id == id) {
        const std::array<const Tensor*, 2> inputs = {&a, &b};
        const auto made = algorithm.witness(graph.nodes[0], inputs, threads);
        REQUIRE(made);
        return {made->values<float>().begin(), made->values<float>().end()};
      }
    FAIL("no such algorithm");
    return {};
  }
};

float in_lanes(Span a, Span b, std::size_t lanes, bool fused) {
  std::array<float, 32> parts{};
  for (std::size_t k = 0; k < a.size(); ++k) {
    float& part = parts[k % lanes];
    part = fused ? std::fma(a[k], b[k], part) : part + a[k] * b[k];
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

float in_blocks(Span a, Span b, std::size_t size) {
  float sum = 0.0f;
  for (std::size_t begin = 0; begin < a.size(); begin += size) {
    const std::size_t count = std::min(size, a.size() - begin);
    sum += in_lanes(a.subspan(begin, count), b.subspan(begin, count), 1, false);
  }
  return sum;
}

float in_pairs(Span a, Span b) {
  if (a.size() == 1) return a[0] * b[0];
  const std::size_t half = a.size() / 2;
  return in_pairs(a.first(half), b.first(half)) + in_pairs(a.subspan(half), b.subspan(half));
}

float by_kahan(Span a, Span b) {
  float sum = 0.0f, lost = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float term = a[k] * b[k] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

float from_the_end(Span a, Span b) {
  float sum = 0.0f;
  for (std::size_t k = a.size(); k-- > 0;) sum += a[k] * b[k];
  return sum;
}

// Channel last instead of channel first.
float in_strides(Span a, Span b, std::size_t step) {
  float sum = 0.0f;
  for (std::size_t begin = 0; begin < step; ++begin)
    for (std::size_t k = begin; k < a.size(); k += step) sum += a[k] * b[k];
  return sum;
}

float split_in(NarrowFormat format, Span a, Span b) {
  float high = 0.0f, low = 0.0f;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float a1 = rounded_to(format, a[k]), b1 = rounded_to(format, b[k]);
    const float a2 = rounded_to(format, a[k] - a1), b2 = rounded_to(format, b[k] - b1);
    high += a1 * b1;
    low += a1 * b2 + a2 * b1;
  }
  return high + low;
}

const std::pair<const char*, float (*)(Span, Span)> correct[] = {
    {"ascending", [](Span a, Span b) { return in_lanes(a, b, 1, false); }},
    {"descending", from_the_end},
    {"fused", [](Span a, Span b) { return in_lanes(a, b, 1, true); }},
    {"8 lanes", [](Span a, Span b) { return in_lanes(a, b, 8, false); }},
    {"32 lanes, fused", [](Span a, Span b) { return in_lanes(a, b, 32, true); }},
    {"blocks of 256", [](Span a, Span b) { return in_blocks(a, b, 256); }},
    {"blocks of 1000", [](Span a, Span b) { return in_blocks(a, b, 1000); }},
    {"split in two", [](Span a, Span b) { return in_blocks(a, b, a.size() / 2); }},
    {"pairwise", in_pairs},
    {"Kahan", by_kahan},
    {"strides of 9", [](Span a, Span b) { return in_strides(a, b, 9); }},
    {"three products of bfloat16", [](Span a, Span b) { return split_in(NarrowFormat::bfloat16, a, b); }},
    {"three products of TF32", [](Span a, Span b) { return split_in(NarrowFormat::tf32, a, b); }},
};

Values rounded(NarrowFormat format, Span values) {
  Values result(values.begin(), values.end());
  for (float& x : result) x = rounded_to(format, x);
  return result;
}

// Factors rounded first, then float32 in eight lanes.
Values of_rounded(const Product& product, NarrowFormat format, bool second = true) {
  return product.by([&](Span a, Span b) {
    const Values left = rounded(format, a);
    return in_lanes(left, second ? rounded(format, b) : Values(b.begin(), b.end()), 8, false);
  });
}

// For sums that cancel, budgets may be wider than the sums.
bool raises_no_alarm(const LayerVerdict& layer, Data data) {
  if (data == Data::cancelling) return layer.verdict <= Verdict::unjudged;
  return layer.verdict == Verdict::rounding || layer.verdict == Verdict::identical;
}

}  // namespace

TEST_CASE("LongSums_OrdersAndAlgorithmsInFloat32_RaiseNoAlarm" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1811);
  SEED_INFO(seed);
  Rng rng(seed);
  int layers = 0;
  for (const Data data : all_data)
    for (const std::int64_t depth : {1000, 6000}) {
      if (sanitized && depth > 1000) continue;
      const Product product(rng, data, depth, 8, 8);
      CAPTURE(static_cast<int>(data));
      CAPTURE(depth);
      for (const auto& [name, dot] : correct) {
        CAPTURE(name);
        const LayerVerdict layer = product.verdict(product.by(dot));
        CAPTURE(reason_of(layer));
        CHECK(raises_no_alarm(layer, data));
        ++layers;
      }
    }
  MESSAGE("seed " << seed << ": " << layers << " layers");
}

TEST_CASE("LongSums_Strassen_RaisesNoAlarm" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(1812);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const Data data : all_data) {
    const Product product(rng, data, 4096, 16, 24);
    for (const char* id : {"strassen-1", "strassen-2", "strassen-3"}) {
      CAPTURE(static_cast<int>(data));
      CAPTURE(std::string(id));
      const LayerVerdict layer = product.verdict(product.by(id));
      CAPTURE(reason_of(layer));
      CAPTURE(layer.budget_used);
      CHECK(raises_no_alarm(layer, data));
    }
  }
}

TEST_CASE("LongSums_FactorsRoundedToANarrowFormat_AreAFaultWithItsName" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(1813);
  SEED_INFO(seed);
  Rng rng(seed);
  struct Case {
    NarrowFormat format;
    const char* text;
    std::vector<std::int64_t> depths;
  };
  const Case cases[] = {
      {NarrowFormat::tf32, "as with inputs rounded to 10 bits (TF32", {1024, 4096, 16384, 65536}},
      {NarrowFormat::tf32_cut, "as with inputs rounded to 10 bits towards zero (TF32)", {4096, 65536}},
      {NarrowFormat::bfloat16, "as with inputs rounded to 7 bits (bfloat16)", {4096, 65536}},
  };
  for (const Case& one : cases)
    for (const std::int64_t depth : one.depths)
      for (const Data data : {Data::normal, Data::positive, Data::outliers, Data::after_relu, Data::tiny,
                              Data::huge, Data::cancelling, Data::four_bits}) {
        const bool usual = data == Data::normal || data == Data::positive;
        if ((sanitized && depth > 1024) || (depth > 4096 && !usual)) continue;
        if (depth > 16384 && data == Data::positive && one.format != NarrowFormat::tf32) continue;
        const std::int64_t size = depth <= 4096 || data == Data::positive ? 12 : 8;
        const Product product(rng, data, depth, size, size);
        CAPTURE(one.text);
        CAPTURE(depth);
        CAPTURE(static_cast<int>(data));
        const LayerVerdict layer = product.verdict(of_rounded(product, one.format));
        CAPTURE(reason_of(layer));
        CHECK(layer.verdict == Verdict::fault);
        CHECK(reason_of(layer).find(one.text) == 0);
      }
}

// The range of float16 ends at 2⁻²⁴: small factors lose more, which distinguishes it from TF32.
TEST_CASE("LongSums_FactorsRoundedToFloat16_AreToldFromTf32BySmallOnes" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(1814);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const std::int64_t depth : {4096, 16384}) {
    Product product(rng, Data::normal, depth, 8, 8);
    CHECK(reason_of(product.verdict(of_rounded(product, NarrowFormat::float16))).find("(TF32 or float16)") !=
          std::string::npos);
    for (float& x : product.b.mutable_values<float>()) x *= 1e-5f;
    const LayerVerdict layer = product.verdict(of_rounded(product, NarrowFormat::float16));
    CAPTURE(reason_of(layer));
    CHECK(layer.verdict == Verdict::fault);
    CHECK(reason_of(layer).find("as with inputs rounded to 10 bits (float16)") == 0);
  }
}

TEST_CASE("LongSums_OneFactorRounded_IsSaidToBeThatOne") {
  const std::uint64_t seed = test_seed(1815);
  SEED_INFO(seed);
  Rng rng(seed);
  const Product product(rng, Data::normal, 4096);
  const LayerVerdict layer = product.verdict(of_rounded(product, NarrowFormat::tf32, false));
  CHECK(layer.verdict == Verdict::fault);
  CHECK(reason_of(layer).find("as with the first input rounded to 10 bits") == 0);
}

// Not the factors, but every 64 terms' sum in float16.
TEST_CASE("LongSums_PartialSumsInANarrowType_AreSeenByTheirSize" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(1816);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const Data data : {Data::normal, Data::after_relu}) {
    const Product product(rng, data, 16384, 8, 8);
    const LayerVerdict layer = product.verdict(product.by([](Span a, Span b) {
      float sum = 0.0f;
      for (std::size_t begin = 0; begin < a.size(); begin += 64)
        sum += rounded_to(NarrowFormat::tf32, in_lanes(a.subspan(begin, 64), b.subspan(begin, 64), 1, false));
      return sum;
    }));
    CAPTURE(reason_of(layer));
    CAPTURE(layer.budget_used_statistical);
    CHECK((layer.verdict == Verdict::suspect || layer.verdict == Verdict::fault));
    CHECK(reason_of(layer).find("as large as those of float32 sums") != std::string::npos);
  }
}

TEST_CASE("LongSums_ConvolutionAndGemm_AreLookedAtAsWell") {
  const std::uint64_t seed = test_seed(1817);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(2);
  const auto check = [&](const Graph& graph, std::vector<NamedTensor> inputs, std::vector<Tensor> constants) {
    const Node& node = graph.nodes[0];
    for (const bool narrow : {false, true}) {
      std::vector<Tensor> used = {inputs[0].tensor, constants[0], constants[1]};
      for (std::size_t i = 0; narrow && i < 2; ++i)
        used[i] = tensor<float>(used[i].shape(), rounded(NarrowFormat::tf32, used[i].values<float>()));
      const std::array<const Tensor*, 3> operands = {&used[0], &used[1], &used[2]};
      auto y = evaluate_strict(node, operands, threads);
      REQUIRE(y.ok());
      Trace trace;
      trace.tensors = {inputs[0], {"y", y->front()}};
      const auto verification = verify(graph, "", trace, threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      const LayerVerdict& layer = verification->layers.front();
      CAPTURE(reason_of(layer));
      CAPTURE(narrow);
      CHECK(layer.verdict == (narrow ? Verdict::fault : Verdict::rounding));
      if (narrow) CHECK(reason_of(layer).find("as with inputs rounded to 10 bits (TF32") == 0);
    }
  };
  const Tensor image = random_tensor(rng, {2, 512, 6, 7});
  const Tensor kernels = random_tensor(rng, {12, 256, 3, 3});
  const Tensor shift = random_tensor(rng, {12});
  check(built(ModelBuilder()
                  .input("x", DType::float32, {2, 512, 6, 7})
                  .initializer("w", kernels)
                  .initializer("s", shift)
                  .node("Conv", {"x", "w", "s"}, {"y"},
                        {ints("pads", {1, 1, 0, 1}), ints("strides", {1, 2}), integer("group", 2)})
                  .output("y")),
        {{"x", image}}, {kernels, shift});
  const Tensor left = random_tensor(rng, {3000, 14});
  const Tensor right = random_tensor(rng, {15, 3000});
  const Tensor third = random_tensor(rng, {1, 15});
  check(
      built(ModelBuilder()
                .input("x", DType::float32, {3000, 14})
                .initializer("w", right)
                .initializer("s", third)
                .node("Gemm", {"x", "w", "s"}, {"y"},
                      {integer("transA", 1), integer("transB", 1), real("alpha", 0.3f), real("beta", -2.0f)})
                .output("y")),
      {{"x", left}}, {right, third});
}

// A fused Conv + Relu, a MatMul + Add and a ConvTranspose alone: run again as they are and with rounded
// factors.
TEST_CASE("LongSums_InGroupsAndOtherOperators_AreSeen") {
  const std::uint64_t seed = test_seed(1818);
  SEED_INFO(seed);
  Rng rng(seed);
  ThreadPool threads(2);
  const auto check = [&](const Graph& graph, const Tensor& x, const Tensor& w, const Tensor& s) {
    for (const bool narrow : {false, true}) {
      const auto round = [&](const Tensor& t) {
        return narrow ? tensor<float>(t.shape(), rounded(NarrowFormat::bfloat16, t.values<float>())) : t;
      };
      const Tensor narrow_x = round(x);
      const Tensor narrow_w = round(w);
      const std::array<const Tensor*, 2> operands = {&narrow_x, &narrow_w};
      auto made = evaluate_strict(graph.nodes[0], operands, threads);
      REQUIRE(made.ok());
      Tensor y = std::move(made->front());
      if (graph.nodes.size() > 1) {
        const std::array<const Tensor*, 2> last = {&y, &s};
        auto behind =
            evaluate_strict(graph.nodes[1], std::span(last).first(graph.nodes[1].inputs.size()), threads);
        REQUIRE(behind.ok());
        y = std::move(behind->front());
      }
      Trace trace;
      trace.tensors = {{"x", x}, {"y", y}};
      const auto verification = verify(graph, "", trace, threads);
      REQUIRE_MESSAGE(verification.ok(), verification.error().message);
      const LayerVerdict& layer = verification->layers.front();
      CAPTURE(layer.op);
      CAPTURE(reason_of(layer));
      CAPTURE(narrow);
      if (!narrow) CHECK(layer.verdict <= Verdict::unjudged);
      if (narrow) CHECK(layer.verdict == Verdict::fault);
      if (narrow) CHECK(reason_of(layer).find("as with inputs rounded to 7 bits (bfloat16)") == 0);
    }
  };
  const Tensor image = random_tensor(rng, {1, 256, 7, 7});
  const Tensor kernels = random_tensor(rng, {24, 256, 3, 3});
  check(built(ModelBuilder()
                  .input("x", DType::float32, {1, 256, 7, 7})
                  .initializer("w", kernels)
                  .node("Conv", {"x", "w"}, {"c"})
                  .node("Relu", {"c"}, {"y"})
                  .output("y")),
        image, kernels, kernels);
  const Tensor left = random_tensor(rng, {16, 3000});
  const Tensor right = random_tensor(rng, {3000, 20});
  const Tensor skip = random_tensor(rng, {20});
  check(built(ModelBuilder()
                  .input("x", DType::float32, {16, 3000})
                  .initializer("w", right)
                  .initializer("s", skip)
                  .node("MatMul", {"x", "w"}, {"c"})
                  .node("Add", {"c", "s"}, {"y"})
                  .output("y")),
        left, right, skip);
  const Tensor spread = random_tensor(rng, {256, 12, 3, 3});
  check(built(ModelBuilder()
                  .input("x", DType::float32, {1, 256, 7, 7})
                  .initializer("w", spread)
                  .node("ConvTranspose", {"x", "w"}, {"y"})
                  .output("y")),
        image, spread, spread);
}

}  // namespace driftscope::test::long_sums_test
