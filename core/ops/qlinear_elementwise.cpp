// com.microsoft QLinearAdd and QLinearMul: y = round((a · b or a + b) / C_scale) + C_zero_point, saturated,
// where a is (A − A_zero_point) · A_scale and b likewise, broadcast; ties to even.
//
// Strict definition (float): a and b as DequantizeLinear has them, one operation, a division.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/integer_products.hpp"
#include "core/ops/shared/quantization.hpp"

namespace driftscope::ops::qlinear_elementwise {

constexpr std::array<std::string_view, 8> names = {"A",       "A_scale",      "A_zero_point", "B",
                                                   "B_scale", "B_zero_point", "C_scale",      "C_zero_point"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_given(context, {0, 1, 3, 4, 6}, names));
  for (const std::size_t i : {0u, 2u, 3u, 5u, 7u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  for (const std::size_t i : {1u, 4u, 6u})
    DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::float32}));
  for (const std::size_t i : {1u, 2u, 4u, 5u, 6u, 7u}) DRIFTSCOPE_CHECK(check_one(context, i, names[i]));
  const DType dtype = context.input(0).dtype;
  for (const std::size_t i : {2u, 3u, 5u, 7u})
    if (context.has_input(i) && dtype != DType::undefined && context.input(i).dtype != DType::undefined &&
        context.input(i).dtype != dtype)
      return bad_input(fmt::format("{}: expected {} as input 0 (A) has, got {}", input_label(i, names[i]),
                                   dtype_name(dtype), dtype_name(context.input(i).dtype)));
  std::optional<SymbolicShape> shape;
  if (context.input(0).shape && context.input(3).shape) {
    DRIFTSCOPE_TRY(shape, broadcast(*context.input(0).shape, *context.input(3).shape));
  }
  return std::vector{TensorType{dtype, std::move(shape)}};
}

/// One of the two, element by element.
template <class S>
class Operand8 {
 public:
  Operand8(const KernelContext<S>& context, std::size_t first)
      : steps_(quantized_values(context.tensor(first))), scale_(context.real(first + 1)[0]) {
    if (context.has_input(first + 2)) zero_ = quantized_values(context.tensor(first + 2))[0];
    if constexpr (std::is_same_v<S, Bounded>) {
      moved_ = context.real(first);
      if (context.has_input(first + 2) && !context.real(first + 2).empty())
        zero_moved_ = context.real(first + 2)[0];
    }
  }

  [[nodiscard]] S at(std::size_t i) const {
    S distance = math::exact<S>(static_cast<double>(steps_[i] - zero_));
    if constexpr (std::is_same_v<S, Bounded>) {
      const auto widen = [&](const Bounded& by) {
        distance.worst += by.worst;
        distance.likely += by.likely;
        distance.systematic += by.systematic;
      };
      if (!moved_.empty()) widen(moved_[i]);
      widen(zero_moved_);
    }
    return distance * scale_;
  }
  /// The largest term of formulas that multiply by the scale before zero points are subtracted.
  [[nodiscard]] double largest_term(std::size_t i) const {
    return (std::fabs(static_cast<double>(steps_[i])) + std::fabs(static_cast<double>(zero_))) *
           std::fabs(math::to_double(scale_));
  }

 private:
  std::vector<std::int32_t> steps_;
  S scale_;
  std::int32_t zero_ = 0;
  std::span<const Bounded> moved_;
  Bounded zero_moved_;
};

template <bool multiplies>
struct Binary {
  template <class S>
  static Status run(KernelContext<S>& context) {
    Tensor& y = context.tensor_output(0);
    std::span<Bounded> bounds;
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(bounds, context.bounds_output(0));
    }
    if (y.elements() == 0) return {};
    const Operand8<S> a(context, 0);
    const Operand8<S> b(context, 3);
    const S scale = context.real(6)[0];
    std::int32_t zero = 0;
    Bounded shift;
    if (context.has_input(7)) {
      zero = quantized_values(context.tensor(7))[0];
      if constexpr (std::is_same_v<S, Bounded>)
        if (!context.real(7).empty()) shift = context.real(7)[0];
    }
    const IntegerRange range = *quantized_range(y.dtype());
    std::vector<std::int32_t> steps(static_cast<std::size_t>(y.elements()));
    const std::array<Shape, 2> shapes = {context.shape(0), context.shape(3)};
    for_broadcast_rows(context, context.output_shape(0), shapes, [&](const BroadcastRow& row) {
      for (std::int64_t i = 0; i < row.columns; ++i) {
        const auto from_a = static_cast<std::size_t>(row.offsets[0] + i * row.steps[0]);
        const auto from_b = static_cast<std::size_t>(row.offsets[1] + i * row.steps[1]);
        const auto to = static_cast<std::size_t>(row.output + i);
        S number = multiplies ? a.at(from_a) * b.at(from_b) : a.at(from_a) + b.at(from_b);
        number = quotient(number, scale);
        if constexpr (std::is_same_v<S, Bounded>) {
          number = math::round_more(number, 2);
          // ONNX Runtime's sum: A·ratio + B·ratio + a constant, which holds the zero points.
          const double terms = multiplies ? 0.0
                                          : 4.0 * current_error_model().unit_roundoff *
                                                (a.largest_term(from_a) + b.largest_term(from_b)) /
                                                std::fabs(scale.value);
          if (std::isfinite(terms)) {
            number.worst += terms;
            number.likely += terms;
            number.systematic += terms;
          }
        }
        steps[to] = quantized(number, zero, range, bounds.empty() ? nullptr : &bounds[to], shift);
      }
    });
    store_quantized(steps, y);
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Binary<false>>({.op_type = "QLinearAdd",
                                         .domain = microsoft_domain,
                                         .inputs = {1, 8},
                                         .outputs = {1, 1},
                                         .infer = infer}));
  table.add(with_kernels<Binary<true>>({.op_type = "QLinearMul",
                                        .domain = microsoft_domain,
                                        .inputs = {1, 8},
                                        .outputs = {1, 1},
                                        .infer = infer}));
}

}  // namespace driftscope::ops::qlinear_elementwise
