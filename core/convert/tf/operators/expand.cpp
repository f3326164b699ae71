// Expand: BroadcastTo.
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::expand {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId y = node.outputs[0];
  const Shape shape = lowering.shape(y);
  Order order = lowering.order(node.inputs[0]);
  if (lowering.rank(node.inputs[0]) != shape.size()) order.clear();
  DRIFTSCOPE_TRY(const std::string x, lowering.read_broadcast(node.inputs[0], shape.size(), order));
  DRIFTSCOPE_TRY(const std::string sizes, lowering.ints(ordered_shape(shape, order), "shape"));
  return lowering.give(y, "BroadcastTo", {x, sizes}, {}, order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Expand", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::expand
