// The fast ConvTranspose against the plain one.
#include <doctest/doctest.h>

#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::strict_conv_transpose_test {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

Ints several(Rng& rng, std::size_t count, std::int64_t low, std::int64_t high) {
  Ints values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(between(rng, low, high));
  return values;
}

NodeCase random_node(Rng& rng) {
  const std::size_t rank = rng.below(4) == 0 ? 1 : 2;
  const std::int64_t groups = between(rng, 1, 3);
  const std::int64_t channels = between(rng, 1, 12);
  const std::int64_t outputs = between(rng, 1, 12);
  Shape x = {between(rng, 1, 2), groups * channels};
  Shape w = {groups * channels, outputs};
  for (const std::int64_t size : several(rng, rank, 1, 14)) x.push_back(size);
  for (const std::int64_t size : several(rng, rank, 1, 4)) w.push_back(size);
  NodeCase node{
      .op_type = "ConvTranspose",
      .attributes = {
          {"group", groups}, {"strides", several(rng, rank, 1, 4)}, {"dilations", several(rng, rank, 1, 3)}}};
  const std::array auto_pads = {"SAME_UPPER", "SAME_LOWER", "VALID"};
  if (rng.below(4) == 0)
    node.attributes.push_back({"auto_pad", std::string(auto_pads[rng.below(3)])});
  else if (rng.below(3) != 0)
    node.attributes.push_back({"pads", several(rng, 2 * rank, 0, 2)});
  if (rng.below(3) == 0) node.attributes.push_back({"output_padding", several(rng, rank, 0, 1)});
  const Values data = rng.below(2) == 0 ? Values::special : Values::normal;
  const Values weights = rng.below(3) == 0 ? data : Values::normal;
  node.inputs = {random_tensor(rng, x, data), random_tensor(rng, w, weights)};
  if (rng.below(3) != 0)
    node.inputs.push_back(random_tensor(rng, {groups * outputs}, rng.below(3) == 0 ? data : Values::normal));
  node.variable = 1 + rng.below(3);
  return node;
}

TEST_CASE("StrictConvTranspose_RandomNodes_SameBitsAsPlain" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  Rng rng(seed);
  int valid = 0;
  int fast = 0;
  while (valid < repetitions(150)) {
    const SameBits result = check_same_bits(random_node(rng));
    valid += result.valid ? 1 : 0;
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast > repetitions(100));
}

NodeCase node(Shape x, Shape w, std::vector<Attribute> attributes) {
  Rng rng(7);
  const Shape bias = {w[1]};
  return {
      .op_type = "ConvTranspose",
      .attributes = std::move(attributes),
      .inputs = {random_tensor(rng, std::move(x), Values::normal),
                 random_tensor(rng, std::move(w), Values::normal), random_tensor(rng, bias, Values::normal)}};
}

TEST_CASE("StrictConvTranspose_NetworkShapes_AreFast") {
  for (const NodeCase& layer :
       {node({1, 64, 16, 16}, {64, 32, 2, 2}, {{"strides", Ints{2, 2}}}),  // U-Net
        node({1, 100, 1, 1}, {100, 64, 4, 4}, {}),                         // DCGAN
        node({1, 64, 8, 8}, {64, 32, 4, 4}, {{"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}}),
        node({2, 8, 50}, {8, 4, 3}, {{"strides", Ints{3}}})})
    CHECK_MESSAGE(check_same_bits(layer).fast, describe(layer));
}

// Of a stride beyond the kernel some outputs see no input at all.
TEST_CASE("StrictConvTranspose_GapsBetweenWindows_HoldTheBias") {
  const NodeCase gaps = node({1, 2, 4, 5}, {2, 3, 1, 2}, {{"strides", Ints{3, 4}}});
  CHECK(check_same_bits(gaps).fast);
}

TEST_CASE("StrictConvTranspose_InfiniteWeightOrNegativeZeroBias_SameBitsAsPlain") {
  NodeCase layer = node({1, 2, 4, 4}, {2, 3, 3, 3}, {{"strides", Ints{2, 2}}});
  layer.inputs[1]->mutable_values<float>()[4] = std::numeric_limits<float>::infinity();
  CHECK(check_same_bits(layer).valid);
  layer = node({1, 2, 4, 4}, {2, 3, 1, 1}, {{"strides", Ints{2, 2}}});
  layer.inputs[2]->mutable_values<float>()[1] = -0.0f;
  CHECK(check_same_bits(layer).valid);
}

TEST_CASE("StrictConvTranspose_HugeStride_GoesToThePlainKernel") {
  const SameBits result = check_same_bits(node({1, 1, 2, 2}, {1, 1, 2, 2}, {{"strides", Ints{100, 100}}}));
  CHECK(result.valid);
  CHECK(!result.fast);
}

}  // namespace
}  // namespace driftscope::test::strict_conv_transpose_test
