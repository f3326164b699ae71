#include "core/convert/tf/windows.hpp"

#include <algorithm>

namespace driftscope::tf {
namespace {

std::int64_t reach(const WindowAxis& axis) { return (axis.kernel - 1) * axis.dilation + 1; }

bool fits_valid(const WindowAxis& axis) {
  return axis.pad_begin == 0 && axis.input >= reach(axis) &&
         (axis.input - reach(axis)) / axis.stride + 1 == axis.output;
}

// TensorFlow's SAME: as many outputs as strides begin in the input, the padding split evenly, the odd one
// behind.
bool fits_same(const WindowAxis& axis) {
  const std::int64_t output = (axis.input + axis.stride - 1) / axis.stride;
  const std::int64_t total = std::max<std::int64_t>((output - 1) * axis.stride + reach(axis) - axis.input, 0);
  return axis.output == output && axis.pad_begin == total / 2;
}

}  // namespace

bool Windows::dilated() const {
  return std::any_of(axes.begin(), axes.end(), [](const WindowAxis& axis) { return axis.dilation > 1; });
}

std::vector<std::int64_t> Windows::per_axis(std::int64_t WindowAxis::* member) const {
  std::vector<std::int64_t> values = {1};
  for (const WindowAxis& axis : axes) values.push_back(axis.*member);
  values.push_back(1);
  return values;
}

std::int64_t Windows::pad_end(std::size_t i) const {
  const WindowAxis& axis = axes[i];
  return std::max<std::int64_t>((axis.output - 1) * axis.stride + reach(axis) - axis.input - axis.pad_begin,
                                0);
}

std::vector<std::int64_t> Windows::paddings() const {
  std::vector<std::int64_t> values = {0, 0};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    values.push_back(pad_begin(axis));
    values.push_back(pad_end(axis));
  }
  values.insert(values.end(), {0, 0});
  return values;
}

Windows windows_of(std::vector<WindowAxis> axes) {
  Windows windows;
  windows.axes = std::move(axes);
  if (windows.axes.size() == 1)
    windows.axes.insert(windows.axes.begin(), WindowAxis{.input = 1, .kernel = 1, .output = 1});
  if (std::all_of(windows.axes.begin(), windows.axes.end(), fits_valid))
    windows.kind = PaddingKind::valid;
  else if (std::all_of(windows.axes.begin(), windows.axes.end(), fits_same))
    windows.kind = PaddingKind::same;
  else
    windows.kind = PaddingKind::given;
  return windows;
}

Shape window_shape(const Windows& windows, std::int64_t batch, std::int64_t channels) {
  Shape shape = {batch};
  for (const WindowAxis& axis : windows.axes) shape.push_back(axis.output);
  shape.push_back(channels);
  return shape;
}

Result<std::string> read_for_windows(Lowering& lowering, ValueId id) {
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(id, channels_last(lowering.rank(id))));
  Shape shape = lowering.info(tensor).shape;
  if (shape.size() != 3) return tensor;
  shape.insert(shape.begin() + 1, 1);
  return lowering.reshape("with_height", tensor, std::move(shape));
}

Result<std::string> padded(Lowering& lowering, const std::string& tensor, const Windows& windows,
                           float value) {
  const std::vector<std::int64_t> paddings = windows.paddings();
  const TensorInfo source = lowering.info(tensor);
  Shape shape = source.shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] += paddings[2 * axis] + paddings[2 * axis + 1];
  DRIFTSCOPE_TRY(const Tensor pairs,
                 Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(shape.size()), 2}, paddings));
  DRIFTSCOPE_TRY(const std::string pads, lowering.constant(pairs, "paddings"));
  DRIFTSCOPE_TRY(const std::string fill,
                 lowering.scalar(static_cast<double>(value), DType::float32, "padding_value"));
  return lowering.make("padded", "PadV2", {tensor, pads, fill}, {}, {source.dtype, std::move(shape), {}});
}

Result<StridedSliceParts> strided_slice(Lowering& lowering, const std::string& tensor,
                                        const std::vector<SliceRange>& ranges) {
  std::vector<std::int64_t> begins, ends, steps;
  StridedSliceParts parts;
  std::int64_t end_mask = 0;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const SliceRange& range = ranges[axis];
    std::int64_t end = range.begin + (range.size - 1) * range.step + (range.step > 0 ? 1 : -1);
    if (range.size == 0) end = range.begin;
    if (end < 0) {  // TensorFlow counts it from the end
      end_mask |= std::int64_t{1} << axis;
      end = 0;
    }
    begins.push_back(range.begin);
    ends.push_back(end);
    steps.push_back(range.step);
    parts.shape.push_back(range.size);
  }
  DRIFTSCOPE_TRY(const std::string begin, lowering.ints(begins, "begin"));
  DRIFTSCOPE_TRY(const std::string end, lowering.ints(ends, "end"));
  DRIFTSCOPE_TRY(const std::string step, lowering.ints(steps, "step"));
  parts.inputs = {tensor, begin, end, step};
  parts.attributes = {{"begin_mask", std::int64_t{0}},
                      {"end_mask", end_mask},
                      {"ellipsis_mask", std::int64_t{0}},
                      {"new_axis_mask", std::int64_t{0}},
                      {"shrink_axis_mask", std::int64_t{0}}};
  return parts;
}

Result<std::string> subsampled(Lowering& lowering, const std::string& tensor, const Windows& windows) {
  const TensorInfo source = lowering.info(tensor);
  std::vector<SliceRange> ranges;
  for (const std::int64_t size : source.shape) ranges.push_back({0, size, 1});
  for (std::size_t axis = 0; axis < windows.axes.size(); ++axis)
    ranges[axis + 1] = {0, windows.axes[axis].output, windows.axes[axis].stride};
  DRIFTSCOPE_TRY(StridedSliceParts parts, strided_slice(lowering, tensor, ranges));
  return lowering.make("subsampled", "StridedSlice", std::move(parts.inputs), std::move(parts.attributes),
                       {source.dtype, std::move(parts.shape), {}});
}

Status give_windows(Lowering& lowering, ValueId id, std::string_view op, Inputs inputs, Attributes attributes,
                    const Windows& windows) {
  const Shape shape = lowering.shape(id);
  const Order order = channels_last(shape.size());
  if (shape.size() != 3) return lowering.give(id, op, std::move(inputs), std::move(attributes), order);
  const DType dtype = lowering.info(inputs[0]).dtype;
  const std::string made = lowering.make("with_height_too", op, std::move(inputs), std::move(attributes),
                                         {dtype, window_shape(windows, shape[0], shape[1]), {}});
  return lowering.give_reshaped(id, made, order);
}

}  // namespace driftscope::tf
