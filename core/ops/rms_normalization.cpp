// RMSNormalization, opset 23 and later, and ONNX Runtime's SimplifiedLayerNormalization, which its files keep
// in ONNX's domain: over all axes from `axis` on, Y = X / √(mean(X²) + ε) · scale; the latter on request also
// 1/√(mean(X²) + ε), in float32.
//
// Strict definition (float): the squares by sum_of_squares, divided by their number; then (X·inverse)·scale.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/moments.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::ops::rms_normalization {

Result<std::size_t> first_axis(const Node& node, std::size_t rank) {
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  return *axis;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "scale", Kinds::floating));
  // The output has the type of scale (V), as both definitions say.
  const DType dtype =
      context.input(1).dtype == DType::undefined ? context.input(0).dtype : context.input(1).dtype;
  TensorType statistics{context.input(0).dtype == DType::float64 ? DType::float64 : DType::float32, {}};
  if (const auto& x = context.input(0).shape) {
    DRIFTSCOPE_TRY(const std::size_t axis, first_axis(context.node(), x->size()));
    if (const auto& scale = context.input(1).shape) {
      const auto both = broadcast(*scale, *x);
      bool fits = both.ok() && both->size() == x->size();
      for (std::size_t k = 0; fits && k < x->size(); ++k) fits = unify((*both)[k], (*x)[k]).has_value();
      if (!fits)
        return bad_input(
            fmt::format("input 1 (scale): shape {} cannot be broadcast to that of input 0 (X: {})",
                        shape_text(*scale), shape_text(*x)));
    }
    statistics.shape = *x;
    for (std::size_t i = axis; i < x->size(); ++i) (*statistics.shape)[i] = known_dimension(1);
  }
  std::vector<TensorType> outputs = {TensorType{dtype, context.input(0).shape}, statistics};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

struct RmsNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& shape = context.shape(0);
    DRIFTSCOPE_TRY(const std::size_t axis, first_axis(context.node(), shape.size()));
    DRIFTSCOPE_TRY(const float given_epsilon, float_attribute(context.node(), "epsilon", 1e-5f));
    const S epsilon = math::given<S>(given_epsilon);
    const std::int64_t size = element_count(std::span(shape).subspan(axis));
    const std::span<const S> x = context.real(0);
    if (x.empty()) return {};
    const std::span<const S> scale = context.real(1);
    const std::array<Shape, 1> strides = {broadcast_strides(context.shape(1), shape)};
    const auto count = static_cast<std::size_t>(size);
    context.parallel_for(
        static_cast<std::int64_t>(x.size()) / size, lane_grain(size),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::span<const S> lane = x.subspan(static_cast<std::size_t>(row * size), count);
            S squares = sum_of_squares(lane, true) / math::exact<S>(static_cast<double>(size));
            // Some multiply by the rounded 1/n.
            if constexpr (std::is_same_v<S, Bounded>) squares = math::round_more(squares, 1);
            const S inverse = inverse_deviation(squares, epsilon);
            if (context.wants_output(1)) context.real_output(1)[static_cast<std::size_t>(row)] = inverse;
            if (!context.wants_output(0)) continue;
            for (std::size_t i = 0; i < count; ++i) {
              const std::int64_t at = row * size + static_cast<std::int64_t>(i);
              const S factor = scale[static_cast<std::size_t>(offsets_at(at, shape, strides)[0])];
              S y = (lane[i] * inverse) * factor;
              // … or divide by the root, or scale first.
              if constexpr (std::is_same_v<S, Bounded>) y = math::round_more(y, 1);
              context.real_output(0)[static_cast<std::size_t>(at)] = y;
            }
          }
        });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<RmsNormalization>(
      {.op_type = "RMSNormalization", .since = 23, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
  table.add(with_kernels<RmsNormalization>(
      {.op_type = "SimplifiedLayerNormalization", .inputs = {2, 2}, .outputs = {1, 2}, .infer = infer}));
}

}  // namespace driftscope::ops::rms_normalization
