// MatMulNBits on packed panels: the bits of the scalar kernel, for all that the operator allows.
#include <doctest/doctest.h>

#include <cmath>

#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/matmul_nbits.hpp"
#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::matmul_nbits_test {
namespace {

template <class T>
T one_of(Rng& rng, std::initializer_list<T> values) {
  return *(values.begin() + rng.below(values.size()));
}

NodeCase random_case(Rng& rng, Values values) {
  const std::int64_t bits = one_of<std::int64_t>(rng, {2, 4, 4, 8});
  const std::int64_t block = one_of<std::int64_t>(rng, {16, 32, 64, 128});
  const auto depth = static_cast<std::int64_t>(1 + rng.below(rng.below(4) == 0 ? 700 : 90));
  const auto columns = static_cast<std::int64_t>(1 + rng.below(rng.below(4) == 0 ? 420 : 70));
  const std::int64_t blocks = (depth + block - 1) / block;
  NodeCase node{.op_type = "MatMulNBits", .domain = std::string(microsoft_domain)};
  node.attributes = {integer("K", depth), integer("N", columns), integer("bits", bits),
                     integer("block_size", block)};
  const auto rows = static_cast<std::int64_t>(1 + rng.below(19));
  const Shape leading = one_of<Shape>(rng, {{}, {rows}, {1}, {2, rows}});
  Shape a = leading;
  a.push_back(depth);
  node.inputs.emplace_back(random_tensor(rng, a, values));
  node.inputs.emplace_back(random_bytes(rng, columns * blocks * block * bits / 8));
  node.inputs.emplace_back(random_tensor(rng, {columns * blocks}, Values::normal));
  switch (rng.below(3)) {
    case 0: node.inputs.emplace_back(); break;
    case 1: node.inputs.emplace_back(random_bytes(rng, columns * ((blocks * bits + 7) / 8))); break;
    default: node.inputs.emplace_back(random_tensor(rng, {columns * blocks}, Values::normal));
  }
  if (rng.below(3) == 0) {
    std::vector<std::int32_t> groups(static_cast<std::size_t>(depth));
    for (std::int32_t& group : groups)
      group = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(blocks)));
    node.inputs.emplace_back(tensor<std::int32_t>({depth}, groups));
  } else {
    node.inputs.emplace_back();
  }
  if (rng.below(2) == 0) node.inputs.emplace_back(random_tensor(rng, {columns}, values));
  return node;
}

TEST_CASE("MatMulNBits has the bits of the scalar kernel" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(37);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(120); ++i) {
    const SameBits result = check_same_bits(random_case(rng, i % 2 == 0 ? Values::normal : Values::special));
    CHECK(result.valid);
    CHECK(result.fast);
  }
}

// A product with the identity is the weights themselves.
TEST_CASE("NBitsWeights_OfRandomTensors_AreThoseOfTheScalarKernel") {
  const std::uint64_t seed = test_seed(39);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(20); ++i) {
    NodeCase node = random_case(rng, Values::normal);
    node.inputs.resize(5);
    std::int64_t depth = 0;
    for (const Attribute& attribute : node.attributes)
      if (attribute.name == "K") depth = std::get<std::int64_t>(attribute.value);
    std::vector<float> identity(static_cast<std::size_t>(depth * depth));
    for (std::int64_t k = 0; k < depth; ++k) identity[static_cast<std::size_t>(k * depth + k)] = 1.0f;
    node.inputs[0] = tensor<float>({depth, depth}, identity);
    const auto graph = single_node_graph(node);
    REQUIRE(graph);
    std::vector<const Tensor*> operands;
    for (const auto& input : node.inputs) operands.push_back(input ? &*input : nullptr);
    ThreadPool threads(1);
    const auto made = evaluate_strict(graph->nodes[0], operands, threads);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    const auto layout = read_nbits_layout(graph->nodes[0]);
    REQUIRE(layout.ok());
    auto groups = nbits_groups(operands[4], *layout);
    REQUIRE(groups.ok());
    const NBitsWeights weights(*layout, *std::move(groups), *operands[1], *operands[2], operands[3]);
    bool same = true;
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t n = 0; n < layout->columns; ++n)
        same = same && weights.at(k, n) ==
                           (*made)[0].values<float>()[static_cast<std::size_t>(k * layout->columns + n)];
    CHECK(same);
  }
}

TEST_CASE("MatMulNBits with weights that are computed runs on the scalar kernel") {
  Rng rng(38);
  NodeCase node = random_case(rng, Values::normal);
  node.variable = 2;
  const SameBits result = check_same_bits(node);
  CHECK(result.valid);
  CHECK_FALSE(result.fast);
}

}  // namespace
}  // namespace driftscope::test::matmul_nbits_test
