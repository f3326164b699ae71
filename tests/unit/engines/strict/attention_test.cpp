// The attention operators on vectors: the bits of the scalar kernels.
#include <doctest/doctest.h>

#include "core/ops/shared/domains.hpp"
#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::strict_attention_test {
namespace {

const std::string microsoft = std::string(microsoft_domain);

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> values) {
  return values.begin()[rng.below(values.size())];
}
bool maybe(Rng& rng) { return rng.below(2) == 0; }

template <class T>
Tensor integers(Rng& rng, const Shape& shape, std::int64_t limit) {
  std::vector<T> values(static_cast<std::size_t>(element_count(shape)));
  for (T& value : values) value = static_cast<T>(rng.below(static_cast<std::uint64_t>(limit)));
  return tensor<T>(shape, values);
}

void check(NodeCase node) {
  node.variable = node.inputs.size();
  CAPTURE(describe(node));
  const SameBits result = check_same_bits(node);
  CHECK(result.valid);
  CHECK(result.fast);
}

// −∞ in a mask leaves a key out.
Tensor mask_of(Rng& rng, const Shape& shape) {
  if (maybe(rng)) {
    auto mask = Tensor::make(DType::boolean, shape, "a mask");
    REQUIRE(mask.ok());
    for (std::byte& value : mask->mutable_bytes()) value = static_cast<std::byte>(rng.below(3) > 0);
    return *mask;
  }
  Tensor mask = random_tensor(rng, shape, Values::normal);
  for (float& value : mask.mutable_values<float>())
    if (rng.below(4) == 0) value = -std::numeric_limits<float>::infinity();
  return mask;
}

TEST_CASE("Attention of ONNX has the bits of the scalar kernel") {
  const std::uint64_t seed = test_seed(67);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(60); ++i) {
    const Values values = i % 3 == 0 ? Values::special : i % 3 == 1 ? Values::finite : Values::normal;
    const std::int64_t batch = one_of(rng, {1, 2});
    const std::int64_t kv_heads = one_of(rng, {1, 2, 3});
    const std::int64_t heads = kv_heads * one_of(rng, {1, 2});
    const std::int64_t queries = one_of(rng, {1, 4, 17});
    const std::int64_t before = one_of(rng, {0, 0, 3});
    const std::int64_t added = one_of(rng, {1, 5, 16, 40});
    const std::int64_t size = one_of(rng, {1, 3, 8, 33});
    const std::int64_t value_size = one_of(rng, {size, 2, 16});
    NodeCase node{.op_type = "Attention", .opset = 25};
    node.inputs = {random_tensor(rng, {batch, heads, queries, size}, values),
                   random_tensor(rng, {batch, added, kv_heads * size}, values),
                   random_tensor(rng, {batch, added, kv_heads * value_size}, values)};
    node.inputs.emplace_back();
    if (maybe(rng)) node.inputs[3] = mask_of(rng, {queries, before + added - one_of(rng, {0, 1})});
    if (maybe(rng)) node.inputs[3].reset();
    if (before > 0) {
      node.inputs.emplace_back(random_tensor(rng, {batch, kv_heads, before, size}, values));
      node.inputs.emplace_back(random_tensor(rng, {batch, kv_heads, before, value_size}, values));
      node.outputs = 3;
    } else if (maybe(rng)) {
      node.inputs.insert(node.inputs.end(),
                         {std::nullopt, std::nullopt, integers<std::int64_t>(rng, {batch}, added + 2)});
    }
    node.attributes = {integer("q_num_heads", heads), integer("kv_num_heads", kv_heads),
                       integer("is_causal", maybe(rng)), integer("left_window_size", one_of(rng, {-1, 1}))};
    if (maybe(rng)) node.attributes.push_back(real("softcap", 3.0f));
    check(node);
  }
}

TEST_CASE("GroupQueryAttention has the bits of the scalar kernel") {
  const std::uint64_t seed = test_seed(68);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(60); ++i) {
    const Values values = i % 2 == 0 ? Values::finite : Values::normal;
    const std::int64_t batch = one_of(rng, {1, 2});
    const std::int64_t kv_heads = one_of(rng, {1, 2});
    const std::int64_t heads = kv_heads * one_of(rng, {1, 3});
    const std::int64_t size = one_of(rng, {2, 8, 24});
    const std::int64_t queries = one_of(rng, {1, 1, 7, 18});
    const std::int64_t before = one_of(rng, {0, 4, 50});
    NodeCase node{.op_type = "GroupQueryAttention", .outputs = 3, .domain = microsoft};
    node.inputs = {random_tensor(rng, {batch, queries, heads * size}, values),
                   random_tensor(rng, {batch, queries, kv_heads * size}, values),
                   random_tensor(rng, {batch, queries, kv_heads * size}, values)};
    for (int cache = 0; cache < 2; ++cache) {
      node.inputs.emplace_back();
      if (before > 0) node.inputs.back() = random_tensor(rng, {batch, kv_heads, before, size}, values);
    }
    std::vector<std::int32_t> lasts;
    for (std::int64_t b = 0; b < batch; ++b)
      lasts.push_back(static_cast<std::int32_t>(before + queries - 1 - one_of(rng, {0, before > 0 ? 2 : 0})));
    node.inputs.emplace_back(tensor<std::int32_t>({batch}, lasts));
    node.inputs.emplace_back(tensor<std::int32_t>({1}, {static_cast<std::int32_t>(before + queries)}));
    const bool turns = maybe(rng);
    for (int cache = 0; cache < 2; ++cache) {
      node.inputs.emplace_back();
      if (turns) node.inputs.back() = random_tensor(rng, {before + queries, size / 2}, Values::normal);
    }
    node.inputs.emplace_back();
    node.inputs.emplace_back();
    if (maybe(rng)) node.inputs.back() = random_tensor(rng, {1, 1, queries, before + queries}, values);
    if (maybe(rng)) node.inputs.emplace_back(random_tensor(rng, {heads}, values));
    node.attributes = {integer("num_heads", heads), integer("kv_num_heads", kv_heads),
                       integer("do_rotary", turns), integer("smooth_softmax", maybe(rng)),
                       integer("local_window_size", one_of(rng, {-1, 3}))};
    check(node);
  }
}

TEST_CASE("MultiHeadAttention and Attention of com.microsoft have the bits of the scalar kernels") {
  const std::uint64_t seed = test_seed(69);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int i = 0; i < repetitions(40); ++i) {
    const Values values = i % 4 < 2 ? Values::finite : Values::normal;
    const std::int64_t heads = one_of(rng, {1, 3});
    const std::int64_t size = one_of(rng, {2, 8, 17});
    const std::int64_t queries = one_of(rng, {1, 6});
    const bool projects = maybe(rng);
    const std::int64_t added = projects ? queries : one_of(rng, {1, 9});
    NodeCase node{.op_type = projects ? "Attention" : "MultiHeadAttention", .domain = microsoft};
    node.inputs = {random_tensor(rng, {2, queries, heads * size}, values)};
    if (projects) {
      node.inputs.emplace_back(random_tensor(rng, {heads * size, 3 * heads * size}, Values::normal));
      node.inputs.emplace_back();
    } else {
      for (int of = 0; of < 2; ++of)
        node.inputs.emplace_back(random_tensor(rng, {2, added, heads * size}, values));
      node.inputs.emplace_back();
    }
    if (maybe(rng)) node.inputs.back() = random_tensor(rng, {3 * heads * size}, values);
    node.inputs.emplace_back();
    if (maybe(rng)) node.inputs.back() = integers<std::int32_t>(rng, {2, added}, 2);
    if (maybe(rng)) node.inputs.back() = integers<std::int32_t>(rng, {2}, added + 2);
    if (maybe(rng)) {
      if (projects) node.inputs.emplace_back();
      node.inputs.emplace_back(random_tensor(rng, {1, heads, queries, added}, values));
    }
    node.attributes = {integer("num_heads", heads), integer("unidirectional", maybe(rng))};
    check(node);
  }
}

}  // namespace
}  // namespace driftscope::test::strict_attention_test
