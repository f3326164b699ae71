// The engines webgpu (through Dawn) and webgl (OpenGL ES on EGL) on whatever this machine has, SwiftShader
// and llvmpipe without a GPU: every kernel on random shapes, judged layer by layer; a lost device; limits.
// Where a driver is missing the tests say so and pass.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/webgpu/product_kernel.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_engines_test {
namespace {

TEST_CASE("Gpu_Convolutions_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(11);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto size = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(24); ++round) {
    const bool depthwise = rng.below(3) == 0;
    const std::int64_t channels = size({1, 3, 4, 5, 8, 12});
    const std::int64_t outputs = depthwise ? channels : size({1, 2, 4, 7, 16, 33});
    const std::int64_t kernel = size({1, 3, 5});
    const std::int64_t height = size({5, 7, 9, 14});
    const std::int64_t width = size({5, 6, 11});
    const std::int64_t pad = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(kernel)));
    const std::int64_t stride = size({1, 1, 2, 3});
    const std::int64_t dilation = kernel == 5 ? 1 : size({1, 1, 2});
    const std::int64_t batch = size({1, 2});
    CAPTURE(fmt::format("{}x{}x{}x{} to {}, kernel {}, pad {}, stride {}, dilation {}, depthwise {}", batch,
                        channels, height, width, outputs, kernel, pad, stride, dilation, depthwise));
    const std::int64_t group = depthwise ? channels : 1;
    ModelBuilder model;
    model.input("x", DType::float32, {batch, channels, height, width})
        .initializer("w", random_tensor(rng, {outputs, channels / group, kernel, kernel}))
        .initializer("b", random_tensor(rng, {outputs}))
        .node("Conv", {"x", "w", "b"}, {"y"},
              {ints("pads", {pad, pad, pad, pad}), ints("strides", {stride, stride}),
               ints("dilations", {dilation, dilation}), integer("group", group)})
        .node("Relu", {"y"}, {"z"})
        .output("z");
    check_on_gpu(model, {{"x", random_tensor(rng, {batch, channels, height, width})}});
  }
}

TEST_CASE("Gpu_Products_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(12);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto size = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(16); ++round) {
    const std::int64_t m = size({1, 2, 5, 33});
    const std::int64_t k = size({1, 3, 4, 18, 64, 129});
    const std::int64_t n = size({1, 4, 6, 16, 35});
    const std::int64_t batch = size({1, 2, 3});
    CAPTURE(fmt::format("{} x {} x {}, {} of them", m, k, n, batch));
    ModelBuilder model;
    model.input("x", DType::float32, {batch, m, k})
        .input("a", DType::float32, {m, k})
        .input("v", DType::float32, {batch, k, n})
        .initializer("w", random_tensor(rng, {n, k}))
        .initializer("c", random_tensor(rng, {n}))
        .initializer("u", random_tensor(rng, {k, n}))
        .node("MatMul", {"x", "v"}, {"xv"})
        .node("MatMul", {"a", "v"}, {"av"})
        .node("MatMul", {"x", "u"}, {"xu"})
        .node("Gemm", {"a", "w", "c"}, {"g"}, {integer("transB", 1), real("alpha", 0.5f)})
        .node("Add", {"xv", "av"}, {"s"})
        .node("Mul", {"s", "xu"}, {"p"})
        .node("Add", {"p", "g"}, {"y"})
        .output("y");
    check_on_gpu(model, {{"x", random_tensor(rng, {batch, m, k})},
                         {"a", random_tensor(rng, {m, k})},
                         {"v", random_tensor(rng, {batch, k, n})}});
  }
}

TEST_CASE("Gpu_SumsBehindProducts_AreRight") {
  const std::uint64_t seed = test_seed(16);
  SEED_INFO(seed);
  Rng rng(seed);
  for (const std::int64_t channels : {3, 4, 8, 20}) {
    CAPTURE(channels);
    const Shape image = {2, channels, 6, 7};
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, 6, 7})
        .initializer("w", random_tensor(rng, {channels, channels, 3, 3}))
        .initializer("v", random_tensor(rng, {channels, channels, 1, 1}))
        .initializer("b", random_tensor(rng, {channels}))
        .initializer("m", random_tensor(rng, {7, 7}))
        .node("Conv", {"x", "w", "b"}, {"c"}, {ints("pads", {1, 1, 1, 1})})
        .node("Add", {"c", "x"}, {"s"})
        .node("Relu", {"s"}, {"r"})
        .node("Conv", {"r", "v"}, {"d"})
        .node("Add", {"r", "d"}, {"t"})
        .node("MatMul", {"t", "m"}, {"p"})
        .node("Add", {"p", "t"}, {"u"})
        .node("Clip", {"u"}, {"y"})
        .output("y");
    const NamedInputs inputs = {{"x", random_tensor(rng, image)}};
    check_on_gpu(model, inputs);
    // As one step each: what lies between is not there.
    for (const GpuWay& way : gpu_ways()) {
      if (way.capture == Capture::all || channels % 4 != 0) continue;
      CAPTURE(way.engine);
      const GpuRun ran = run_on_gpu(built(model), inputs, way);
      CHECK(ran.trace.find("r") != nullptr);
      for (const char* between : {"c", "s", "d"}) CHECK_MESSAGE(ran.trace.find(between) == nullptr, between);
    }
  }
}

TEST_CASE("Gpu_ManyTiles_WithEdges_AreRight") {
  if (sanitized) return;  // judging it takes minutes there
  Rng rng(7);
  ModelBuilder model;
  model.input("x", DType::float32, {530, 70})
      .input("i", DType::float32, {1, 5, 66, 70})
      .input("j", DType::float32, {1, 8, 66, 70})
      .initializer("u", random_tensor(rng, {70, 515}))
      .initializer("w", random_tensor(rng, {70, 5, 3, 3}))
      .initializer("v", random_tensor(rng, {68, 8, 3, 3}))
      .node("MatMul", {"x", "u"}, {"p"})
      .node("Conv", {"i", "w"}, {"q"}, {ints("pads", {1, 1, 1, 1})})
      .node("Conv", {"j", "v"}, {"r"}, {ints("pads", {1, 1, 1, 1})})
      .node("Relu", {"r"}, {"s"})
      .output("p")
      .output("q")
      .output("s");
  check_on_gpu(model, {{"x", random_tensor(rng, {530, 70})},
                       {"i", random_tensor(rng, {1, 5, 66, 70})},
                       {"j", random_tensor(rng, {1, 8, 66, 70})}});
}

TEST_CASE("Gpu_EveryTile_IsRight_AndTheMeasuredOneIsOfThem") {
  if (sanitized || !gpu_is_there(gpu::Api::webgpu)) return;
  Rng rng(8);
  const std::int64_t side = 1027;  // at least 64 tiles of each kind, with edges
  ModelBuilder model;
  model.input("x", DType::float32, {side, 6})
      .initializer("u", random_tensor(rng, {6, side}))
      .node("MatMul", {"x", "u"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  const NamedInputs inputs = {{"x", random_tensor(rng, {side, 6})}};
  ThreadPool threads(2);
  std::vector<std::string> tiles = {"measured"};
  for (const webgpu::Tile& tile : webgpu::large_tiles) tiles.emplace_back(tile.name);
  for (const std::string& name : tiles) {
    CAPTURE(name);
    const GpuRun ran =
        run_on_gpu(graph, inputs, {"webgpu", Capture::fused, {{"kernels", "gpu"}, {"tiles", name}}});
    const std::string chosen = ran.with.options.at("tiles");
    CHECK((name == "measured" ? std::ranges::find(tiles, chosen) != tiles.end() : chosen == name));
    const auto verification = verify(graph, "", ran.trace, threads);
    REQUIRE_MESSAGE(verification.ok(), verification.error().message);
    REQUIRE(verification->layers.size() == 1);
    CHECK(verification->layers[0].verdict <= Verdict::rounding);
  }
}

TEST_CASE("Gpu_LanesAndWindowsAndMoves_AreRight") {
  const std::uint64_t seed = test_seed(13);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto size = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(8); ++round) {
    const std::int64_t channels = size({1, 3, 4, 6, 8});
    const std::int64_t height = size({4, 5, 9});
    const std::int64_t width = size({4, 7, 11});
    CAPTURE(fmt::format("2x{}x{}x{}", channels, height, width));
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, height, width})
        .initializer("scale", random_tensor(rng, {channels}))
        .initializer("shift", random_tensor(rng, {channels}))
        .initializer("mean", random_tensor(rng, {channels}))
        .initializer("var",
                     tensor<float>({channels}, std::vector<float>(static_cast<std::size_t>(channels), 1.5f)))
        .initializer("w", random_tensor(rng, {channels, channels, 1, 1}))
        .initializer("l", random_tensor(rng, {width}))
        .node("Conv", {"x", "w"}, {"c"})
        .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"n"})
        .node("MaxPool", {"n"}, {"m"}, {ints("kernel_shape", {3, 2}), ints("pads", {1, 0, 1, 1})})
        .node("AveragePool", {"n"}, {"a"},
              {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1}), ints("strides", {2, 2})})
        .node("GlobalAveragePool", {"m"}, {"g"})
        .node("Softmax", {"a"}, {"s"}, {integer("axis", 1)})
        .node("ReduceMax", {"s"}, {"r"}, {integer("keepdims", 1)})
        .node("Mul", {"n", "g"}, {"p"})
        .node("Sub", {"p", "r"}, {"q"})
        .node("Transpose", {"q"}, {"t"}, {ints("perm", {0, 2, 1, 3})})
        .node("LayerNormalization", {"t", "l"}, {"ln"})
        .node("InstanceNormalization", {"q", "scale", "shift"}, {"in"})
        .node("Tanh", {"ln"}, {"u"})
        .node("Sigmoid", {"in"}, {"v"})
        .node("Flatten", {"v"}, {"y"})
        .output("u")
        .output("y");
    check_on_gpu(model, {{"x", random_tensor(rng, {2, channels, height, width})}});
  }
}

TEST_CASE("Gpu_NodesOfStrictInBetween_GoThroughTheHost") {
  Rng rng(3);
  ModelBuilder model;
  model.input("x", DType::float32, {1, 4, 6, 6})
      .initializer("w", random_tensor(rng, {4, 4, 3, 3}))
      .node("Conv", {"x", "w"}, {"c"})
      .node("CumSum", {"c", "axis"}, {"s"})
      .initializer("axis", tensor<std::int64_t>({}, {2}))
      .node("Relu", {"s"}, {"y"})
      .output("y");
  const Graph graph = built(model);
  const Tensor x = random_tensor(rng, {1, 4, 6, 6});
  for (const GpuWay& way : gpu_ways()) {
    if (way.capture != Capture::all) continue;
    const GpuRun ran = run_on_gpu(graph, {{"x", x}}, way);
    CHECK(ran.with.options.at("on_strict") == "CumSum 1");
    CHECK(!ran.with.device.empty());
    ThreadPool threads(1);
    const auto verification = verify(graph, "", ran.trace, threads);
    REQUIRE(verification.ok());
    CHECK(verification->layers.size() == 3);
    for (const LayerVerdict& layer : verification->layers) CHECK(layer.verdict <= Verdict::rounding);
  }
}

TEST_CASE("Gpu_MovesAndResizes_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(14);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto size = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(8); ++round) {
    const std::int64_t channels = size({4, 6, 8, 12});
    const std::int64_t height = size({4, 6, 8});
    const std::int64_t width = size({6, 7, 11});
    const std::int64_t groups = channels % 4 == 0 ? size({1, 2, 4}) : 2;
    CAPTURE(fmt::format("2x{}x{}x{}, {} groups", channels, height, width, groups));
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, height, width})
        .initializer("w", random_tensor(rng, {channels, channels / groups, 3, 3}))
        .initializer("t", random_tensor(rng, {channels, 3, 3, 2}))
        .initializer("starts", tensor<std::int64_t>({3}, {1, -2, 4}))
        .initializer("ends", tensor<std::int64_t>({3}, {3, -100, 100}))
        .initializer("axes", tensor<std::int64_t>({3}, {1, 2, 3}))
        .initializer("steps", tensor<std::int64_t>({3}, {1, -2, 1}))
        .initializer("pads", tensor<std::int64_t>({8}, {0, 1, 0, 2, 0, 2, 1, -1}))
        .initializer("fill", tensor<float>({}, {0.25f}))
        .initializer("sizes", tensor<std::int64_t>({4}, {2, channels, 2 * height, width + 3}))
        .initializer("repeats", tensor<std::int64_t>({4}, {1, 2, 1, 3}))
        .node("Conv", {"x", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1}), integer("group", groups)})
        .node("ConvTranspose", {"c", "t"}, {"ct"}, {ints("strides", {2, 1}), ints("pads", {1, 0, 0, 1})})
        .node("Slice", {"c", "starts", "ends", "axes", "steps"}, {"s"})
        .node("Pad", {"c", "pads", "fill"}, {"p"})
        .node("Split", {"c"}, {"s0", "s1"}, {integer("axis", 1)})
        .node("Concat", {"s1", "c", "s0"}, {"cc"}, {integer("axis", 1)})
        .node("Concat", {"c", "c", "x"}, {"cw"}, {integer("axis", 3)})
        .node("Resize", {"c", "", "", "sizes"}, {"rl"}, {text("mode", "linear")})
        .node("Resize", {"c", "", "", "sizes"}, {"rn"},
              {text("mode", "nearest"), text("coordinate_transformation_mode", "asymmetric")})
        .node("Tile", {"s", "repeats"}, {"ti"})
        .output("ct")
        .output("p")
        .output("cc")
        .output("cw")
        .output("rl")
        .output("rn")
        .output("ti");
    check_on_gpu(model, {{"x", random_tensor(rng, {2, channels, height, width})}});
  }
}

// Drivers end long loops silently: llvmpipe after 65,535 iterations.
TEST_CASE("Gpu_LongSumsAndLargeWindows_AreRight") {
  if (sanitized) return;  // judging it takes minutes there
  Rng rng(8);
  ModelBuilder model;
  model.input("x", DType::float32, {1, 4, 290, 290})
      .input("k", DType::float32, {2, 70'004})
      .initializer("w", random_tensor(rng, {70'004, 10}))
      .initializer("axes", tensor<std::int64_t>({1}, {1}))
      .node("GlobalAveragePool", {"x"}, {"g"})
      .node("ReduceMax", {"k"}, {"m"}, {ints("axes", {1})})
      .node("ReduceL2", {"k"}, {"l"}, {ints("axes", {1})})
      .node("MatMul", {"k", "w"}, {"d"})
      .output("g")
      .output("m")
      .output("l")
      .output("d");
  check_on_gpu(model, {{"x", random_tensor(rng, {1, 4, 290, 290})}, {"k", random_tensor(rng, {2, 70'004})}});
}

// A wrong program of either language.
struct Language {
  gpu::Api api;
  const char* wrong;
};
constexpr Language languages[] = {
    {gpu::Api::webgpu, "@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }"},
    {gpu::Api::webgl, "#version 300 es\nprecision highp float;\nout vec4 y;\nvoid main() { int x = 1.5; }"}};

TEST_CASE("Gpu_ShaderThatDoesNotCompile_IsAnErrorAndTheNextDeviceWorks") {
  for (const Language& language : languages) {
    if (!gpu_is_there(language.api)) continue;
    const auto device = gpu::open_device(language.api);
    REQUIRE(device.ok());
    (void)(*device)->make_program("a wrong one", language.wrong);
    Result<bool> ready = (*device)->ready();
    while (ready.ok() && !*ready) ready = (*device)->ready();
    REQUIRE(!ready.ok());
    CHECK(ready.error().message.find("a wrong one") != std::string::npos);
    CHECK((*device)->lost());
    const auto next = gpu::open_device(language.api);
    REQUIRE(next.ok());
    CHECK(*next != *device);
    ready = (*next)->ready();
    while (ready.ok() && !*ready) ready = (*next)->ready();
    REQUIRE_MESSAGE(ready.ok(), ready.error().message);
    const auto too_large =
        (*next)->make_object({4 * (*next)->facts().max_object_bytes / 4 * 4 + 64, 1}, "a value");
    REQUIRE(!too_large.ok());
    CHECK(too_large.error().kind == ErrorKind::limit);
    CHECK(!(*next)->lost());
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_engines_test
