// Operators that choose elements of their first input by parameters that are known, and a Slice whose
// start is not: the shape of its result must be.
#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tf/elementwise.hpp"
#include "core/convert/tf/selection.hpp"
#include "core/model/indices_of.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::tf::operators::select {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) { return give_selection(lowering, node); }

Result<Ints> known_list(const Lowering& lowering, const OnnxNode& node, std::size_t input,
                        std::string_view name) {
  DRIFTSCOPE_TRY(const Tensor* const tensor, lowering.known(node, input, name));
  return integers_of(*tensor, input_label(input, name));
}

// The places of one axis that a Slice takes: count numbers with this step, from a start that is computed.
// ONNX counts a negative start from the end and keeps it inside; the count tells what the end is.
Result<std::string> places(Lowering& lowering, const std::string& starts, std::int64_t i, std::int64_t size,
                           std::int64_t count, std::int64_t step) {
  DRIFTSCOPE_TRY(const std::string at, lowering.ints(std::vector<std::int64_t>{i}, "at"));
  DRIFTSCOPE_TRY(const std::string one, lowering.ints(std::vector<std::int64_t>{1}, "one"));
  const auto number = [&](std::int64_t value) {
    return lowering.number(static_cast<double>(value), DType::int32);
  };
  const std::string given = lowering.make("start", "Slice", {starts, at, one}, {}, {DType::int32, {1}, {}});
  const std::string below = lowering.elementwise("is_negative", "Less", {given, number(0)}, DType::boolean);
  const std::string counted = lowering.elementwise("counted", "AddV2", {given, number(size)});
  std::string first = lowering.elementwise("first", "SelectV2", {below, counted, given}, DType::int32);
  first = lowering.elementwise("not_before", "Maximum", {first, number(0)});
  if (step < 0) first = lowering.elementwise("not_behind", "Minimum", {first, number(size - 1)});
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = 0; k < count; ++k) offsets.push_back(k * step);
  DRIFTSCOPE_TRY(const Tensor steps, Tensor::from_values<std::int64_t>({count}, offsets));
  DRIFTSCOPE_TRY(const std::string from_start, lowering.constant(steps, "steps"));
  std::string place = lowering.elementwise("place", "AddV2", {first, from_start});
  // Where the file declares a wrong shape, nothing outside is read.
  place = lowering.elementwise("at_least", "Maximum", {place, number(0)});
  return lowering.elementwise("at_most", "Minimum", {place, number(size - 1)});
}

Status lower_slice(Lowering& lowering, const OnnxNode& node) {
  const bool known = node.opset < 10 || (lowering.constant(node.inputs[1]) != nullptr &&
                                         lowering.constant(node.inputs[2]) != nullptr);
  if (known) return give_selection(lowering, node);
  const ValueId x = node.inputs[0];
  const Shape from = lowering.shape(x);
  const Shape to = lowering.shape(node.outputs[0]);
  const std::int64_t count = element_count(lowering.shape(node.inputs[1]));
  Ints axes;
  for (std::int64_t i = 0; i < count; ++i) axes.push_back(i);
  Ints steps(axes.size(), 1);
  if (Lowering::has_input(node, 3)) {
    DRIFTSCOPE_TRY(axes, known_list(lowering, node, 3, "axes"));
  }
  if (Lowering::has_input(node, 4)) {
    DRIFTSCOPE_TRY(steps, known_list(lowering, node, 4, "steps"));
  }
  if (axes.size() != static_cast<std::size_t>(count) || steps.size() != axes.size())
    return bad_input("starts, axes and steps must have equal lengths");
  DRIFTSCOPE_TRY(const std::optional<Tensor> clamped, clamped_to_int32(lowering, node.inputs[1]));
  DRIFTSCOPE_TRY(const std::string starts,
                 clamped ? lowering.constant(*clamped, "starts") : lowering.read(node.inputs[1]));
  const Order order = lowering.order(x);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x, order));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(axes[i], from.size()));
    if (from[axis] < 1 || to[axis] < 1) return unsupported("a slice of nothing has no equivalent");
    DRIFTSCOPE_TRY(const std::string taken,
                   places(lowering, starts, static_cast<std::int64_t>(i), from[axis], to[axis], steps[i]));
    const auto place = static_cast<std::int64_t>(place_of_axis(axis, order));
    DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(place, "axis"));
    TensorInfo info = lowering.info(tensor);
    info.shape[static_cast<std::size_t>(place)] = to[axis];
    tensor = lowering.make("chosen", "GatherV2", {tensor, taken, at}, {{"batch_dims", std::int64_t{0}}},
                           std::move(info));
  }
  return lowering.give_same(node.outputs[0], tensor, order);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Slice", lower_slice, Prefers::any);
  table.add("Tile", lower, Prefers::any);
  table.add("ReverseSequence", lower);
  table.add("SpaceToDepth", lower);
}

}  // namespace driftscope::tf::operators::select
