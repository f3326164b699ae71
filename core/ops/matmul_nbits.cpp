// com.microsoft MatMulNBits: A [.., K] times weights of N × K numbers of 2, 4 or 8 bits in blocks along K,
// plus a bias. Weight (n, k) is (q − zero point) · scale of the block k / block_size, or g_idx[k]; q is
// unsigned, the zero point 2^(bits − 1) if not given.
//
// accuracy_level 4 lets a runtime round A to int8, block by block: its bound is not this one's; see the
// variant in core/verify/variants. The strict definition is that of weight_product.hpp, whatever the level.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/matmul_nbits.hpp"
#include "core/ops/shared/packed_bits.hpp"
#include "core/ops/shared/real_elements.hpp"
#include "core/ops/shared/weight_product.hpp"

namespace driftscope::ops::matmul_nbits {

using Layout = NBitsLayout;

constexpr std::array<std::string_view, 6> names = {"A", "B", "scales", "zero_points", "g_idx", "bias"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Layout layout, read_nbits_layout(context.node()));
  for (const std::size_t i : {0u, 2u, 5u})
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_dtype(context, 1, names[1], {DType::uint8}));
  DRIFTSCOPE_CHECK(
      expect_dtype(context, 3, names[3], {DType::uint8, DType::float32, DType::float16, DType::bfloat16}));
  DRIFTSCOPE_CHECK(expect_dtype(context, 4, names[4], {DType::int32}));
  const std::int64_t blocks = layout.blocks();
  if (layout.columns > (std::int64_t{1} << 40) / (blocks * layout.block_bytes()))
    return limit_error(
        fmt::format("attributes K {} and N {}: the weights are too large", layout.depth, layout.columns));
  DRIFTSCOPE_CHECK(expect_elements(
      context, 1, names[1], layout.columns * blocks * layout.block_bytes(),
      fmt::format("N {} × {} blocks of K {} × {} bytes for {} numbers of {} bits", layout.columns, blocks,
                  layout.depth, layout.block_bytes(), layout.block, layout.bits)));
  DRIFTSCOPE_CHECK(expect_elements(context, 2, names[2], layout.columns * blocks,
                                   fmt::format("N {} × {} blocks", layout.columns, blocks)));
  if (context.has_input(3) && context.input(3).dtype != DType::undefined) {
    const bool packed = context.input(3).dtype == DType::uint8;
    DRIFTSCOPE_CHECK(
        expect_elements(context, 3, names[3], layout.columns * (packed ? layout.zero_bytes() : blocks),
                        packed ? fmt::format("N {} × {} bytes for {} numbers of {} bits", layout.columns,
                                             layout.zero_bytes(), blocks, layout.bits)
                               : fmt::format("N {} × {} blocks", layout.columns, blocks)));
  }
  DRIFTSCOPE_CHECK(expect_shape(context, 5, names[5], {known_dimension(layout.columns)}));
  if (context.has_input(4) && context.input(4).shape) {
    // Padded to whole blocks by some exporters.
    const auto shape = concrete_shape(context.input(4).shape);
    if (shape && element_count(*shape) != layout.depth && element_count(*shape) != blocks * layout.block)
      return bad_input(fmt::format("input 4 (g_idx): expected {} elements (K), got {}", layout.depth,
                                   element_count(*shape)));
  }
  TensorType y{context.input(0).dtype, context.input(0).shape};
  if (y.shape) {
    if (y.shape->empty() || !unify(y.shape->back(), known_dimension(layout.depth)))
      return bad_input(fmt::format("input 0 (A): expected {} as its last size (K), got shape {}",
                                   layout.depth, shape_text(*y.shape)));
    y.shape->back() = known_dimension(layout.columns);
  }
  return std::vector{std::move(y)};
}

// Where a runtime sums a · q · scale and a · zero · scale apart: each is rounded at its own size.
template <class Zero>
void allow_separate_zero_points(const KernelContext<Bounded>& context, const Layout& layout, DType stored,
                                const Zero& zero) {
  const std::span<Bounded> y = context.real_output(0);
  const std::span<const Bounded> a = context.real(0);
  constexpr double roundings = 4.0;
  const double unit = roundings * current_error_model().unit_roundoff;
  const double storage =
      stored == DType::float32 ? 0.0 : 2.0 * error_model_for(current_error_model(), stored).unit_roundoff;
  context.parallel_for(layout.columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n)
      for (std::size_t row = 0; row < y.size() / static_cast<std::size_t>(layout.columns); ++row) {
        double size = 0.0;
        for (std::int64_t k = 0; k < layout.depth; ++k)
          size +=
              std::fabs(a[row * static_cast<std::size_t>(layout.depth) + static_cast<std::size_t>(k)].value) *
              zero(n, k);
        Bounded& to = y[row * static_cast<std::size_t>(layout.columns) + static_cast<std::size_t>(n)];
        if (!std::isfinite(size)) continue;
        const double more = unit * size + storage * std::fabs(to.value);
        to.worst += more;
        to.likely += more;
        to.systematic += more;
      }
  });
}

struct MatMulNBits {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Layout layout, read_nbits_layout(context.node()));
    DRIFTSCOPE_TRY(const auto groups,
                   nbits_groups(context.has_input(4) ? &context.tensor(4) : nullptr, layout));
    const PackedBits weights(context.tensor(1).template values<std::uint8_t>(), layout.bits);
    const RealElements<S> scales(context, 2);
    const bool exact_scales = context.exact(2) != nullptr || !math::has_error(context.real(2));
    const bool packed = context.has_input(3) && context.dtype(3) == DType::uint8;
    const bool given = context.has_input(3) && !packed;
    const std::span<const S> zeros = given ? context.real(3) : std::span<const S>();
    const PackedBits packed_zeros(
        packed ? context.tensor(3).template values<std::uint8_t>() : std::span<const std::uint8_t>(),
        layout.bits);
    const std::int64_t blocks = layout.blocks();
    const auto middle = static_cast<double>(std::int64_t{1} << (layout.bits - 1));
    const int block_bits = std::countr_zero(static_cast<std::uint64_t>(layout.block));
    const std::int64_t block_bytes = layout.block_bytes();
    const auto weight = [&](std::int64_t n, std::int64_t k) {
      const std::int64_t group = groups[static_cast<std::size_t>(k)];
      const auto at = static_cast<std::size_t>(n * blocks + group);
      const auto q = static_cast<double>(
          weights.at((n * blocks + (k >> block_bits)) * block_bytes, k & (layout.block - 1)));
      const S scale = scales[at];
      if (given) {
        const S zero = zeros[at];
        if constexpr (std::is_same_v<S, Bounded>)
          if (zero.worst == 0.0) return decoded_weight(Bounded(q - zero.value), scale);
        return decoded_weight(math::exact<S>(q) - zero, scale);
      }
      const double zero = packed ? packed_zeros.at(n * layout.zero_bytes(), group) : middle;
      return decoded_weight(math::exact<S>(q - zero), scale);
    };
    multiply_weights(context, layout.depth, layout.columns, exact_scales && !math::has_error(zeros), 5,
                     weight);
    if constexpr (std::is_same_v<S, Bounded>)
      // Zero points that are no integers are multiplied by the scale first.
      if (given || context.node().attribute(separate_zero_points) != nullptr) {
        DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), separate_zero_points, 1));
        const DType stored = dtype_from_onnx(number).value_or(DType::float32);
        allow_separate_zero_points(context, layout, is_floating(stored) ? stored : DType::float32,
                                   [&](std::int64_t n, std::int64_t k) {
                                     const std::int64_t group = groups[static_cast<std::size_t>(k)];
                                     const auto at = static_cast<std::size_t>(n * blocks + group);
                                     const double zero = given ? zeros[at].value
                                                         : packed
                                                             ? packed_zeros.at(n * layout.zero_bytes(), group)
                                                             : middle;
                                     return std::fabs(zero * S(scales[at]).value);
                                   });
      }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MatMulNBits>({.op_type = "MatMulNBits",
                                       .domain = microsoft_domain,
                                       .inputs = {3, 6},
                                       .outputs = {1, 1},
                                       .infer = infer}));
}

}  // namespace driftscope::ops::matmul_nbits
