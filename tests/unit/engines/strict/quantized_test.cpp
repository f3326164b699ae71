// The fast kernels of the quantized operators against the plain ones.
#include <doctest/doctest.h>

#include "tests/unit/engines/strict/same_bits.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::strict_quantized_test {
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

// int8 or uint8; all values occur, the ends often.
Tensor random_bytes(Rng& rng, bool is_signed, Shape shape) {
  Tensor tensor = *Tensor::make(is_signed ? DType::int8 : DType::uint8, std::move(shape));
  for (std::byte& x : tensor.mutable_bytes()) {
    x = static_cast<std::byte>(rng.below(256));
    if (rng.below(4) == 0) x = static_cast<std::byte>(rng.below(2) == 0 ? 0x80 : 0x7f + 0x80 * is_signed);
  }
  return tensor;
}

Tensor scalar(float x) { return *Tensor::from_values<float>({}, std::array{x}); }

// Positive, some powers of two.
Tensor scales(Rng& rng, Shape shape) {
  Tensor tensor = *Tensor::make(DType::float32, std::move(shape));
  for (float& x : tensor.mutable_values<float>()) x = rng.below(3) == 0 ? 0x1p-6f : rng.uniform(0.001f, 0.1f);
  return tensor;
}

Tensor biases(Rng& rng, std::int64_t count) {
  Tensor tensor = *Tensor::make(DType::int32, {count});
  for (std::int32_t& x : tensor.mutable_values<std::int32_t>())
    x = static_cast<std::int32_t>(between(rng, -3000, 3000));
  return tensor;
}

struct Convolution {
  Shape x;
  Shape w;
  std::vector<Attribute> attributes;
};

Convolution random_convolution(Rng& rng) {
  const std::size_t rank = rng.below(4) == 0 ? 1 : 2;
  const bool depthwise = rng.below(4) == 0;
  const std::int64_t groups = depthwise ? between(rng, 2, 7) : between(rng, 1, 2);
  const std::int64_t channels = depthwise ? 1 : between(rng, 1, 20);
  Convolution made{{between(rng, 1, 2), groups * channels},
                   {groups * between(rng, 1, 10), channels},
                   {{"group", groups},
                    {"strides", several(rng, rank, 1, 2)},
                    {"dilations", several(rng, rank, 1, 2)},
                    {"pads", several(rng, 2 * rank, 0, 2)}}};
  for (const std::int64_t size : several(rng, rank, 1, 15)) made.x.push_back(size);
  for (const std::int64_t size : several(rng, rank, 1, 4)) made.w.push_back(size);
  return made;
}

// A parameter for the whole tensor, or one for each line.
Shape one_or(Rng& rng, std::int64_t lines) { return rng.below(2) == 0 ? Shape{} : Shape{lines}; }

NodeCase random_qlinear_conv(Rng& rng) {
  const Convolution conv = random_convolution(rng);
  const bool x_signed = rng.below(2) == 0;
  const bool w_signed = rng.below(2) == 0;
  const Shape per_channel = one_or(rng, conv.w[0]);
  NodeCase node{.op_type = "QLinearConv", .attributes = conv.attributes};
  node.inputs = {random_bytes(rng, x_signed, conv.x),
                 scales(rng, {}),
                 random_bytes(rng, x_signed, {}),
                 random_bytes(rng, w_signed, conv.w),
                 scales(rng, per_channel),
                 random_bytes(rng, w_signed, per_channel),
                 scalar(rng.uniform(0.5f, 20.0f)),
                 random_bytes(rng, rng.below(2) == 0, {})};
  if (rng.below(2) == 0) node.inputs.push_back(biases(rng, conv.w[0]));
  const std::array<std::size_t, 4> variable = {1, 3, 4, 9};
  node.variable = variable[rng.below(4)];
  return node;
}

NodeCase random_conv_integer(Rng& rng) {
  const Convolution conv = random_convolution(rng);
  const bool x_signed = rng.below(2) == 0;
  const bool w_signed = rng.below(2) == 0;
  NodeCase node{.op_type = "ConvInteger", .attributes = conv.attributes};
  node.inputs = {random_bytes(rng, x_signed, conv.x), random_bytes(rng, w_signed, conv.w)};
  if (rng.below(3) != 0) node.inputs.push_back(random_bytes(rng, x_signed, {}));
  if (node.inputs.size() == 3 && rng.below(2) == 0)
    node.inputs.push_back(random_bytes(rng, w_signed, one_or(rng, conv.w[0])));
  node.variable = 1 + rng.below(4);
  return node;
}

struct Product {
  Shape a;
  Shape b;
  std::int64_t rows;
  std::int64_t columns;
};

Product random_product(Rng& rng) {
  const std::int64_t m = between(rng, 1, 20);
  const std::int64_t k = between(rng, 1, rng.below(4) == 0 ? 600 : 40);
  const std::int64_t n = between(rng, 1, rng.below(4) == 0 ? 150 : 30);
  const std::array<Product, 5> products = {{{{m, k}, {k, n}, m, n},
                                            {{2, m, k}, {k, n}, m, n},
                                            {{2, 1, m, k}, {3, k, n}, m, n},
                                            {{m, k}, {2, k, n}, m, n},
                                            {{k}, {k, n}, 1, n}}};
  return products[rng.below(products.size())];
}

NodeCase random_matmul_integer(Rng& rng) {
  const Product product = random_product(rng);
  const bool a_signed = rng.below(2) == 0;
  const bool b_signed = rng.below(2) == 0;
  NodeCase node{.op_type = "MatMulInteger"};
  node.inputs = {random_bytes(rng, a_signed, product.a), random_bytes(rng, b_signed, product.b)};
  if (rng.below(3) != 0)
    node.inputs.push_back(
        random_bytes(rng, a_signed, product.a.size() == 1 ? Shape{} : one_or(rng, product.rows)));
  if (node.inputs.size() == 3 && rng.below(2) == 0)
    node.inputs.push_back(random_bytes(rng, b_signed, one_or(rng, product.columns)));
  node.variable = 1 + rng.below(4);
  return node;
}

NodeCase random_qlinear_matmul(Rng& rng) {
  const Product product = random_product(rng);
  const bool a_signed = rng.below(2) == 0;
  const bool b_signed = rng.below(2) == 0;
  const bool y_signed = rng.below(2) == 0;
  const auto rows = [&] { return product.a.size() == 1 ? Shape{} : one_or(rng, product.rows); };
  const Shape a_lines = rows();
  const Shape b_lines = one_or(rng, product.columns);
  const Shape y_lines = rows();
  NodeCase node{.op_type = "QLinearMatMul"};
  node.inputs = {random_bytes(rng, a_signed, product.a),
                 scales(rng, a_lines),
                 random_bytes(rng, a_signed, a_lines),
                 random_bytes(rng, b_signed, product.b),
                 scales(rng, b_lines),
                 random_bytes(rng, b_signed, b_lines),
                 scales(rng, y_lines),
                 random_bytes(rng, y_signed, y_lines)};
  const std::array<std::size_t, 3> variable = {1, 3, 8};
  node.variable = variable[rng.below(3)];
  return node;
}

NodeCase random_quantize(Rng& rng) {
  const Shape shape = {between(rng, 1, 4), between(rng, 1, 6), between(rng, 0, 70)};
  const std::int64_t axis = between(rng, 0, 2);
  const Shape lines = one_or(rng, shape[static_cast<std::size_t>(axis)]);
  const bool is_signed = rng.below(2) == 0;
  const bool back = rng.below(2) == 0;
  NodeCase node{.op_type = back ? "DequantizeLinear" : "QuantizeLinear", .attributes = {{"axis", axis}}};
  node.inputs = {back ? random_bytes(rng, is_signed, shape) : random_tensor(rng, shape, Values::special),
                 scales(rng, lines)};
  if (rng.below(3) != 0 || (is_signed && !back)) node.inputs.push_back(random_bytes(rng, is_signed, lines));
  node.variable = 1 + rng.below(3);
  return node;
}

NodeCase random_dynamic_quantize(Rng& rng) {
  const Values values = rng.below(2) == 0 ? Values::special : Values::normal;
  return {.op_type = "DynamicQuantizeLinear",
          .inputs = {random_tensor(rng, {between(rng, 0, 3), between(rng, 0, 90)}, values)},
          .outputs = 3};
}

void try_many(NodeCase (*make)(Rng&), int cases, int min_fast) {
  const std::uint64_t seed = test_seed(101);
  SEED_INFO(seed);
  Rng rng(seed);
  int valid = 0;
  int fast = 0;
  while (valid < repetitions(cases)) {
    const SameBits result = check_same_bits(make(rng));
    valid += result.valid ? 1 : 0;
    fast += result.fast ? 1 : 0;
  }
  CHECK(fast >= repetitions(min_fast));
}

TEST_CASE("StrictQLinearConv_RandomNodes_SameBitsAsPlain") { try_many(random_qlinear_conv, 80, 60); }
TEST_CASE("StrictConvInteger_RandomNodes_SameBitsAsPlain") { try_many(random_conv_integer, 80, 60); }
TEST_CASE("StrictQLinearMatMul_RandomNodes_SameBitsAsPlain") { try_many(random_qlinear_matmul, 80, 80); }
TEST_CASE("StrictMatMulInteger_RandomNodes_SameBitsAsPlain") { try_many(random_matmul_integer, 80, 80); }
TEST_CASE("StrictQuantize_RandomNodes_SameBitsAsPlain") { try_many(random_quantize, 80, 80); }
TEST_CASE("StrictDynamicQuantize_RandomNodes_SameBitsAsPlain") { try_many(random_dynamic_quantize, 60, 60); }

// Ties go to the even step, whichever neighbour that is; just beside a half there is no tie.
TEST_CASE("StrictQuantize_Ties_SameBitsAsPlain") {
  std::vector<float> x;
  for (int step = -300; step <= 300; ++step)
    for (const float at : {0.5f, 0.49999997f, 0.50000006f, 0.0f})
      x.push_back((static_cast<float>(step) + at) * 0.25f);
  x.push_back(0.49999997f * 0.25f);
  x.push_back(0x1p40f);
  x.push_back(-0x1p31f);
  const auto count = static_cast<std::int64_t>(x.size());
  for (const bool is_signed : {true, false}) {
    const NodeCase node{
        .op_type = "QuantizeLinear",
        .inputs = {*Tensor::from_values<float>({count}, x), scalar(0.25f),
                   is_signed ? *Tensor::from_values<std::int8_t>({}, std::array{std::int8_t{-3}})
                             : *Tensor::from_values<std::uint8_t>({}, std::array{std::uint8_t{130}})}};
    CHECK(check_same_bits(node).fast);
  }
}

// 255 · 255 over this many channels exceeds what a float holds exactly, and int16 of course.
TEST_CASE("StrictMatMulInteger_LargestProducts_AreExact") {
  constexpr std::int64_t depth = 4001;
  const auto filled = [](Shape shape, std::uint8_t value) {
    Tensor tensor = *Tensor::make(DType::uint8, std::move(shape));
    for (std::uint8_t& x : tensor.mutable_values<std::uint8_t>()) x = value;
    return tensor;
  };
  const NodeCase node{.op_type = "MatMulInteger",
                      .inputs = {filled({3, depth}, 255), filled({depth, 70}, 255)}};
  CHECK(check_same_bits(node).fast);
}

}  // namespace
}  // namespace driftscope::test::strict_quantized_test
