// Conv: dX is ConvTranspose with the same weights; dW is a Conv whose batch are the channels, whose weights
// are dY, and whose strides and dilations change places; dB sums dY.
#include <algorithm>

#include "core/gradient/window_gradient.hpp"

namespace driftscope {
namespace gradient_conv {
namespace {

Ints batch_and_space(std::size_t rank) {
  Ints axes = {0};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

Ints swapped(std::size_t rank) {
  Ints order = {1, 0};
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

// x [N, G·C, …] as [C, G·N, …]: the samples become channels, group by group.
Result<std::string> samples_as_channels(NodeGradient& at, const std::string& x, const SymbolicShape& sizes,
                                        std::int64_t groups) {
  GradientEmitter& emit = at.emit();
  if (groups == 1) return emit.transpose(x, swapped(sizes.size()));
  Ints parts = {sizes[0].size, groups, sizes[1].size / groups};
  Ints joined = {sizes[1].size / groups, -1};
  Ints order = {2, 1, 0};
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    parts.push_back(sizes[i].size);
    joined.push_back(sizes[i].size);
    order.push_back(static_cast<std::int64_t>(i) + 1);
  }
  DRIFTSCOPE_TRY(const Ints split, at.reshape_sizes(parts));
  return emit.reshape(emit.transpose(emit.reshape(x, split), order), joined);
}

// Of weights [M, C/G, …] from x [N, C, …] and dy [N, M, …].
Result<std::string> weight_gradient(NodeGradient& at, const std::string& x, const SymbolicShape& x_sizes,
                                    const std::string& dy, const std::vector<WindowAxis>& axes,
                                    std::int64_t groups) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::string samples, samples_as_channels(at, x, x_sizes, groups));
  const std::size_t rank = x_sizes.size();
  Ints strides, dilations, begins, ends, starts, stops, crop;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    strides.push_back(axes[i].dilation);
    dilations.push_back(axes[i].stride);
    begins.push_back(axes[i].pad_begin);
    ends.push_back(axes[i].pad_end);
    starts.push_back(0);
    stops.push_back(axes[i].kernel);
    crop.push_back(static_cast<std::int64_t>(i) + 2);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  const std::string product =
      emit.node("Conv", {samples, emit.transpose(dy, swapped(rank))},
                {{"strides", strides}, {"dilations", dilations}, {"pads", begins}, {"group", groups}});
  return emit.transpose(emit.slice(product, starts, stops, crop), swapped(rank));
}

Status conv(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Ints kernel, weight_kernel(at));
  DRIFTSCOPE_TRY(const std::int64_t groups, int_attribute(at.node(), "group", 1));
  DRIFTSCOPE_TRY(const auto axes, window_axes(at, kernel));
  if (at.wanted(0)) at.add(0, scatter_windows(at, at.dy(), at.x(1), axes, groups));
  if (at.wanted(1)) {
    DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
    DRIFTSCOPE_TRY(const std::string weights, weight_gradient(at, at.x(0), sizes, at.dy(), axes, groups));
    at.add(1, weights);
  }
  if (at.wanted(2))
    at.add(2, at.emit().reduce("ReduceSum", at.dy(), batch_and_space(kernel.size() + 2), false));
  return {};
}

// The windows of the Conv that takes its output to its input.
Result<std::vector<WindowAxis>> backward_axes(NodeGradient& at, const Ints& kernel) {
  const std::size_t n = kernel.size();
  DRIFTSCOPE_TRY(const Ints strides, ints_attribute(at.node(), "strides", Ints(n, 1)));
  DRIFTSCOPE_TRY(const Ints dilations, ints_attribute(at.node(), "dilations", Ints(n, 1)));
  DRIFTSCOPE_TRY(const Ints pads, ints_attribute(at.node(), "pads", Ints(2 * n, 0)));
  DRIFTSCOPE_TRY(const std::string auto_pad, string_attribute(at.node(), "auto_pad", "NOTSET"));
  DRIFTSCOPE_TRY(const Ints given, ints_attribute(at.node(), "output_shape", {}));
  DRIFTSCOPE_TRY(const Ints extra, ints_attribute(at.node(), "output_padding", Ints(n, 0)));
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < n; ++i) {
    WindowAxis axis{.kernel = kernel[i], .stride = strides[i], .dilation = dilations[i]};
    DRIFTSCOPE_TRY(axis.output, at.size(at.input(0), 2 + i));
    DRIFTSCOPE_TRY(axis.input, at.size(at.output(), 2 + i));
    const std::int64_t full = (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    axis.pad_begin = pads[i];
    if (!given.empty() || auto_pad.starts_with("SAME")) {
      const std::int64_t both = full + extra[i] - axis.input;
      if (both < 0) return at.unsupported_form("of an output_shape that is wider than its windows");
      axis.pad_begin = auto_pad == "SAME_UPPER" ? both / 2 : both - both / 2;
    } else if (auto_pad == "VALID") {
      axis.pad_begin = 0;
    }
    axis.pad_end = full - axis.pad_begin - axis.input;
    axes.push_back(axis);
  }
  return axes;
}

Status conv_transpose(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Ints kernel, weight_kernel(at));
  DRIFTSCOPE_TRY(const std::int64_t groups, int_attribute(at.node(), "group", 1));
  DRIFTSCOPE_TRY(const auto axes, backward_axes(at, kernel));
  std::string dy = at.dy();
  // An end that is wider than the windows reaches is not read by them.
  Ints begins, ends, strides, dilations, cut(axes.size(), 0), stops, spatial;
  bool cropped = false;
  std::vector<WindowAxis> read = axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    begins.push_back(axes[i].pad_begin);
    ends.push_back(std::max<std::int64_t>(0, axes[i].pad_end));
    read[i].pad_end = ends.back();
    strides.push_back(axes[i].stride);
    dilations.push_back(axes[i].dilation);
    stops.push_back(axes[i].input + std::min<std::int64_t>(0, axes[i].pad_end));
    spatial.push_back(static_cast<std::int64_t>(i) + 2);
    cropped = cropped || axes[i].pad_end < 0;
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  if (cropped) dy = emit.slice(dy, cut, stops, spatial);
  if (at.wanted(0))
    at.add(0, emit.node("Conv", {dy, at.x(1)},
                        {{"kernel_shape", kernel},
                         {"strides", strides},
                         {"dilations", dilations},
                         {"pads", begins},
                         {"group", groups}}));
  if (at.wanted(1)) {
    DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.output()));
    DRIFTSCOPE_TRY(SymbolicShape seen, at.sizes(at.output()));
    for (std::size_t i = 0; i < axes.size(); ++i) seen[2 + i].size = stops[i];
    DRIFTSCOPE_TRY(const std::string weights, weight_gradient(at, dy, seen, at.x(0), read, groups));
    at.add(1, weights);
  }
  if (at.wanted(2)) at.add(2, emit.reduce("ReduceSum", at.dy(), batch_and_space(kernel.size() + 2), false));
  return {};
}

}  // namespace
}  // namespace gradient_conv

namespace gradient_rules::conv {

void add_to(GradientRuleTable& table) {
  table.add("Conv", gradient_conv::conv);
  table.add("ConvTranspose", gradient_conv::conv_transpose);
}

}  // namespace gradient_rules::conv

}  // namespace driftscope
