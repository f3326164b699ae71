// com.microsoft MatMulBnb4: A [.., K] times weights of N × K numbers, each one of 16 values (quant_type 0:
// FP4, 1: NF4) times the absmax of its block; blocks run over the weights in memory. The first of two numbers
// is in the high bits.
//
// Strict definition (float): that of weight_product.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/weight_product.hpp"

namespace driftscope::ops::matmul_bnb4 {

// Sign, then 3 bits: powers of two with one bit of fraction, over 12.
constexpr std::array<float, 16> fp4 = {
    0.0f,  5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
// Quantiles of the normal distribution (Dettmers et al. 2023, QLoRA, appendix E).
constexpr std::array<float, 16> nf4 = {
    -1.0f,       -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
    0.07958030f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1.0f};

struct Layout {
  std::int64_t depth = 0, columns = 0, block = 0;
  bool normal = false;
};

Result<Layout> read_layout(const Node& node) {
  Layout layout;
  DRIFTSCOPE_TRY(layout.depth, required_int(node, "K", 1));
  DRIFTSCOPE_TRY(layout.columns, required_int(node, "N", 1));
  DRIFTSCOPE_TRY(layout.block, required_int(node, "block_size", 1));
  DRIFTSCOPE_TRY(const std::int64_t type, required_int(node, "quant_type", 0));
  DRIFTSCOPE_TRY(const bool transposed, flag_attribute(node, "transB", true));
  if (type > 1)
    return bad_input(fmt::format("attribute quant_type: expected 0 (FP4) or 1 (NF4), got {}", type));
  if (!transposed) return unsupported("MatMulBnb4 with transB 0 is for training");
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (layout.depth > most || layout.columns > most)
    return limit_error(fmt::format("attributes K {} and N {}: more than {} are not supported", layout.depth,
                                   layout.columns, most));
  layout.normal = type == 1;
  return layout;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Layout layout, read_layout(context.node()));
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "A", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_dtype(context, 1, "B", {DType::uint8}));
  DRIFTSCOPE_CHECK(expect_kind(context, 2, "absmax", Kinds::floating));
  const std::int64_t weights = layout.depth * layout.columns;
  DRIFTSCOPE_CHECK(
      expect_elements(context, 1, "B", (weights + 1) / 2,
                      fmt::format("N {} × K {} numbers of 4 bits", layout.columns, layout.depth)));
  DRIFTSCOPE_CHECK(expect_elements(
      context, 2, "absmax", (weights - 1) / layout.block + 1,
      fmt::format("one for each {} of N {} × K {} numbers", layout.block, layout.columns, layout.depth)));
  TensorType y{context.input(0).dtype, context.input(0).shape};
  if (y.shape) {
    if (y.shape->empty() || !unify(y.shape->back(), known_dimension(layout.depth)))
      return bad_input(fmt::format("input 0 (A): expected {} as its last size (K), got shape {}",
                                   layout.depth, shape_text(*y.shape)));
    y.shape->back() = known_dimension(layout.columns);
  }
  return std::vector{std::move(y)};
}

struct MatMulBnb4 {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Layout layout, read_layout(context.node()));
    const auto bytes = context.tensor(1).template values<std::uint8_t>();
    const std::span<const S> scales = context.real(2);
    const auto& values = layout.normal ? nf4 : fp4;
    multiply_weights(context, layout.depth, layout.columns, !math::has_error(scales), std::nullopt,
                     [&](std::int64_t n, std::int64_t k) {
                       const std::int64_t at = n * layout.depth + k;
                       const unsigned byte = bytes[static_cast<std::size_t>(at / 2)];
                       const unsigned code = at % 2 == 0 ? byte >> 4 : byte & 15u;
                       return decoded_weight(math::exact<S>(static_cast<double>(values[code])),
                                             scales[static_cast<std::size_t>(at / layout.block)]);
                     });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MatMulBnb4>({.op_type = "MatMulBnb4",
                                      .domain = microsoft_domain,
                                      .inputs = {3, 3},
                                      .outputs = {1, 1},
                                      .infer = infer}));
}

}  // namespace driftscope::ops::matmul_bnb4
