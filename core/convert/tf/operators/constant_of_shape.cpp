// ConstantOfShape whose shape is known, though not what it is computed from: one element, broadcast.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::constant_of_shape {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const Shape shape = lowering.shape(node.outputs[0]);
  const Shape one(shape.size(), 1);
  const driftscope::Attribute* const value = node.attribute("value");
  const Tensor* const given = value == nullptr ? nullptr : std::get_if<Tensor>(&value->value);
  DRIFTSCOPE_TRY(const Tensor element,
                 given == nullptr ? Tensor::make(DType::float32, one) : given->reshaped(one));
  DRIFTSCOPE_TRY(const std::string tensor, lowering.constant(element, "element"));
  if (shape == one) return lowering.give_same(node.outputs[0], tensor);
  DRIFTSCOPE_TRY(const std::string sizes, lowering.ints(shape, "sizes"));
  return lowering.give(node.outputs[0], "BroadcastTo", {tensor, sizes});
}

}  // namespace

void add_to(OperatorTable& table) { table.add("ConstantOfShape", lower); }

}  // namespace driftscope::tf::operators::constant_of_shape
