#include <algorithm>

#include "core/gradient/window_gradient.hpp"

#include <fmt/format.h>

namespace driftscope {

Result<std::vector<WindowAxis>> window_axes(NodeGradient& at, const Ints& kernel) {
  DRIFTSCOPE_TRY(const WindowAttributes attributes, read_window(at.node(), kernel));
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), 2 + i));
    DRIFTSCOPE_TRY(const WindowAxis axis, place_window(attributes, i, size));
    axes.push_back(axis);
  }
  return axes;
}

std::string scatter_windows(NodeGradient& at, const std::string& dy, const std::string& weights,
                            const std::vector<WindowAxis>& axes, std::int64_t groups) {
  Ints kernel, strides, dilations, begins, ends, extra;
  for (const WindowAxis& axis : axes) {
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    const std::int64_t last = axis.at(axis.output - 1, axis.kernel - 1) + 1;  // reached in the input
    begins.push_back(axis.pad_begin);
    // What lies behind the last window is extra; where the last window ends in the padding, it is cropped.
    ends.push_back(std::max<std::int64_t>(0, last - axis.input));
    extra.push_back(std::max<std::int64_t>(0, axis.input - last));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  // More than a stride behind the last window (a wide pad at the beginning) is not an output_padding.
  Ints behind(2 * (axes.size() + 2), 0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (extra[i] >= axes[i].stride) std::swap(behind[axes.size() + 4 + i], extra[i]);
  const std::string scattered = at.emit().node("ConvTranspose", {dy, weights},
                                               {{"kernel_shape", kernel},
                                                {"strides", strides},
                                                {"dilations", dilations},
                                                {"pads", begins},
                                                {"output_padding", extra},
                                                {"group", groups}});
  return at.emit().pad(scattered, behind, 0.0, at.dtype());
}

Result<Ints> weight_kernel(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(1)));
  Ints kernel;
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(1), i));
    kernel.push_back(size);
  }
  return kernel;
}

}  // namespace driftscope
