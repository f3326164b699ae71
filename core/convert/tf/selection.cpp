#include "core/convert/tf/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/convert/tf/windows.hpp"
#include "core/eval/evaluate.hpp"

namespace driftscope::tf {
namespace {

constexpr std::int64_t max_selected = std::int64_t{1} << 27;

bool is_whole(const AxisSelection& taken, std::int64_t size) {
  if (static_cast<std::int64_t>(taken.size()) != size) return false;
  for (std::int64_t i = 0; i < size; ++i)
    if (taken[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

std::optional<SliceRange> evenly_spaced(const AxisSelection& taken) {
  if (taken.empty()) return SliceRange{0, 0, 1};
  const std::int64_t step = taken.size() > 1 ? taken[1] - taken[0] : 1;
  if (step == 0) return std::nullopt;
  for (std::size_t i = 1; i < taken.size(); ++i)
    if (taken[i] - taken[i - 1] != step) return std::nullopt;
  return SliceRange{taken[0], static_cast<std::int64_t>(taken.size()), step};
}

}  // namespace

Result<Tensor> selected_elements(const Lowering& lowering, const OnnxNode& node) {
  const Shape x = lowering.shape(node.inputs[0]);
  if (element_count(x) > max_selected)
    return limit_error(fmt::format("input 0 has {} elements, at most {} can be chosen from", element_count(x),
                                   max_selected));
  // From one on: zero is what fills.
  DRIFTSCOPE_TRY(Tensor numbers, Tensor::unwritten(DType::int64, x, "numbers of elements"));
  const auto values = numbers.mutable_values<std::int64_t>();
  std::iota(values.begin(), values.end(), std::int64_t{1});
  std::vector<const Tensor*> inputs = {&numbers};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    inputs.push_back(nullptr);
    if (node.inputs[i] == no_value) continue;
    DRIFTSCOPE_TRY(inputs.back(), lowering.known(node, i, lowering.graph().values[node.inputs[i]].name));
  }
  ThreadPool threads(1);
  DRIFTSCOPE_TRY(auto outputs, evaluate_strict(node, inputs, threads));
  for (std::int64_t& number : outputs[0].mutable_values<std::int64_t>()) {
    if (number == 0) return unsupported("elements that do not come from input 0 have no equivalent");
    --number;
  }
  return std::move(outputs[0]);
}

std::optional<std::vector<AxisSelection>> separate(const Tensor& selected, const Shape& x) {
  const Shape& y = selected.shape();
  if (y.size() != x.size()) return std::nullopt;
  std::vector<AxisSelection> axes(y.size());
  if (selected.elements() == 0) {
    for (std::size_t axis = 0; axis < y.size(); ++axis)
      for (std::int64_t i = 0; i < y[axis]; ++i) axes[axis].push_back(i);
    return axes;
  }
  const auto numbers = selected.values<std::int64_t>();
  std::vector<std::int64_t> x_strides(x.size(), 1), y_strides(y.size(), 1);
  for (std::size_t axis = x.size(); axis-- > 1;) {
    x_strides[axis - 1] = x_strides[axis] * x[axis];
    y_strides[axis - 1] = y_strides[axis] * y[axis];
  }
  for (std::size_t axis = 0; axis < y.size(); ++axis)
    for (std::int64_t i = 0; i < y[axis]; ++i)
      axes[axis].push_back(numbers[static_cast<std::size_t>(i * y_strides[axis])] / x_strides[axis] %
                           x[axis]);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < y.size(); ++axis) {
      const std::int64_t at = static_cast<std::int64_t>(i) / y_strides[axis] % y[axis];
      number += axes[axis][static_cast<std::size_t>(at)] * x_strides[axis];
    }
    if (number != numbers[i]) return std::nullopt;
  }
  return axes;
}

Status give_axis_selection(Lowering& lowering, const OnnxNode& node, const std::vector<AxisSelection>& axes) {
  const ValueId x = node.inputs[0];
  const Order order = lowering.order(x);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x, order));
  std::vector<SliceRange> ranges;
  bool even = true;
  for (std::size_t place = 0; place < axes.size() && even; ++place) {
    const auto range = evenly_spaced(axes[order.empty() ? place : order[place]]);
    even = range.has_value();
    if (even) ranges.push_back(*range);
  }
  if (even && !axes.empty()) {
    DRIFTSCOPE_TRY(StridedSliceParts parts, strided_slice(lowering, tensor, ranges));
    return lowering.give(node.outputs[0], "StridedSlice", std::move(parts.inputs),
                         std::move(parts.attributes), order);
  }
  std::vector<std::size_t> changed;  // places
  for (std::size_t place = 0; place < axes.size(); ++place)
    if (!is_whole(axes[order.empty() ? place : order[place]], lowering.info(tensor).shape[place]))
      changed.push_back(place);
  if (changed.empty()) return lowering.give_same(node.outputs[0], tensor, order);
  for (const std::size_t place : changed) {
    const AxisSelection& taken = axes[order.empty() ? place : order[place]];
    DRIFTSCOPE_TRY(Tensor numbers,
                   Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(taken.size())}, taken));
    DRIFTSCOPE_TRY(const std::string indices, lowering.constant(numbers, "indices"));
    DRIFTSCOPE_TRY(const std::string axis, lowering.scalar_int(static_cast<std::int64_t>(place), "axis"));
    const Attributes attributes = {{"batch_dims", std::int64_t{0}}};
    if (place == changed.back())
      return lowering.give(node.outputs[0], "GatherV2", {tensor, indices, axis}, attributes, order);
    TensorInfo info = lowering.info(tensor);
    info.shape[place] = static_cast<std::int64_t>(taken.size());
    tensor = lowering.make("chosen", "GatherV2", {tensor, indices, axis}, attributes, std::move(info));
  }
  return {};
}

Status give_selection(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(Tensor selected, selected_elements(lowering, node));
  if (const auto axes = separate(selected, lowering.shape(node.inputs[0])))
    return give_axis_selection(lowering, node, *axes);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read_memory(node.inputs[0]));
  DRIFTSCOPE_TRY(tensor,
                 lowering.reshape("elements", tensor, {element_count(lowering.shape(node.inputs[0]))}));
  DRIFTSCOPE_TRY(const std::string indices, lowering.constant(selected, "indices"));
  DRIFTSCOPE_TRY(const std::string axis, lowering.scalar_int(0, "axis"));
  return lowering.give(node.outputs[0], "GatherV2", {tensor, indices, axis},
                       {{"batch_dims", std::int64_t{0}}});
}

}  // namespace driftscope::tf
