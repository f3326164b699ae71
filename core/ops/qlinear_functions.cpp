// com.microsoft QLinearSigmoid, QLinearLeakyRelu, QLinearAveragePool, QLinearGlobalAveragePool,
// QLinearSoftmax and QLinearConcat: DequantizeLinear, ONNX's operator of that name, QuantizeLinear.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/inferred_parts.hpp"
#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::qlinear_functions {

// X, its scale and zero point, Y's scale and zero point.
constexpr std::array<std::string_view, 5> names = {"X", "X_scale", "X_zero_point", "Y_scale", "Y_zero_point"};

Status check_five(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_given(context, {0, 1, 3}, names));
  for (const std::size_t i : {0u, 2u, 4u}) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  for (const std::size_t i : {1u, 3u}) DRIFTSCOPE_CHECK(expect_dtype(context, i, names[i], {DType::float32}));
  for (const std::size_t i : {1u, 2u, 3u, 4u}) DRIFTSCOPE_CHECK(check_one(context, i, names[i]));
  for (const std::size_t i : {2u, 4u})
    if (context.has_input(i) && context.input(0).dtype != DType::undefined &&
        context.input(i).dtype != DType::undefined && context.input(i).dtype != context.input(0).dtype)
      return bad_input(fmt::format("{}: expected {} as input 0 (X) has, got {}", input_label(i, names[i]),
                                   dtype_name(context.input(0).dtype), dtype_name(context.input(i).dtype)));
  return {};
}

template <class S>
Result<const Evaluated<S>*> dequantized(Composition<S>& parts, std::size_t x) {
  return parts.one("DequantizeLinear", {parts.input(x), parts.input(x + 1), parts.input(x + 2)});
}

/// In steps of the scale in input `scale`, with the zero point behind it, of the type `dtype`.
template <class S>
Result<const Evaluated<S>*> quantized_as(Composition<S>& parts, const Evaluated<S>* y, std::size_t scale,
                                         std::size_t zero_point, DType dtype) {
  const Evaluated<S>* zero = parts.input(zero_point);
  if (zero == nullptr) {
    DRIFTSCOPE_TRY(const Tensor none, Tensor::make(dtype, {}));
    zero = parts.keep(known<S>(none));
  }
  return parts.one("QuantizeLinear", {y, parts.input(scale), zero});
}

// ---- of one tensor ----

template <class Row>
struct Function {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_CHECK(check_five(context));
    DRIFTSCOPE_TRY(auto outputs, Row::infer(context, TensorType{DType::float32, context.input(0).shape}));
    outputs[0].dtype = context.input(0).dtype;
    return outputs;
  }
  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const Evaluated<S>* x, dequantized(parts, 0));
    DRIFTSCOPE_TRY(const Evaluated<S>* y, Row::template apply<S>(parts, context.node(), x));
    DRIFTSCOPE_TRY(y, quantized_as(parts, y, 3, 4, context.dtype(0)));
    return parts.give(0, y);
  }
};

struct Sigmoid {
  static Result<std::vector<TensorType>> infer(const InferContext& context, TensorType x) {
    return infer_part(context, "Sigmoid", {std::move(x)});
  }
  template <class S>
  static Result<const Evaluated<S>*> apply(Composition<S>& parts, const Node&, const Evaluated<S>* x) {
    return parts.one("Sigmoid", {x});
  }
};

struct LeakyRelu {
  static Result<std::vector<TensorType>> infer(const InferContext& context, TensorType x) {
    DRIFTSCOPE_TRY([[maybe_unused]] const float alpha, float_attribute(context.node(), "alpha", 0.01f));
    return infer_part(context, "LeakyRelu", {std::move(x)});
  }
  template <class S>
  static Result<const Evaluated<S>*> apply(Composition<S>& parts, const Node& node, const Evaluated<S>* x) {
    DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 0.01f));
    return parts.one("LeakyRelu", {x}, {{"alpha", alpha}});
  }
};

// Softmax's axis as its own opset has it: `opset` is an attribute here.
struct Softmax {
  static Result<std::pair<std::int64_t, std::int64_t>> read(const Node& node) {
    DRIFTSCOPE_TRY(const std::int64_t opset, required_int(node, "opset", 1));
    DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(node, "axis", opset < 13 ? 1 : -1));
    return std::pair(std::clamp<std::int64_t>(opset, 7, 21), axis);
  }
  static Result<std::vector<TensorType>> infer(const InferContext& context, TensorType x) {
    DRIFTSCOPE_TRY(const auto read_attributes, read(context.node()));
    return infer_part(context, "Softmax", {std::move(x)}, {{"axis", read_attributes.second}});
  }
  template <class S>
  static Result<const Evaluated<S>*> apply(Composition<S>& parts, const Node& node, const Evaluated<S>* x) {
    DRIFTSCOPE_TRY(const auto read_attributes, read(node));
    DRIFTSCOPE_TRY(const Evaluated<S>* y,
                   parts.one("Softmax", {x}, {{"axis", read_attributes.second}}, read_attributes.first));
    if constexpr (std::is_same_v<S, Bounded>) {
      // ONNX Runtime adds powers that are rounded to integers: of 255 steps below the largest, with a largest
      // power of 2²³ or of 2³² ÷ the number of terms, whichever is less.
      Evaluated<S> widened{y->dtype, y->shape, parts.elements(y), {}};
      for (Bounded& one : widened.real) {
        const double more = 0x1p-22 * (1.0 + std::fabs(one.value));
        one.worst += more;
        one.likely += more;
        one.systematic += more;
      }
      y = parts.keep(std::move(widened));
    }
    return y;
  }
};

// ---- pools, also with channels last ----

Ints channels_first(std::size_t rank) {
  Ints order = {0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  return order;
}
Ints channels_last(std::size_t rank) {
  Ints order = {0};
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  order.push_back(1);
  return order;
}

SymbolicShape permuted(const SymbolicShape& shape, const Ints& order) {
  SymbolicShape result;
  for (const std::int64_t axis : order) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

template <bool global>
struct Pool {
  static constexpr std::string_view op_type = global ? "GlobalAveragePool" : "AveragePool";

  static std::vector<Attribute> attributes(const Node& node) {
    if (global) return {};
    return node.attributes.items();
  }
  static Result<std::vector<TensorType>> infer(const InferContext& context, TensorType x) {
    DRIFTSCOPE_TRY(const bool last, flag_attribute(context.node(), "channels_last", false));
    const bool turned = last && x.shape && x.shape->size() >= 3;
    if (turned) x.shape = permuted(*x.shape, channels_first(x.shape->size()));
    DRIFTSCOPE_TRY(auto outputs, infer_part(context, op_type, {std::move(x)}, attributes(context.node())));
    if (turned && outputs[0].shape)
      outputs[0].shape = permuted(*outputs[0].shape, channels_last(outputs[0].shape->size()));
    return outputs;
  }
  template <class S>
  static Result<const Evaluated<S>*> apply(Composition<S>& parts, const Node& node, const Evaluated<S>* x) {
    DRIFTSCOPE_TRY(const bool last, flag_attribute(node, "channels_last", false));
    const std::size_t rank = x->shape.size();
    if (last && rank >= 3) {
      DRIFTSCOPE_TRY(x, parts.one("Transpose", {x}, {{"perm", channels_first(rank)}}));
    }
    DRIFTSCOPE_TRY(const Evaluated<S>* y, parts.one(op_type, {x}, attributes(node)));
    if (last && rank >= 3) {
      DRIFTSCOPE_TRY(y, parts.one("Transpose", {y}, {{"perm", channels_last(rank)}}));
    }
    return y;
  }
};

// ---- Concat ----

// Y_scale, Y_zero_point, then for each part x, its scale and its zero point.
struct Concat {
  static Result<std::size_t> count(const Node& node) {
    if (node.inputs.size() < 5 || (node.inputs.size() - 2) % 3 != 0)
      return bad_input(
          fmt::format("expected Y_scale, Y_zero_point and three inputs for each tensor, got {} inputs",
                      node.inputs.size()));
    return (node.inputs.size() - 2) / 3;
  }

  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_TRY(const std::size_t parts, count(context.node()));
    DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(context.node(), "axis", 1));
    DRIFTSCOPE_CHECK(expect_bytes(context, 1, "Y_zero_point"));
    DRIFTSCOPE_CHECK(check_one(context, 0, "Y_scale"));
    std::vector<TensorType> types;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t at = 2 + 3 * i;
      for (std::size_t k = 0; k < 3; ++k)
        if (!context.has_input(at + k))
          return bad_input(fmt::format("input {}: it is required but omitted", at + k));
      DRIFTSCOPE_CHECK(expect_bytes(context, at, "tensor"));
      DRIFTSCOPE_CHECK(expect_dtype(context, at + 1, "scale", {DType::float32}));
      DRIFTSCOPE_CHECK(check_one(context, at + 1, "scale"));
      DRIFTSCOPE_CHECK(check_one(context, at + 2, "zero_point"));
      types.push_back(TensorType{DType::float32, context.input(at).shape});
    }
    DRIFTSCOPE_TRY(auto outputs, infer_part(context, "Concat", std::move(types), {{"axis", axis}}));
    outputs[0].dtype = context.input(1).dtype;
    return outputs;
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const std::size_t number, count(context.node()));
    DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(context.node(), "axis", 1));
    typename Composition<S>::Values all;
    for (std::size_t i = 0; i < number; ++i) {
      DRIFTSCOPE_TRY(const Evaluated<S>* x, dequantized(parts, 2 + 3 * i));
      DRIFTSCOPE_TRY(x, quantized_as(parts, x, 0, 1, context.dtype(1)));
      all.push_back(x);
    }
    DRIFTSCOPE_TRY(const Evaluated<S>* y, parts.one("Concat", std::move(all), {{"axis", axis}}));
    return parts.give(0, y);
  }
};

void add_to(OperatorTable& table) {
  add_composed<Function<Sigmoid>>(table, "QLinearSigmoid", {1, 5});
  add_composed<Function<LeakyRelu>>(table, "QLinearLeakyRelu", {1, 5});
  add_composed<Function<Softmax>>(table, "QLinearSoftmax", {1, 5});
  add_composed<Function<Pool<false>>>(table, "QLinearAveragePool", {1, 5});
  add_composed<Function<Pool<true>>>(table, "QLinearGlobalAveragePool", {1, 5});
  add_composed<Concat>(table, "QLinearConcat", {5, variadic});
}

}  // namespace driftscope::ops::qlinear_functions
