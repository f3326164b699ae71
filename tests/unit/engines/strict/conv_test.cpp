// The fast Conv against the plain one: random shapes and attributes, with the seed printed.
#include <doctest/doctest.h>

#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::conv_test {
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

NodeCase random_conv(Rng& rng) {
  NodeCase conv{.op_type = "Conv"};
  const std::size_t rank = rng.below(4) == 0 ? 1 : 2;
  const bool depthwise = rng.below(4) == 0;
  const std::int64_t groups = depthwise ? between(rng, 2, 9) : between(rng, 1, 2);
  const std::int64_t channels = depthwise ? 1 : between(rng, 1, 40);
  const std::int64_t outputs = depthwise ? between(rng, 1, 2) : between(rng, 1, 20);
  Shape x = {between(rng, 1, 2), groups * channels};
  Shape w = {groups * outputs, channels};
  for (const std::int64_t size : several(rng, rank, 1, 24)) x.push_back(size);
  for (const std::int64_t size : several(rng, rank, 1, 5)) w.push_back(size);
  conv.attributes = {
      {"group", groups}, {"strides", several(rng, rank, 1, 3)}, {"dilations", several(rng, rank, 1, 3)}};
  const std::array auto_pads = {"SAME_UPPER", "SAME_LOWER", "VALID"};
  if (rng.below(4) == 0)
    conv.attributes.push_back({"auto_pad", std::string(auto_pads[rng.below(3)])});
  else if (rng.below(4) != 0)
    conv.attributes.push_back({"pads", several(rng, 2 * rank, 0, 3)});
  // Weights with infinities send padded nodes to the scalar kernel: mostly none.
  const Values data = rng.below(2) == 0 ? Values::special : Values::normal;
  const Values weights = rng.below(3) == 0 ? data : Values::normal;
  conv.inputs = {random_tensor(rng, x, data), random_tensor(rng, w, weights)};
  if (rng.below(3) != 0)
    conv.inputs.push_back(random_tensor(rng, {w[0]}, rng.below(3) == 0 ? data : Values::normal));
  conv.variable = 1 + rng.below(3);
  return conv;
}

TEST_CASE("StrictConv_RandomNodes_SameBitsAsPlain" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  Rng rng(seed);
  int valid = 0;
  int fast = 0;
  while (valid < repetitions(150)) {
    const SameBits result = check_same_bits(random_conv(rng));
    valid += result.valid ? 1 : 0;
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast > repetitions(100));
}

NodeCase conv(Shape x, Shape w, std::vector<Attribute> attributes, Values values = Values::normal) {
  Rng rng(static_cast<std::uint64_t>(element_count(x)));
  const Shape bias = {w[0]};
  return {
      .op_type = "Conv",
      .attributes = std::move(attributes),
      .inputs = {random_tensor(rng, std::move(x), values), random_tensor(rng, std::move(w), Values::normal),
                 random_tensor(rng, bias, Values::normal)}};
}

TEST_CASE("StrictConv_NetworkShapes_SameBitsAsPlain" * doctest::test_suite("large")) {
  const Ints same(4, 1);
  for (const NodeCase& layer :
       {conv({1, 1, 28, 28}, {6, 1, 5, 5}, {{"pads", Ints(4, 2)}}),  // LeNet-5
        conv({1, 6, 14, 14}, {16, 6, 5, 5}, {}),
        conv({1, 16, 32, 32}, {16, 16, 3, 3}, {{"pads", same}}),  // ResNet-20
        conv({1, 32, 16, 16}, {64, 32, 3, 3}, {{"pads", same}, {"strides", Ints{2, 2}}}),
        conv({1, 64, 8, 8}, {110, 64, 3, 3}, {{"pads", same}}),  // two row blocks
        conv({1, 300, 5, 6}, {16, 300, 1, 1}, {}),               // two blocks of k
        conv({1, 32, 40, 40}, {32, 1, 3, 3}, {{"pads", same}, {"group", std::int64_t{32}}}),
        conv({1, 3, 64, 64}, {8, 3, 7, 7}, {{"pads", Ints(4, 3)}, {"strides", Ints{2, 2}}}),
        conv({1, 2, 9000}, {5, 2, 3}, {}),  // one long row
        conv({5, 2, 300, 200}, {1, 2, 1, 1}, {}, Values::special)}) {
    const SameBits result = check_same_bits(layer);
    CHECK(result.valid);
    CHECK_MESSAGE(result.fast, describe(layer));
  }
}

TEST_CASE("StrictConv_InfiniteWeightBesidePadding_ContributesNothing") {
  NodeCase node = conv({1, 1, 4, 4}, {2, 1, 3, 3}, {{"pads", Ints(4, 1)}});
  node.inputs[1]->mutable_values<float>()[0] = std::numeric_limits<float>::infinity();
  node.inputs[1]->mutable_values<float>()[10] = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t variable : {1u, 3u}) {
    node.variable = variable;
    CHECK(check_same_bits(node).valid);
  }
}

TEST_CASE("StrictConv_NegativeZeroBiasBesidePadding_Stays") {
  NodeCase node = conv({1, 1, 4, 4}, {2, 1, 3, 3}, {{"pads", Ints(4, 3)}});
  node.inputs[2] = *Tensor::from_values<float>({2}, std::array{-0.0f, 1.0f});
  CHECK(check_same_bits(node).valid);
  // The corner windows see no data at all: the scalar kernel gives the bias itself.
  const auto graph = single_node_graph(node);
  REQUIRE(graph.has_value());
  StrictSession session(std::make_shared<const Graph>(*graph), simd_targets().front(), 1, {});
  REQUIRE(session.prepare().ok());
  const auto y = run_to_end(session, {*node.inputs[0]}, no_trace_sink());
  REQUIRE(y.ok());
  CHECK(std::bit_cast<std::uint32_t>(y->front().values<float>()[0]) == 0x80000000u);
}

TEST_CASE("StrictConv_ZeroSizes_SameBitsAsPlain") {
  for (const NodeCase& node : {conv({0, 2, 5, 5}, {3, 2, 3, 3}, {}), conv({1, 0, 5, 5}, {3, 0, 3, 3}, {}),
                               conv({1, 2, 5, 5}, {0, 2, 3, 3}, {})})
    CHECK_MESSAGE(check_same_bits(node).valid, describe(node));
}

}  // namespace
}  // namespace driftscope::test::conv_test
