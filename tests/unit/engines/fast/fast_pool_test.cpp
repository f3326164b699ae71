// MaxPool on `fast` against `strict`, bit by bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/engines/fast/run_engine.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::fast_pool_test {
TEST_CASE("FastPool_MaxPoolOfBytes_RunsThereWithStrictsBits") {
  const std::uint64_t first = test_seed(10);
  SEED_INFO(first);
  for (std::uint64_t seed = first; seed < first + repetitions(12); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const bool is_signed = rng.below(2) == 0;
    const Shape shape = {
        1 + static_cast<std::int64_t>(rng.below(2)), 1 + static_cast<std::int64_t>(rng.below(20)),
        6 + static_cast<std::int64_t>(rng.below(6)), 6 + static_cast<std::int64_t>(rng.below(6))};
    const auto size = [&](std::int64_t min_size) {
      return min_size + static_cast<std::int64_t>(rng.below(2));
    };
    const std::vector<std::int64_t> kernel = {size(2), size(2)};
    const std::vector<std::int64_t> pads = {size(0), size(0), size(0), size(0)};
    const DType dtype = is_signed ? DType::int8 : DType::uint8;
    const Graph graph = built(
        ModelBuilder()
            .input("x", dtype, {shape[0], shape[1], shape[2], shape[3]})
            .node("MaxPool", {"x"}, {"y"},
                  {ints("kernel_shape", kernel), ints("pads", pads), ints("strides", {size(1), size(1)})})
            .output("y"));
    Tensor x = *Tensor::make(dtype, shape);
    for (std::byte& byte : x.mutable_bytes()) byte = static_cast<std::byte>(rng.below(256));
    RanWith ran;
    const Trace fast = run_engine(graph, {{"x", x}}, Capture::all, 1, "fast", &ran);
    CHECK(ran.options.count("on_strict") == 0);
    const Trace strict = run_engine(graph, {{"x", x}}, Capture::all, 1, "strict");
    REQUIRE(fast.find("y")->shape() == strict.find("y")->shape());
    CHECK(std::ranges::equal(fast.find("y")->bytes(), strict.find("y")->bytes()));
  }
}

// XNNPACK's pointers of dilated windows with pads are wrong for some sizes; those run on strict.
TEST_CASE("FastPool_MaxPoolOfDilatedPaddedWindows_AsStrict") {
  const std::uint64_t first = test_seed(77);
  SEED_INFO(first);
  int on_fast = 0;
  for (std::uint64_t seed = first; seed < first + repetitions(300); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto size = [&](std::int64_t low, std::uint64_t count) {
      return low + static_cast<std::int64_t>(rng.below(count));
    };
    const Shape shape = {size(1, 2), size(1, 3), size(1, 6), size(1, 6)};
    const std::vector<std::int64_t> kernel = {size(1, 4), size(1, 4)}, dilations = {size(1, 3), size(1, 3)};
    std::vector<std::int64_t> pads;
    for (std::size_t i = 0; i < 4; ++i)
      pads.push_back(size(0, static_cast<std::uint64_t>((kernel[i % 2] - 1) * dilations[i % 2] + 1)));
    ModelBuilder model;
    model.input("x", DType::float32, {shape.begin(), shape.end()})
        .node("MaxPool", {"x"}, {"y"},
              {ints("kernel_shape", kernel), ints("pads", pads), ints("dilations", dilations),
               ints("strides", {size(1, 3), size(1, 3)})})
        .output("y");
    const Graph graph = built(model);
    const Tensor x = random_tensor(rng, shape);
    if (!bind_inputs(graph, {{"x", x}}).ok()) continue;  // no window fits
    RanWith ran;
    const Trace fast = run_engine(graph, {{"x", x}}, Capture::all, 1, "fast", &ran);
    const Trace strict = run_engine(graph, {{"x", x}}, Capture::all, 1, "strict");
    on_fast += ran.options.count("on_strict") == 0 ? 1 : 0;
    CHECK(std::ranges::equal(fast.find("y")->bytes(), strict.find("y")->bytes()));
  }
  CHECK(on_fast > static_cast<int>(repetitions(300)) / 8);
}

}  // namespace driftscope::test::fast_pool_test
