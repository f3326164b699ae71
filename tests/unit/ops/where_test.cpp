// Where against a reference that finds each element by itself, over random broadcasts: the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/unit/support/draws.hpp"
#include "tests/unit/support/seed.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::where_test {
namespace {

using Operands = std::array<Tensor, 3>;

std::int64_t size_at(const Shape& shape, std::size_t axis_from_end) {
  return axis_from_end < shape.size() ? shape[shape.size() - 1 - axis_from_end] : 1;
}

Shape broadcast_of(const Operands& operands) {
  Shape out;
  for (const Tensor& one : operands) out.resize(std::max(out.size(), one.shape().size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const Tensor& one : operands)
      if (size_at(one.shape(), i) != 1) out[out.size() - 1 - i] = size_at(one.shape(), i);
  return out;
}

/// Where the element of this row-major index of `out` lies in a tensor of this shape.
std::int64_t place_of(std::int64_t index, const Shape& out, const Shape& shape) {
  std::int64_t place = 0;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t coordinate = index % size_at(out, i);
    index /= size_at(out, i);
    if (size_at(shape, i) != 1) place += coordinate * stride;
    stride *= size_at(shape, i);
  }
  return place;
}

std::vector<std::byte> reference(const Operands& operands) {
  const Shape out = broadcast_of(operands);
  const std::size_t bytes = static_cast<std::size_t>(bits_per_element(operands[1].dtype())) / 8;
  std::vector<std::byte> result;
  for (std::int64_t i = 0; i < element_count(out); ++i) {
    const auto condition =
        operands[0].bytes()[static_cast<std::size_t>(place_of(i, out, operands[0].shape()))];
    const Tensor& from = operands[condition != std::byte(0) ? 1 : 2];
    const auto place = static_cast<std::size_t>(place_of(i, out, from.shape()));
    const auto element = from.bytes().subspan(place * bytes, bytes);
    result.insert(result.end(), element.begin(), element.end());
  }
  return result;
}

/// Of random bits; of a bool 0 or 1.
Tensor random_bits(Rng& rng, DType dtype, const Shape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(bits_per_element(dtype)) / 8;
  std::vector<std::byte> bits(static_cast<std::size_t>(element_count(shape)) * bytes);
  for (std::byte& byte : bits) byte = std::byte(rng.below(dtype == DType::boolean ? 2 : 256));
  const auto made = Tensor::from_bytes(dtype, shape, bits);
  REQUIRE(made.ok());
  return *made;
}

/// Shapes that broadcast against one another, of up to five axes.
std::array<Shape, 3> random_shapes(Rng& rng) {
  Shape whole(static_cast<std::size_t>(drawn(rng, 0, 5)));
  for (std::int64_t& size : whole) size = drawn(rng, 1, whole.size() > 3 ? 5 : 17);
  std::array<Shape, 3> shapes;
  for (Shape& shape : shapes) {
    const bool repeats = rng.below(2) == 0;
    const auto left_out = repeats ? drawn(rng, 0, static_cast<std::int64_t>(whole.size())) : 0;
    shape.assign(whole.begin() + left_out, whole.end());
    for (std::int64_t& size : shape)
      if (repeats && rng.below(3) == 0) size = 1;
  }
  return shapes;
}

Operands random_operands(Rng& rng, DType dtype, const std::array<Shape, 3>& shapes) {
  return {random_bits(rng, DType::boolean, shapes[0]), random_bits(rng, dtype, shapes[1]),
          random_bits(rng, dtype, shapes[2])};
}

OneNode where(const Operands& operands) { return {"Where", {operands[0], operands[1], operands[2]}}; }

void check_bits(const Operands& operands, int threads) {
  CAPTURE(dtype_name(operands[1].dtype()));
  INFO("condition " << shape_text(operands[0].shape()) << ", X " << shape_text(operands[1].shape()) << ", Y "
                    << shape_text(operands[2].shape()));
  const OneNode node = where(operands);
  ThreadPool pool(threads);
  const Graph graph = node.graph();
  const auto values = run_graph_strict(graph, node.named(), pool);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  const Tensor& result = (*values)[graph.outputs[0]];
  CHECK(result.shape() == broadcast_of(operands));
  CHECK(std::ranges::equal(result.bytes(), reference(operands)));
}

}  // namespace

TEST_CASE("Where_RandomBroadcastsOfRandomBits_AreThoseOfEachElement") {
  const std::uint64_t seed = test_seed(9041);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(400); ++round)
    for (const DType dtype : {DType::float32, DType::boolean, DType::int16, DType::uint32, DType::int64}) {
      CAPTURE(round);
      check_bits(random_operands(rng, dtype, random_shapes(rng)), 1);
    }
}

// As long as makes several threads take parts of it, within rows too.
TEST_CASE("Where_OnSeveralThreads_HasTheSameBits") {
  const std::uint64_t seed = test_seed(9042);
  SEED_INFO(seed);
  Rng rng(seed);
  const Shape whole = {2, 3, 90, 131};
  const std::array<std::array<Shape, 3>, 6> cases = {{
      {whole, whole, whole},
      {Shape{90, 131}, whole, Shape{}},
      {Shape{2, 1, 1, 131}, Shape{1}, whole},
      {whole, Shape{}, Shape{1, 1}},
      {Shape{2, 1, 1, 1}, Shape{90, 1}, Shape{2, 3, 90, 131}},
      {Shape{3, 1, 131}, Shape{2, 1, 90, 1}, Shape{131}},
  }};
  for (const auto& shapes : cases)
    for (const DType dtype : {DType::float32, DType::int64})
      check_bits(random_operands(rng, dtype, shapes), 3);
}

TEST_CASE("Where_RandomNumbers_AreExactForEveryScalar") {
  const std::uint64_t seed = test_seed(9043);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(40); ++round) {
    CAPTURE(round);
    const auto shapes = random_shapes(rng);
    Operands operands = random_operands(rng, DType::float32, shapes);
    for (std::size_t k : {1, 2}) operands[k] = floats(shapes[k], normals(rng, element_count(shapes[k])));
    const OneNode node = where(operands);
    CHECK(std::ranges::equal(node.run()[0].bytes(), reference(operands)));
    for (const Bounded& one : node.bounded()) CHECK(one.worst == 0.0);
  }
}

}  // namespace driftscope::test::where_test
