// Clip, opset 6 to 21: min(max(x, low), high), so high wins where low > high. The limits are
// attributes (opset 6 to 10) or optional inputs (from 11); without one, the smallest and the largest
// finite number of the type. NaN stays NaN.
#include <fmt/format.h>

#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::clip {

constexpr std::array<std::string_view, 3> names = {"input", "min", "max"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  if (context.opset() < 11 && context.input_count() > 1)
    return bad_input(fmt::format("expected 1 input, got {}: limits are attributes before opset 11",
                                 context.input_count()));
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!context.has_input(i) || !context.input(i).shape) continue;
    // The specification says scalar; exporters also write one-element vectors.
    DRIFTSCOPE_TRY(const Dimension count, multiply(*context.input(i).shape));
    if (count.known() && count.size != 1)
      return bad_input(fmt::format("{}: expected a scalar, got shape {}", input_label(i, names[i]),
                                   shape_text(*context.input(i).shape)));
  }
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

template <class T>
T clip(T x, T low, T high) {
  return math::min(math::max(x, low), high);
}

struct Clip {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const DType dtype = context.dtype(0);
    if (is_floating(dtype)) {
      const double end = math::largest(dtype);
      S low = math::exact<S>(-end);
      S high = math::exact<S>(end);
      if (context.opset() < 11) {
        DRIFTSCOPE_TRY(const float min,
                       float_attribute(context.node(), "min", std::numeric_limits<float>::lowest()));
        DRIFTSCOPE_TRY(const float max,
                       float_attribute(context.node(), "max", std::numeric_limits<float>::max()));
        low = math::given<S>(min);
        high = math::given<S>(max);
      }
      if (context.has_input(1)) low = context.real(1)[0];
      if (context.has_input(2)) high = context.real(2)[0];
      map_elements(context, context.real(0), context.real_output(0), [&](S x) { return clip(x, low, high); });
      return {};
    }
    context.with_integer(dtype, [&]<class T>() {
      T low = std::numeric_limits<T>::lowest();
      T high = std::numeric_limits<T>::max();
      if (context.has_input(1)) low = context.tensor(1).template values<T>()[0];
      if (context.has_input(2)) high = context.tensor(2).template values<T>()[0];
      map_elements(context, context.tensor(0).template values<T>(),
                   context.tensor_output(0).template mutable_values<T>(),
                   [&](T x) { return clip(x, low, high); });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Clip>({.op_type = "Clip",
                                .since = 6,
                                .inputs = {1, 3},
                                .outputs = {1, 1},
                                .infer = infer,
                                .exact_copy = true}));
}

}  // namespace driftscope::ops::clip
