// Nodes of GPU engines with operands that no device has a type for: conditions and indices of the run.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_numbers_test {
namespace {

Tensor random_conditions(Rng& rng, const Shape& shape) {
  auto made = Tensor::make(DType::boolean, shape, "conditions");
  REQUIRE(made.ok());
  for (std::byte& truth : made->mutable_bytes()) truth = static_cast<std::byte>(rng.below(2));
  return *std::move(made);
}

Tensor random_indices(Rng& rng, const Shape& shape, std::int64_t size) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
  for (std::int64_t& value : values)
    value = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(2 * size))) - size;
  return tensor<std::int64_t>(shape, values);
}

TEST_CASE("Gpu_WhereAndGather_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(31);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto one_of = [&](std::initializer_list<std::int64_t> sizes) {
    return sizes.begin()[rng.below(sizes.size())];
  };
  for (int round = 0; round < repetitions(8); ++round) {
    const std::int64_t channels = one_of({1, 3, 4, 8});
    const std::int64_t height = one_of({1, 5, 6});
    const std::int64_t width = one_of({3, 4, 7});
    const std::int64_t chosen = one_of({1, 2, 9});
    const std::int64_t axis = one_of({0, 1, 2, -1});
    const bool whole = rng.below(2) == 0;
    CAPTURE(fmt::format("2x{}x{}x{}, {} along axis {}, whole conditions {}", channels, height, width, chosen,
                        axis, whole));
    const Shape image = {2, channels, height, width};
    const std::int64_t size = image[static_cast<std::size_t>((axis + 4) % 4)];
    const Shape condition = whole ? image : Shape{height, 1};
    ModelBuilder model;
    model.input("x", DType::float32, {2, channels, height, width})
        .input("c", DType::boolean, {condition.begin(), condition.end()})
        .input("i", DType::int64, {chosen, 2})
        .initializer("w", random_tensor(rng, {channels, channels, 1, 1}))
        .initializer("low", tensor<float>({}, {-1e9f}))
        .initializer("k", random_conditions(rng, {width}))
        .node("Conv", {"x", "w"}, {"y"})
        .node("Where", {"c", "y", "low"}, {"z"})
        .node("Where", {"k", "x", "z"}, {"v"})
        .node("Gather", {"v", "i"}, {"g"}, {integer("axis", axis)})
        .output("g");
    check_on_gpu(model, {{"x", random_tensor(rng, image)},
                         {"c", random_conditions(rng, condition)},
                         {"i", random_indices(rng, {chosen, 2}, size)}});
  }
}

TEST_CASE("Gpu_GatherOutOfRange_IsAnErrorThatNamesTheIndex") {
  ModelBuilder model;
  model.input("x", DType::float32, {3, 2})
      .input("i", DType::int64, {2})
      .node("Gather", {"x", "i"}, {"g"})
      .output("g");
  for (const GpuWay& way : gpu_ways()) {
    CAPTURE(way.engine);
    const Error error = gpu_failure(
        built(model),
        {{"x", tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})}, {"i", tensor<std::int64_t>({2}, {0, 3})}}, way);
    CHECK(error.kind == ErrorKind::bad_input);
    CHECK_MESSAGE(error.message.find("Gather") != std::string::npos, error.message);
    CHECK_MESSAGE(error.message.find('3') != std::string::npos, error.message);
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_numbers_test
