// Operators of language models on GPU engines, with random sizes, judged layer by layer: products with
// weights of few bits, normalizations behind a sum, activations.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "core/ops/shared/domains.hpp"
#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_language_test {
namespace {

const std::string microsoft = std::string(microsoft_domain);

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> of) {
  return of.begin()[rng.below(of.size())];
}

Tensor random_bytes(Rng& rng, std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.below(256));
  return tensor<std::uint8_t>({count}, bytes);
}

// Scales of a model that stores its floats in 16 bits.
Tensor some_float16(Rng& rng, const Shape& shape) {
  auto made = Tensor::make(DType::float16, shape, "scales");
  REQUIRE(made.ok());
  for (std::uint16_t& bits : made->mutable_values<std::uint16_t>())
    bits = static_cast<std::uint16_t>(0x3000 + rng.below(0x0c00));  // 0.125 to 1
  return *made;
}

// Puts a MatMulNBits behind `a`, of `depth`: packed zero points, those of float32, or none; groups; a bias.
void add_nbits(ModelBuilder& model, Rng& rng, const std::string& a, std::int64_t depth, std::int64_t columns,
               const std::string& y) {
  const std::int64_t bits = one_of(rng, {2, 4, 8});
  const std::int64_t block = one_of(rng, {16, 32});
  const std::int64_t blocks = (depth + block - 1) / block;
  const auto named = [&](const char* what) { return fmt::format("{}_{}", y, what); };
  std::vector<std::string> inputs = {a, named("b"), named("scales"), "", "", ""};
  model.initializer(inputs[1], random_bytes(rng, columns * blocks * block * bits / 8))
      .initializer(inputs[2], rng.below(3) == 0 ? some_float16(rng, {columns * blocks})
                                                : random_tensor(rng, {columns * blocks}));
  if (const auto kind = rng.below(4); kind > 0) {
    inputs[3] = named("zeros");
    model.initializer(inputs[3], kind == 1   ? random_bytes(rng, columns * ((blocks * bits + 7) / 8))
                                 : kind == 2 ? random_tensor(rng, {columns * blocks})
                                             : some_float16(rng, {columns * blocks}));
  }
  if (rng.below(2) == 0) {
    inputs[4] = named("groups");
    std::vector<std::int32_t> groups;
    for (std::int64_t k = 0; k < depth; ++k)
      groups.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(blocks))));
    model.initializer(inputs[4], tensor<std::int32_t>({depth}, groups));
  }
  if (rng.below(2) == 0) {
    inputs[5] = named("bias");
    model.initializer(inputs[5], random_tensor(rng, {columns}));
  }
  model.node(
      "MatMulNBits", inputs, {y},
      {integer("K", depth), integer("N", columns), integer("bits", bits), integer("block_size", block)},
      microsoft);
}

TEST_CASE("Gpu_MatMulNBits_OfRandomWeights_IsRight") {
  const std::uint64_t seed = test_seed(51);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(8); ++round) {
    const std::int64_t rows = one_of(rng, {1, 3, 8, 40});
    const std::int64_t depth = one_of(rng, {7, 16, 33, 64, 130});
    const std::int64_t columns = one_of(rng, {1, 4, 6, 33, 64});
    CAPTURE(fmt::format("{}x{} · {}x{}", rows, depth, depth, columns));
    ModelBuilder model;
    model.opset(microsoft, 1).opset(21).input("x", DType::float32, {2, rows, depth});
    add_nbits(model, rng, "x", depth, columns, "first");
    model.node("Relu", {"first"}, {"r"});
    add_nbits(model, rng, "r", columns, 8, "second");
    model.node("Add", {"second", "s"}, {"y"}).input("s", DType::float32, {2, rows, 8}).output("y");
    check_on_gpu(model,
                 {{"x", random_tensor(rng, {2, rows, depth})}, {"s", random_tensor(rng, {2, rows, 8})}});
  }
}

TEST_CASE("Gpu_NormalizationsOfLanguageModels_AreRight") {
  const std::uint64_t seed = test_seed(52);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(6); ++round) {
    const std::int64_t batch = one_of(rng, {1, 2});
    const std::int64_t rows = one_of(rng, {1, 3, 8});
    const std::int64_t width = one_of(rng, {1, 4, 7, 64, 300});
    const std::int64_t skips = one_of(rng, {1, batch});
    CAPTURE(fmt::format("{}x{}x{}, skip {}", batch, rows, width, skips));
    const Shape shape = {batch, rows, width};
    const bool more = rng.below(2) == 0;
    ModelBuilder model;
    model.opset(23)
        .opset(microsoft, 1)
        .input("x", DType::float32, {batch, rows, width})
        .input("skip", DType::float32, {skips, rows, width});
    for (const char* name : {"gamma", "beta", "bias"}) model.initializer(name, random_tensor(rng, {width}));
    model.initializer("two", random_tensor(rng, {rows, width}))
        .node("SimplifiedLayerNormalization", {"x", "gamma"}, {"a"}, {real("epsilon", 1e-6f)})
        .node("RMSNormalization", {"a", "two"}, {"b"}, {integer("axis", 1)})
        .node("SkipSimplifiedLayerNormalization", {"b", "skip", "gamma", more ? "bias" : ""},
              {"c", "", "", "sum_c"}, {real("epsilon", 1e-5f)}, microsoft)
        .node("SkipLayerNormalization", {"sum_c", "skip", "gamma", more ? "beta" : "", more ? "bias" : ""},
              {"d"}, {}, microsoft)
        .node("SkipLayerNormalization", {"c", "d", "gamma", "beta", more ? "" : "bias"},
              {"e", "", "", "sum_e"}, {real("epsilon", 0.1f)}, microsoft)
        .node("Add", {"e", "sum_e"}, {"y"})
        .output("y");
    check_on_gpu(model,
                 {{"x", random_tensor(rng, shape)}, {"skip", random_tensor(rng, {skips, rows, width})}});
  }
}

TEST_CASE("Gpu_ActivationsOfLanguageModels_AreRight") {
  const std::uint64_t seed = test_seed(53);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(6); ++round) {
    const std::int64_t channels = one_of(rng, {1, 3, 4, 8});
    const std::int64_t width = one_of(rng, {1, 4, 7});
    CAPTURE(fmt::format("2x{}x5x{}", channels, width));
    ModelBuilder model;
    model.opset(28)
        .opset(microsoft, 1)
        .input("x", DType::float32, {2, channels, 5, width})
        .initializer("w", random_tensor(rng, {channels, channels, 1, 1}))
        .initializer("b", random_tensor(rng, {width}))
        .node("Conv", {"x", "w"}, {"c"});  // channels last
    std::vector<std::string> ends;
    const auto put = [&](const char* op, std::vector<std::string> inputs, const std::string& domain,
                         const std::vector<Attribute>& attributes = {}) {
      ends.push_back(fmt::format("{}_{}", op, ends.size()));
      model.node(op, inputs, {ends.back()}, attributes, domain);
    };
    for (const std::string from : {"x", "c"}) {
      put("Gelu", {from}, "", {text("approximate", "tanh")});
      put("Gelu", {from}, "");
      put("Gelu", {from}, microsoft);
      put("BiasGelu", {from, "b"}, microsoft);
      put("FastGelu", {from, "b"}, microsoft);
      put("FastGelu", {from}, microsoft);
      put("QuickGelu", {from}, microsoft);
      put("Swish", {from}, "", {real("alpha", -1.5f)});
      put("SwiGLU", {from, "x"}, "", {real("alpha", 2.0f)});
    }
    for (const std::string& end : ends) model.output(end);
    // Also where the functions are saturated.
    Tensor x = random_tensor(rng, {2, channels, 5, width});
    for (float& value : x.mutable_values<float>())
      if (rng.below(4) == 0) value *= 30.0f;
    check_on_gpu(model, {{"x", x}});
  }
}

// What is declined runs on strict: weights that are computed, statistics as outputs, numbers without a name.
TEST_CASE("Gpu_OperatorsOfLanguageModels_ThatShadersLack_RunOnStrict") {
  Rng rng(54);
  ModelBuilder model;
  model.opset(24)
      .opset(microsoft, 1)
      .input("x", DType::float32, {3, 16})
      .input("weights", DType::uint8, {4, 1, 8})
      .initializer("scales", random_tensor(rng, {4}))
      .initializer("gamma", random_tensor(rng, {4}))
      .node("MatMulNBits", {"x", "weights", "scales"}, {"m"},
            {integer("K", 16), integer("N", 4), integer("bits", 4), integer("block_size", 16)}, microsoft)
      .node("SkipLayerNormalization", {"m", "m", "gamma"}, {"n", "mean"}, {}, microsoft)
      .node("Swish", {"n"}, {"y"}, {real("alpha", std::numeric_limits<float>::infinity())})
      .output("mean")
      .output("y");
  for (const GpuWay& way : gpu_ways()) {
    const std::string engine = way.engine;
    CAPTURE(engine);
    const GpuRun ran =
        run_on_gpu(built(model),
                   {{"x", random_tensor(rng, {3, 16})},
                    {"weights", tensor<std::uint8_t>({4, 1, 8}, std::vector<std::uint8_t>(32, 7))}},
                   way);
    CHECK(ran.with.options.at("on_strict") == "MatMulNBits 1, SkipLayerNormalization 1, Swish 1");
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_language_test
