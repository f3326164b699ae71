// RotaryEmbedding of both domains on GPU engines, with random sizes, judged layer by layer, and a Concat with
// an empty cache behind it.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "core/ops/shared/domains.hpp"
#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_rotary_test {
namespace {

const std::string microsoft = std::string(microsoft_domain);

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> of) {
  return of.begin()[rng.below(of.size())];
}

TEST_CASE("Gpu_Rotary_OfRandomShapes_IsRight") {
  const std::uint64_t seed = test_seed(55);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(12); ++round) {
    const std::int64_t batch = one_of(rng, {1, 2});
    const std::int64_t steps = one_of(rng, {1, 3, 6});
    const std::int64_t heads = one_of(rng, {1, 2, 3});
    const std::int64_t size = one_of(rng, {2, 4, 10});
    const std::int64_t half = size / 2 - (size > 2 ? one_of(rng, {0, 1}) : 0);
    const std::vector<Attribute> attributes = {integer("num_heads", heads),
                                               integer("rotary_embedding_dim", 2 * half),
                                               integer("interleaved", one_of(rng, {0, 1}))};
    CAPTURE(fmt::format("{}x{}, {} heads of {}, {} pairs", batch, steps, heads, size, half));
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < batch * steps; ++i)
      places.push_back(static_cast<std::int64_t>(rng.below(9)));
    ModelBuilder model;
    model.opset(23)
        .opset(microsoft, 1)
        .input("x", DType::float32, {batch, steps, heads * size})
        .input("h", DType::float32, {batch, heads, steps, size})
        .input("past", DType::float32, {batch, heads, 0, size})  // an empty cache
        .input("positions", DType::int64, {batch, steps})
        .input("first", DType::int64, {1});
    for (const char* name : {"cos", "sin"})
      model.initializer(name, random_tensor(rng, {9, half}))
          .initializer(fmt::format("own_{}", name), random_tensor(rng, {batch, steps, half}));
    std::vector<std::string> ends;
    for (const char* x : {"x", "h"}) {
      const auto put = [&](std::vector<std::string> inputs, const std::string& domain) {
        ends.push_back(fmt::format("{}{}", x, ends.size()));
        inputs.insert(inputs.begin(), x);
        model.node("RotaryEmbedding", inputs, {ends.back()}, attributes, domain).output(ends.back());
      };
      put({"cos", "sin", "positions"}, "");
      put({"own_cos", "own_sin"}, "");
      put({"positions", "cos", "sin"}, microsoft);
      put({"first", "cos", "sin"}, microsoft);
    }
    model.node("Concat", {"past", ends.back()}, {"cache"}, {integer("axis", 2)}).output("cache");
    check_on_gpu(model, {{"x", random_tensor(rng, {batch, steps, heads * size})},
                         {"h", random_tensor(rng, {batch, heads, steps, size})},
                         {"past", tensor<float>({batch, heads, 0, size}, {})},
                         {"positions", tensor<std::int64_t>({batch, steps}, places)},
                         {"first", tensor<std::int64_t>({1}, {9 - steps})}});
  }
}

TEST_CASE("Gpu_Rotary_PositionBeyondTheCaches_IsAnError") {
  Rng rng(56);
  for (const bool each : {false, true}) {
    ModelBuilder model;
    const std::vector<Dim> places = each ? std::vector<Dim>{1, 3} : std::vector<Dim>{1};
    model.opset(microsoft, 1)
        .input("x", DType::float32, {1, 3, 4})
        .input("positions", DType::int64, places)
        .initializer("cos", random_tensor(rng, {5, 2}))
        .initializer("sin", random_tensor(rng, {5, 2}))
        .node("RotaryEmbedding", {"x", "positions", "cos", "sin"}, {"y"}, {}, microsoft)
        .output("y");
    const Tensor positions = each ? tensor<std::int64_t>({1, 3}, {0, -1, 4}) : tensor<std::int64_t>({1}, {3});
    for (const GpuWay& way : gpu_ways()) {
      const Error error =
          gpu_failure(built(model), {{"x", random_tensor(rng, {1, 3, 4})}, {"positions", positions}}, way);
      CAPTURE(error.message);
      CHECK(error.message.find(each ? "element 1 is -1, the caches have 5 rows for 1 positions"
                                    : "element 0 is 3, the caches have 5 rows for 3 positions") !=
            std::string::npos);
    }
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_rotary_test
