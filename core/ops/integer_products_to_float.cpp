// com.microsoft DynamicQuantizeMatMul (A quantized to uint8 by DynamicQuantizeLinear), MatMulIntegerToFloat
// and QGemm: the product of 8-bit integers less their zero points (MatMulInteger), times the scales; then a
// bias, or for QGemm an int32 term before and a quantized output.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/inferred_parts.hpp"
#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::integer_products_to_float {

/// numbers · (scale of A · scale of B), in float32.
template <class S>
Result<const Evaluated<S>*> scaled(Composition<S>& parts, const Evaluated<S>* sums,
                                   const Evaluated<S>* a_scale, const Evaluated<S>* b_scale) {
  const auto type = static_cast<std::int64_t>(a_scale->dtype);
  DRIFTSCOPE_TRY(const auto numbers, parts.one("Cast", {sums}, {{"to", type}}));
  DRIFTSCOPE_TRY(const auto scale, parts.one("Mul", {a_scale, b_scale}));
  return parts.one("Mul", {numbers, scale});
}

/// One number, or one for each column of B.
Status expect_per_column(const InferContext& context, std::size_t i, std::string_view name,
                         const Dimension& columns) {
  if (!context.has_input(i) || !context.input(i).shape) return {};
  const SymbolicShape& shape = *context.input(i).shape;
  if (shape.empty() || (shape.size() == 1 && shape[0].size == 1)) return {};
  // ONNX Runtime's quantizer may leave axes of 1 before, and a batch's.
  if (shape.size() == 1 && unify(shape[0], columns)) return {};
  if (shape.size() > 1 && unify(shape.back(), columns)) return {};
  return bad_input(fmt::format("{}: expected one number or one for each of the {} columns of B, got shape {}",
                               input_label(i, name), columns.known() ? fmt::to_string(columns.size) : "?",
                               shape_text(shape)));
}

struct DynamicQuantizeMatMul {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_CHECK(expect_dtype(context, 0, "A", {DType::float32}));
    DRIFTSCOPE_CHECK(expect_bytes(context, 1, "B"));
    DRIFTSCOPE_CHECK(expect_dtype(context, 2, "b_scale", {DType::float32}));
    DRIFTSCOPE_CHECK(expect_bytes(context, 3, "b_zero_point"));
    DRIFTSCOPE_CHECK(expect_dtype(context, 4, "bias", {DType::float32}));
    const auto& b = context.input(1).shape;
    const Dimension columns = b && b->size() > 1 ? b->back() : Dimension{};
    DRIFTSCOPE_CHECK(expect_per_column(context, 2, "b_scale", columns));
    DRIFTSCOPE_CHECK(expect_per_column(context, 3, "b_zero_point", columns));
    if (b && b->size() > 1) DRIFTSCOPE_CHECK(expect_shape(context, 4, "bias", {columns}));
    DRIFTSCOPE_TRY(auto outputs,
                   infer_part(context, "MatMulInteger",
                              {TensorType{DType::uint8, context.input(0).shape}, context.input(1)}));
    outputs[0].dtype = DType::float32;
    return outputs;
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const auto a, parts.all("DynamicQuantizeLinear", {parts.input(0)}, {}, 3));
    DRIFTSCOPE_TRY(const auto sums, parts.one("MatMulInteger", {a[0], parts.input(1), a[2], parts.input(3)}));
    DRIFTSCOPE_TRY(const Evaluated<S>* y, scaled(parts, sums, a[1], parts.input(2)));
    if (context.has_input(4)) {
      DRIFTSCOPE_TRY(y, parts.one("Add", {y, parts.input(4)}));
    }
    return parts.give(0, y);
  }
};

struct MatMulIntegerToFloat {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    for (const std::size_t i : {0u, 1u, 4u, 5u})
      DRIFTSCOPE_CHECK(
          expect_bytes(context, i, std::array{"A", "B", "", "", "a_zero_point", "b_zero_point"}[i]));
    for (const std::size_t i : {2u, 3u, 6u})
      DRIFTSCOPE_CHECK(expect_kind(context, i, std::array{"", "", "a_scale", "b_scale", "", "", "bias"}[i],
                                   Kinds::floating));
    const auto& b = context.input(1).shape;
    const Dimension columns = b && b->size() > 1 ? b->back() : Dimension{};
    DRIFTSCOPE_CHECK(expect_per_column(context, 3, "b_scale", columns));
    DRIFTSCOPE_CHECK(expect_per_column(context, 5, "b_zero_point", columns));
    if (b && b->size() > 1) DRIFTSCOPE_CHECK(expect_shape(context, 6, "bias", {columns}));
    DRIFTSCOPE_TRY(auto outputs, infer_part(context, "MatMulInteger", {context.input(0), context.input(1)}));
    outputs[0].dtype = context.input(2).dtype;
    return outputs;
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const auto sums, parts.one("MatMulInteger", {parts.input(0), parts.input(1),
                                                                parts.input(4), parts.input(5)}));
    DRIFTSCOPE_TRY(const Evaluated<S>* y, scaled(parts, sums, parts.input(2), parts.input(3)));
    if (context.has_input(6)) {
      DRIFTSCOPE_TRY(y, parts.one("Add", {y, parts.input(6)}));
    }
    return parts.give(0, y);
  }
};

struct QGemm {
  static constexpr std::array<std::string_view, 9> names = {
      "A", "a_scale", "a_zero_point", "B", "b_scale", "b_zero_point", "C", "y_scale", "y_zero_point"};

  static TensorType turned(const InferContext& context, std::size_t i, bool transposed) {
    TensorType type = context.input(i);
    if (transposed && type.shape && type.shape->size() == 2) std::swap((*type.shape)[0], (*type.shape)[1]);
    return type;
  }

  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    for (const std::size_t i : {0u, 2u, 3u, 5u, 8u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
    for (const std::size_t i : {1u, 4u, 7u})
      DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::float32}));
    DRIFTSCOPE_CHECK(expect_dtype(context, 6, names[6], {DType::int32}));
    if (context.has_input(7) != context.has_input(8))
      return bad_input("inputs 7 (y_scale) and 8 (y_zero_point): one is given without the other");
    DRIFTSCOPE_CHECK(expect_rank(context, 0, "A", 2, 2));
    DRIFTSCOPE_CHECK(expect_rank(context, 3, "B", 2, 2));
    for (const std::size_t i : {1u, 2u, 7u, 8u}) DRIFTSCOPE_CHECK(check_one(context, i, names[i]));
    DRIFTSCOPE_TRY(const std::int64_t trans_a, int_attribute(context.node(), "transA", 0));
    DRIFTSCOPE_TRY(const std::int64_t trans_b, int_attribute(context.node(), "transB", 0));
    DRIFTSCOPE_TRY([[maybe_unused]] const float alpha, float_attribute(context.node(), "alpha", 1.0f));
    const TensorType b = turned(context, 3, trans_b != 0);
    const Dimension columns = b.shape ? (*b.shape)[1] : Dimension{};
    DRIFTSCOPE_CHECK(expect_per_column(context, 4, names[4], columns));
    DRIFTSCOPE_CHECK(expect_per_column(context, 5, names[5], columns));
    DRIFTSCOPE_TRY(auto outputs, infer_part(context, "MatMulInteger", {turned(context, 0, trans_a != 0), b}));
    if (context.has_input(6) && context.input(6).shape && outputs[0].shape) {
      const auto both = broadcast(*context.input(6).shape, *outputs[0].shape);
      bool fits = both.ok() && both->size() == 2;
      for (std::size_t i = 0; fits && i < 2; ++i)
        fits = unify((*both)[i], (*outputs[0].shape)[i]).has_value();
      if (!fits)
        return bad_input(fmt::format("input 6 (C): shape {} cannot be broadcast to {}",
                                     shape_text(*context.input(6).shape), shape_text(*outputs[0].shape)));
    }
    outputs[0].dtype = context.has_input(8) ? context.input(8).dtype : DType::float32;
    return outputs;
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const std::int64_t trans_a, int_attribute(context.node(), "transA", 0));
    DRIFTSCOPE_TRY(const std::int64_t trans_b, int_attribute(context.node(), "transB", 0));
    DRIFTSCOPE_TRY(const float alpha, float_attribute(context.node(), "alpha", 1.0f));
    const auto factor = [&](std::size_t i, bool transposed) -> Result<const Evaluated<S>*> {
      if (!transposed) return parts.input(i);
      return parts.one("Transpose", {parts.input(i)}, {{"perm", Ints{1, 0}}});
    };
    DRIFTSCOPE_TRY(const auto a, factor(0, trans_a != 0));
    DRIFTSCOPE_TRY(const auto b, factor(3, trans_b != 0));
    DRIFTSCOPE_TRY(const Evaluated<S>* sums,
                   parts.one("MatMulInteger", {a, b, parts.input(2), parts.input(5)}));
    if (context.has_input(6)) {
      DRIFTSCOPE_TRY(sums, parts.one("Add", {sums, parts.input(6)}));
    }
    const Evaluated<S>* a_scale = parts.input(1);
    if (alpha != 1.0f) {
      DRIFTSCOPE_TRY(a_scale,
                     parts.one("Mul", {a_scale, parts.number(DType::float32, math::given<S>(alpha))}));
    }
    DRIFTSCOPE_TRY(const Evaluated<S>* y, scaled(parts, sums, a_scale, parts.input(4)));
    if (context.has_input(7)) {
      DRIFTSCOPE_TRY(y, parts.one("QuantizeLinear", {y, parts.input(7), parts.input(8)}));
    }
    return parts.give(0, y);
  }
};

void add_to(OperatorTable& table) {
  add_composed<DynamicQuantizeMatMul>(table, "DynamicQuantizeMatMul", {3, 5});
  add_composed<MatMulIntegerToFloat>(table, "MatMulIntegerToFloat", {4, 7});
  add_composed<QGemm>(table, "QGemm", {6, 9});
}

}  // namespace driftscope::ops::integer_products_to_float
