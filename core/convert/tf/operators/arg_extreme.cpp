// ArgMax, ArgMin: without the axis in TensorFlow, which is put back where ONNX keeps it.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::arg_extreme {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  DRIFTSCOPE_TRY(const bool keep, flag_attribute(node, "keepdims", true));
  DRIFTSCOPE_TRY(const bool last, flag_attribute(node, "select_last_index", false));
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x));
  DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(static_cast<std::int64_t>(axis), "dimension"));
  Shape without = shape;
  without.erase(without.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!last && !keep) return lowering.give(node.outputs[0], node.op_type, {tensor, at});
  if (last) {  // the first of the reversed
    DRIFTSCOPE_TRY(const std::string axes,
                   lowering.ints(std::vector{static_cast<std::int64_t>(axis)}, "axes"));
    tensor = lowering.make("reversed", "ReverseV2", {tensor, axes}, {}, lowering.info(tensor));
  }
  std::string found = lowering.make("index", node.op_type, {tensor, at}, {}, {DType::int32, without, {}});
  if (last)
    found = lowering.elementwise(
        "from_front", "Sub", {lowering.number(static_cast<double>(shape[axis] - 1), DType::int32), found});
  return lowering.give_reshaped(node.outputs[0], found);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("ArgMax", lower);
  table.add("ArgMin", lower);
}

}  // namespace driftscope::tf::operators::arg_extreme
