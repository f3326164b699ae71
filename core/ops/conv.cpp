// Conv, opset 1 to 21: any number of spatial axes, groups, dilations, strides, auto_pad.
//
// Strict definition (float): each output is one accumulator that starts at B (at +0 without B) and
// adds w·x in the order of W's memory: channel, then kernel row, then kernel column. Taps in the
// padding are left out. A SIMD kernel that multiplies a padded 0 instead must still give these
// bits: adding +0 or −0 alters only an accumulator of −0, and 0·w alters more where w is infinite
// or NaN.
#include "core/ops/support/convolution.hpp"
#include "core/ops/support/exact_convolution.hpp"

namespace driftscope::ops::conv {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  constexpr ConvolutionInputs inputs;
  for (std::size_t i = 0; i < inputs.names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, inputs.names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, inputs.names));
  DRIFTSCOPE_TRY(auto shape, infer_convolution(context, inputs));
  return std::vector{TensorType{dtype, std::move(shape)}};
}

struct Conv {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& w_shape = context.shape(1);
    DRIFTSCOPE_TRY(const WindowAttributes window,
                   read_window(context.node(), Ints(w_shape.begin() + 2, w_shape.end())));
    DRIFTSCOPE_TRY(std::vector<WindowAxis> axes,
                   place_windows(window, std::span(x_shape).subspan(2)));
    DRIFTSCOPE_TRY(const std::int64_t group, read_group(context.node()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const ConvolutionLayout layout(std::move(axes), x_shape, w_shape, group);
    const std::span<const S> bias = context.has_input(2) ? context.real(2) : std::span<const S>();

    // Fewer channels would leave the rows of the product empty (depthwise).
    bool done = false;
    if (layout.group_outputs >= exact_rows)
      with_exact_factors(context, 0, 1, [&](std::span<const double> x, auto w) {
        if (!all_finite(w)) return;  // a padded 0 times infinity is no 0
        if constexpr (!std::is_same_v<S, float>)
          convolve_exactly<S>(context, layout, x_shape[0], group, x, w, bias, y);
        done = true;
      });
    if (done) return {};

    with_dot_elements<S>(context.real(0), context.real(1), [&]<class Sums>(const auto* x,
                                                                           const auto* w) {
      const std::int64_t width = layout.last().output;
      const std::int64_t cost = width * layout.channels * layout.w_plane;
      context.parallel_for(
          x_shape[0] * layout.outputs * layout.rows, dot_grain(cost),
          [&](std::int64_t begin, std::int64_t end) {
            Sums sums(width);
            std::vector<RowTap> taps;
            for (std::int64_t item = begin; item < end; ++item) {
              const std::int64_t m = item / layout.rows % layout.outputs;
              const std::int64_t n = item / layout.rows / layout.outputs;
              const std::int64_t first_channel = m / layout.group_outputs * layout.channels;
              layout.row_taps(item % layout.rows, taps);
              sums.clear();
              if (!bias.empty())
                for (std::int64_t o = 0; o < width; ++o)
                  sums.start(o, bias[static_cast<std::size_t>(m)]);
              add_convolution_row(sums, layout, taps,
                      x + (n * layout.x_channels + first_channel) * layout.x_plane,
                      w + m * layout.channels * layout.w_plane);
              const std::int64_t products =
                  layout.channels * static_cast<std::int64_t>(taps.size());
              for (std::int64_t o = 0; o < width; ++o) {
                const WindowAxis& last = layout.last();
                y[static_cast<std::size_t>(item * width + o)] =
                    sums.result(o, products * (last.tap_end(o) - last.tap_begin(o)));
              }
            }
          });
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Conv>(
      {.op_type = "Conv", .inputs = {2, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::conv
