// LRN of GPU engines with random sizes, ranks and layouts, judged layer by layer.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <limits>

#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_lrn_test {
namespace {

TEST_CASE("Gpu_Lrn_OfRandomShapes_IsRight") {
  const std::uint64_t seed = test_seed(41);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto one_of = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(16); ++round) {
    const std::int64_t channels = one_of({1, 3, 4, 8, 13});
    const std::int64_t height = one_of({1, 4, 5});
    const std::int64_t width = one_of({3, 4, 7});
    const std::int64_t size = one_of({1, 2, 3, 5, 40});
    CAPTURE(fmt::format("2x{}x{}x{}, size {}", channels, height, width, size));
    // A large alpha, so that a wrong sum of squares shows.
    const auto tenths = [&](std::initializer_list<std::int64_t> of) {
      return 0.1f * static_cast<float>(one_of(of));
    };
    const std::vector<Attribute> attributes = {integer("size", size), real("alpha", tenths({5, 10, 40})),
                                               real("beta", tenths({2, 7, 10})),
                                               real("bias", tenths({5, 10, 20}))};
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, height, width})
        .input("m", DType::float32, {height, channels})
        .initializer("w", random_tensor(rng, {channels, channels, 1, 1}))
        .node("LRN", {"x"}, {"plain"}, attributes)  // channels as ONNX has them
        .node("Conv", {"x", "w"}, {"c"})
        .node("LRN", {"c"}, {"last"}, attributes)  // channels last
        .node("LRN", {"m"}, {"matrix"}, attributes)
        .output("plain")
        .output("last")
        .output("matrix");
    check_on_gpu(model, {{"x", random_tensor(rng, {2, channels, height, width})},
                         {"m", random_tensor(rng, {height, channels})}});
  }
}

TEST_CASE("Gpu_Lrn_WhosePowerShadersDoNotDefine_RunsOnStrict") {
  for (const float bias : {std::numeric_limits<float>::infinity(), -9.0f, 0.0f}) {
    CAPTURE(bias);
    ModelBuilder model;
    model.input("x", DType::float32, {1, 2, 2})
        .node("LRN", {"x"}, {"y"}, {integer("size", 1), real("bias", bias), real("beta", 2.0f)})
        .output("y");
    for (const GpuWay& way : gpu_ways()) {
      const std::string engine = way.engine;
      CAPTURE(engine);
      const GpuRun ran = run_on_gpu(built(model), {{"x", tensor<float>({1, 2, 2}, {1, -2, 3, 4})}}, way);
      CHECK(ran.with.options.at("on_strict") == "LRN 1");
    }
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_lrn_test
