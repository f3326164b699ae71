// Conv, opset 1 to 21: any number of spatial axes, groups, dilations, strides, auto_pad.
//
// Strict definition (float): each output is one accumulator that starts at B (at +0 without B) and
// adds w·x in the order of W's memory: channel, then kernel row, then kernel column. Taps in the
// padding are left out. A SIMD kernel that multiplies a padded 0 instead must still give these
// bits: adding +0 or −0 alters only an accumulator of −0, and 0·w alters more where w is infinite
// or NaN.
#include <algorithm>
#include <cmath>

#include "core/ops/shared/convolution.hpp"
#include "core/ops/shared/exact_convolution.hpp"

namespace driftscope::ops::conv {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  constexpr ConvolutionInputs inputs;
  for (std::size_t i = 0; i < inputs.names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, inputs.names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, inputs.names));
  DRIFTSCOPE_TRY(auto shape, infer_convolution(context, inputs));
  return std::vector{TensorType{dtype, std::move(shape)}};
}

/// Whether none is infinite or NaN; only asked of numbers with bounds, whose verdict depends on it.
template <class S>
bool finite_values(std::span<const S> values) {
  if constexpr (std::is_same_v<S, Bounded>)
    return std::ranges::all_of(values, [](const Bounded& x) { return std::isfinite(x.value); });
  else
    return true;
}

struct Conv {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& w_shape = context.shape(1);
    DRIFTSCOPE_TRY(const WindowAttributes window,
                   read_window(context.node(), Ints(w_shape.begin() + 2, w_shape.end())));
    DRIFTSCOPE_TRY(std::vector<WindowAxis> axes, place_windows(window, std::span(x_shape).subspan(2)));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const ConvolutionLayout layout(std::move(axes), x_shape, w_shape, group);
    const std::span<const S> bias = context.has_input(2) ? context.real(2) : std::span<const S>();

    // Fewer channels would leave the rows of the product empty (depthwise).
    bool done = false;
    if (layout.group_outputs >= exact_rows)
      with_equal_exact_factors(context, 0, 1, [&](auto x, auto w) {
        if (!all_finite(w)) return;  // a padded 0 times infinity is not 0
        if constexpr (!std::is_same_v<S, float>)
          convolve_exactly(context, layout, x_shape[0], group, x, w, bias, y);
        done = true;
      });
    if (done) return {};

    // Multiplying the padding's zeros by a weight that is not finite gives NaN, skipping them does not.
    const std::int64_t every_tap = layout.channels * layout.w_plane;
    const bool padding_matters = !finite_values(context.real(1));
    with_dot_elements<S>(context.real(0), context.real(1), [&]<class Sums>(const auto* x, const auto* w) {
      convolve_rows<Sums>(context, layout, x_shape[0], x, w, bias, y,
                          [&](auto& sums, std::int64_t o, std::int64_t products) {
                            if (padding_matters && products < every_tap)
                              current_error_model().note_overflow(Overflow::possible);
                            return sums.result(o, products);
                          });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Conv>({.op_type = "Conv", .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::conv
