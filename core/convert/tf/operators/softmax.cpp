// Softmax, LogSoftmax: TensorFlow's are over the last axis, so another one is moved there. Before opset 13
// they are over all axes from `axis` on.
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::softmax {
namespace {

Status over_trailing_axes(Lowering& lowering, const OnnxNode& node, std::size_t axis) {
  const Shape shape = lowering.shape(node.inputs[0]);
  Shape matrix = {1, 1};
  for (std::size_t i = 0; i < shape.size(); ++i) matrix[i < axis ? 0 : 1] *= shape[i];
  DRIFTSCOPE_TRY(std::string tensor, lowering.read_memory(node.inputs[0]));
  DRIFTSCOPE_TRY(tensor, lowering.reshape("matrix", tensor, matrix));
  const std::string result = lowering.make("of_matrix", node.op_type, {tensor}, {}, lowering.info(tensor));
  return lowering.give_reshaped(node.outputs[0], result);
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", node.opset < 13 ? 1 : -1));
  if (rank == 0) return unsupported("a scalar has no axis to normalise over");
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, rank, node.opset < 13));
  if (node.opset < 13 && axis + 1 != rank) return over_trailing_axes(lowering, node, axis);
  // In any order that has the axis last.
  Order order = lowering.order(node.inputs[0]);
  if (place_of_axis(axis, order) + 1 != rank) {
    order.clear();
    for (std::size_t i = 0; i < rank; ++i)
      if (i != axis) order.push_back(i);
    order.push_back(axis);
  }
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(node.inputs[0], order));
  return lowering.give(node.outputs[0], node.op_type, {tensor}, {}, order);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Softmax", lower);
  table.add("LogSoftmax", lower);
}

}  // namespace driftscope::tf::operators::softmax
