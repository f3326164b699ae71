// Elementwise operators, rows and pools: the fast kernels against the plain ones, and the vector
// forms of the strict functions against the scalar ones.
#include <doctest/doctest.h>

#include <cmath>

#include "core/engines/strict/simd/elementwise.hpp"
#include "core/numerics/strict_math.hpp"
#include "core/numerics/sum.hpp"
#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::elementwise_test {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

TEST_CASE("StrictMath_VectorsGiveTheBitsOfScalars") {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  Rng rng(seed);
  const Tensor special = random_tensor(rng, {997}, Values::special);
  std::vector<float> x(special.values<float>().begin(), special.values<float>().end());
  for (int i = 0; i < repetitions(200'000); ++i) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next())));
    x.push_back(rng.uniform(-105.0f, 90.0f));
    x.push_back(rng.uniform(-2.0f, 2.0f));
  }
  using K = ElementwiseKernels;
  struct Row {
    const char* name;
    K::Unary K::* vector;
    float (*scalar)(float);
  };
  for (const SimdTarget& simd : simd_targets()) {
    const ElementwiseKernels kernels = elementwise_kernels(simd);
    for (const Row& row : {Row{"exp", &K::exp, strict_exp}, Row{"tanh", &K::tanh, strict_tanh},
                           Row{"sigmoid", &K::sigmoid, strict_sigmoid}, Row{"erf", &K::erf, strict_erf}}) {
      CAPTURE(simd.name);
      CAPTURE(row.name);
      std::vector<float> y(x.size());
      (kernels.*row.vector)(x.data(), y.data(), x.size());
      int different = 0;
      for (std::size_t i = 0; i < x.size(); ++i) different += same_result(y[i], row.scalar(x[i])) ? 0 : 1;
      CHECK(different == 0);
    }
  }
}

TEST_CASE("StrictSum_AnyWidth_SameTree") {
  Rng rng(5);
  for (std::int64_t n = 0; n < 70; ++n) {
    const Tensor x = random_tensor(rng, {n}, Values::normal);
    const float want = reduce_sum(x.values<float>());
    for (const SimdTarget& simd : simd_targets()) {
      CAPTURE(simd.name);
      CHECK(same_result(elementwise_kernels(simd).sum(x.values<float>().data(), static_cast<std::size_t>(n)),
                        want));
    }
  }
}

Shape random_shape(Rng& rng) {
  Shape shape;
  const std::int64_t rank = between(rng, 0, 4);
  for (std::int64_t i = 0; i < rank; ++i)
    shape.push_back(rng.below(20) == 0 ? 0 : between(rng, 1, i + 1 == rank ? 60 : 7));
  return shape;
}

TEST_CASE("StrictUnary_RandomNodes_SameBitsAsPlain") {
  const std::uint64_t seed = test_seed(102);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(90); ++i) {
    const std::array names = {"Relu", "Sigmoid", "Tanh", "Erf", "Gelu", "Clip"};
    NodeCase node{.op_type = names[rng.below(names.size())],
                  .inputs = {random_tensor(rng, random_shape(rng), Values::special)}};
    if (node.op_type == "Gelu") {
      node.opset = 20;
      if (rng.below(2) == 0) node.attributes.push_back({"approximate", std::string("tanh")});
    }
    if (node.op_type == "Clip")
      for (int limit = 0; limit < 2; ++limit)
        node.inputs.push_back(rng.below(3) == 0 ? std::nullopt
                                                : std::optional(random_tensor(rng, {}, Values::special)));
    const SameBits result = check_same_bits(node);
    CHECK(result.valid);
    CHECK(result.fast);
  }
}

TEST_CASE("StrictClip_AttributesUntilOpset10") {
  Rng rng(3);
  const NodeCase node{.op_type = "Clip",
                      .attributes = {{"min", -0.5f}, {"max", 6.0f}},
                      .inputs = {random_tensor(rng, {3, 50}, Values::special)},
                      .opset = 10};
  CHECK(check_same_bits(node).fast);
}

TEST_CASE("StrictBinary_RandomBroadcasts_SameBitsAsPlain" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(103);
  SEED_INFO(seed);
  Rng rng(seed);
  int fast = 0;
  for (int i = 0; i < repetitions(150); ++i) {
    const std::array names = {"Add", "Sub", "Mul", "Div"};
    const Shape full = random_shape(rng);
    Shape part = full;
    for (std::int64_t& size : part)
      if (rng.below(3) == 0) size = 1;
    part.erase(part.begin(), part.begin() + between(rng, 0, std::ssize(part)));
    Tensor a = random_tensor(rng, full, Values::special);
    Tensor b = random_tensor(rng, part, Values::special);
    if (rng.below(3) == 0) std::swap(a, b);
    const SameBits result =
        check_same_bits({.op_type = names[rng.below(4)], .inputs = {a, b}, .variable = 2});
    CHECK(result.valid);
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast > repetitions(60));
}

TEST_CASE("StrictRows_RandomNodes_SameBitsAsPlain" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(104);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(40); ++i) {
    const Values values = rng.below(3) == 0 ? Values::special : Values::normal;
    const Shape shape = {between(rng, 1, 3), between(rng, 1, 9), between(rng, 1, 9), between(rng, 1, 40)};
    const Tensor x = random_tensor(rng, shape, values);
    CHECK(check_same_bits({.op_type = "GlobalAveragePool", .inputs = {x}}).fast);
    CHECK(check_same_bits({.op_type = "Softmax", .inputs = {x}}).fast);
    CHECK(
        check_same_bits(
            {.op_type = "Softmax", .attributes = {{"axis", between(rng, 0, 3)}}, .inputs = {x}, .opset = 11})
            .fast);
    CHECK(check_same_bits({.op_type = "Softmax", .attributes = {{"axis", between(rng, 0, 2)}}, .inputs = {x}})
              .valid);
    NodeCase norm{.op_type = "BatchNormalization", .inputs = {x}};
    for (int j = 0; j < 4; ++j) norm.inputs.push_back(random_tensor(rng, {shape[1]}, values));
    CHECK(check_same_bits(norm).fast);

    const std::int64_t axis = between(rng, 0, 3);
    const Shape normalized(shape.begin() + axis, shape.end());
    NodeCase layer{.op_type = "LayerNormalization",
                   .attributes = {{"axis", axis}, {"epsilon", 1e-3f}},
                   .inputs = {x, random_tensor(rng, normalized, values)}};
    CHECK(check_same_bits(layer).fast);
    layer.inputs.emplace_back(random_tensor(rng, normalized, values));
    CHECK(check_same_bits(layer).fast);
    // One scale for all columns: the scalar kernel spreads it.
    layer.inputs[1] = random_tensor(rng, {1}, values);
    CHECK(check_same_bits(layer).valid);
    layer.inputs[1] = std::nullopt;
    CHECK(!check_same_bits(layer).fast);
  }
}

TEST_CASE("StrictRows_OfLanguageModels_SameBitsAsPlain" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(106);
  SEED_INFO(seed);
  Rng rng(seed);
  const std::string microsoft = "com.microsoft";
  for (int i = 0; i < repetitions(40); ++i) {
    const Values values = rng.below(3) == 0 ? Values::special : Values::normal;
    const std::int64_t batch = between(rng, 1, 3);
    const std::int64_t rows = between(rng, 1, 9);
    const std::int64_t width = between(rng, 1, 70);
    const Tensor x = random_tensor(rng, {batch, rows, width}, values);
    const auto row = [&] { return random_tensor(rng, {width}, values); };

    CHECK(check_same_bits({.op_type = "SimplifiedLayerNormalization", .inputs = {x, row()}}).fast);
    NodeCase rms{.op_type = "RMSNormalization",
                 .attributes = {{"axis", std::int64_t{1}}, {"epsilon", 0.1f}},
                 .inputs = {x, random_tensor(rng, {rows, width}, values)},
                 .opset = 23};
    CHECK(check_same_bits(rms).fast);
    rms.inputs[1] = random_tensor(rng, {1, width}, values);  // spread by the scalar kernel
    CHECK(check_same_bits(rms).valid);

    const bool simple = rng.below(2) == 0;
    const Shape skip =
        rng.below(2) == 0 ? Shape{rows, width} : Shape{rng.below(2) == 0 ? 1 : batch, rows, width};
    NodeCase sum{.op_type = simple ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
                 .inputs = {x, random_tensor(rng, skip, values), row()},
                 .variable = 2,
                 .domain = microsoft};
    if (!simple) {
      sum.inputs.emplace_back();
      if (rng.below(2) == 0) sum.inputs.back() = row();
    }
    if (rng.below(2) == 0) sum.inputs.emplace_back(row());
    CHECK(check_same_bits(sum).fast);
    sum.outputs = 4;
    sum.omitted = {1, 2};
    CHECK(check_same_bits(sum).fast);
    sum.omitted = {1};  // with the deviation
    const SameBits with_deviation = check_same_bits(sum);
    CHECK(with_deviation.valid);
    CHECK(!with_deviation.fast);

    CHECK(check_same_bits({.op_type = "BiasGelu", .inputs = {x, row()}, .domain = microsoft}).fast);
    CHECK(check_same_bits({.op_type = "FastGelu", .inputs = {x, row()}, .domain = microsoft}).fast);
    CHECK(check_same_bits({.op_type = "FastGelu", .inputs = {x}, .domain = microsoft}).fast);
    CHECK(check_same_bits({.op_type = "Gelu", .inputs = {x}, .domain = microsoft}).fast);
    CHECK(check_same_bits({.op_type = "QuickGelu", .inputs = {x}, .domain = microsoft}).fast);
    const std::vector<Attribute> alpha = {{"alpha", 0.1f * static_cast<float>(between(rng, -30, 30))}};
    CHECK(check_same_bits({.op_type = "Swish", .attributes = alpha, .inputs = {x}, .opset = 24}).fast);
    CHECK(check_same_bits({.op_type = "SwiGLU",
                           .attributes = alpha,
                           .inputs = {x, random_tensor(rng, {batch, rows, width}, values)},
                           .variable = 2,
                           .opset = 28})
              .fast);
  }
}

// As many numbers as a lane has, but one for each lane: not the kernel's.
TEST_CASE("StrictLayerNormalization_ScaleOfLanes_IsLeftToThePlainKernel") {
  Rng rng(7);
  NodeCase square{
      .op_type = "LayerNormalization",
      .inputs = {random_tensor(rng, {6, 6}, Values::normal), random_tensor(rng, {6, 1}, Values::normal)}};
  const SameBits same = check_same_bits(square);
  CHECK(same.valid);
  CHECK_FALSE(same.fast);
}

TEST_CASE("StrictPools_RandomNodes_SameBitsAsPlain") {
  const std::uint64_t seed = test_seed(105);
  SEED_INFO(seed);
  Rng rng(seed);
  int valid = 0;
  int fast = 0;
  while (valid < repetitions(120)) {
    const std::size_t rank = rng.below(4) == 0 ? 1 : 2;
    const auto several = [&](std::size_t count, std::int64_t low, std::int64_t high) {
      Ints values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(between(rng, low, high));
      return values;
    };
    NodeCase pool{.op_type = rng.below(2) == 0 ? "MaxPool" : "AveragePool",
                  .attributes = {{"kernel_shape", several(rank, 1, 4)},
                                 {"strides", several(rank, 1, 3)},
                                 {"dilations", several(rank, 1, 2)},
                                 {"ceil_mode", between(rng, 0, 1)}}};
    if (pool.op_type == "AveragePool") pool.attributes.push_back({"count_include_pad", between(rng, 0, 1)});
    if (rng.below(4) == 0)
      pool.attributes.push_back({"auto_pad", std::string("SAME_LOWER")});
    else if (rng.below(2) == 0)
      pool.attributes.push_back({"pads", several(2 * rank, 0, 3)});
    Shape x = {between(rng, 1, 2), between(rng, 1, 4)};
    for (const std::int64_t size : several(rank, 1, 30)) x.push_back(size);
    pool.inputs = {random_tensor(rng, x, rng.below(2) == 0 ? Values::special : Values::normal)};
    const SameBits result = check_same_bits(pool);
    valid += result.valid ? 1 : 0;
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast > repetitions(60));
}

// If the largest is a zero its sign is that of the last one, for any vector width.
TEST_CASE("StrictMaxPool_OverWholePlanes_SameBitsAsPlain") {
  Rng rng(9);
  for (const std::int64_t width : {1, 7, 16, 400}) {
    Tensor x = random_tensor(rng, {1, 20, 3, width}, Values::special);
    for (float& element : x.mutable_values<float>())
      if (rng.below(2) == 0) element = element < 0 ? -0.0f : 0.0f;
    for (std::size_t i = 0; i < x.mutable_values<float>().size() / 2; ++i) {
      float& element = x.mutable_values<float>()[i];
      if (element > 0) element = -element;  // half of the planes have a zero or less as their largest
      if (element != element) element = -1.0f;
    }
    CHECK(check_same_bits(
              {.op_type = "MaxPool", .attributes = {{"kernel_shape", Ints{3, width}}}, .inputs = {x}})
              .fast);
  }
}

TEST_CASE("StrictEngine_SubnormalsAreNeverFlushed") {
  // On any thread: 2⁻¹⁴⁰ + 2⁻¹⁴⁰ and 2⁻¹⁰⁰ · 2⁻⁴⁰ are subnormal.
  const auto filled = [](float value) {
    return *Tensor::from_values<float>({100'000}, std::vector<float>(100'000, value));
  };
  for (const SimdTarget& simd : simd_targets())
    for (const bool product : {false, true}) {
      const NodeCase node{
          .op_type = product ? "Mul" : "Add",
          .inputs = {filled(product ? 0x1p-100f : 0x1p-140f), filled(product ? 0x1p-40f : 0x1p-140f)},
          .variable = 2};
      StrictSession session(std::make_shared<const Graph>(*single_node_graph(node)), simd, 4, {});
      REQUIRE(session.prepare().ok());
      const auto y = run_to_end(session, {*node.inputs[0], *node.inputs[1]}, no_trace_sink());
      REQUIRE(y.ok());
      // Their bits: where subnormals are flushed, they also compare equal to 0.
      const std::uint32_t want = product ? 1u << 9 : 1u << 10;
      for (const float got : y->front().values<float>()) REQUIRE(std::bit_cast<std::uint32_t>(got) == want);
    }
}

}  // namespace
}  // namespace driftscope::test::elementwise_test
