#include "core/ops/shared/transposed_window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope {
namespace {

Result<TransposedAxis> place(const WindowAttributes& window, const Ints& output_padding,
                             const Ints& output_shape, std::size_t axis, std::int64_t input) {
  TransposedAxis placed{input, window.kernel[axis], window.strides[axis], window.dilations[axis], 0, 0};
  const auto reached = checked_mul(placed.stride, std::max<std::int64_t>(0, input - 1));
  const std::int64_t extent = (placed.kernel - 1) * placed.dilation + 1 + output_padding[axis];
  const auto full = reached ? checked_add(*reached, extent) : std::nullopt;
  if (!full) return bad_input(fmt::format("spatial axis {}: the output size overflows", axis));
  const bool same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
  if (!output_shape.empty() || same) {
    const auto scaled = checked_mul(input, placed.stride);
    if (!scaled) return bad_input(fmt::format("spatial axis {}: the output size overflows", axis));
    placed.output = output_shape.empty() ? *scaled : output_shape[axis];
    const std::int64_t total = std::max<std::int64_t>(0, *full - placed.output);
    placed.pad = window.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
    return placed;
  }
  placed.pad = window.pads[axis];
  placed.output = *full - placed.pad - window.pads[axis + window.kernel.size()];
  if (placed.output < 0)
    return bad_input(fmt::format("spatial axis {}: pads {} and {} remove more than the {} outputs", axis,
                                 placed.pad, window.pads[axis + window.kernel.size()], *full));
  return placed;
}

}  // namespace

Result<std::vector<TransposedAxis>> place_transposed(const Node& node, const Ints& kernel,
                                                     std::span<const std::int64_t> spatial) {
  const std::size_t rank = kernel.size();
  DRIFTSCOPE_TRY(const WindowAttributes window, read_window(node, kernel));
  DRIFTSCOPE_TRY(Ints output_padding, ints_attribute(node, "output_padding", Ints(rank, 0)));
  if (output_padding.empty()) output_padding.assign(rank, 0);
  DRIFTSCOPE_TRY(Ints output_shape, ints_attribute(node, "output_shape", {}));
  // Some exporters include the batch and the channels.
  if (output_shape.size() == rank + 2) output_shape.erase(output_shape.begin(), output_shape.begin() + 2);
  if (!output_shape.empty() && output_shape.size() != rank)
    return bad_input(
        fmt::format("attribute output_shape: expected {} values, got {}", rank, output_shape.size()));
  if (output_padding.size() != rank)
    return bad_input(
        fmt::format("attribute output_padding: expected {} values, got {}", rank, output_padding.size()));
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < rank; ++i)
    if (output_padding[i] < 0 || output_padding[i] > limit ||
        (!output_shape.empty() && (output_shape[i] < 0 || output_shape[i] > limit)))
      return bad_input(fmt::format(
          "attributes output_padding and output_shape: expected values from 0 to {} on axis {}", limit, i));
  std::vector<TransposedAxis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    DRIFTSCOPE_TRY(const TransposedAxis axis, place(window, output_padding, output_shape, i, spatial[i]));
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace driftscope
