// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/view.hpp"

namespace driftscope::lowering {

Result<bool> lower_view(GraphLowering& lowering, const Node& node, HoldsValue holds) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;  // Dropout's mask
  if (y == no_value || !holds(lowering, x) || !holds(lowering, y) || lowering.constant(x) != nullptr)
    return false;
  const auto same = layout_after(lowering.shape(x), lowering.layout(x), lowering.shape(y));
  const Layout layout = same ? lowering.layout(x) : Layout{};
  DRIFTSCOPE_TRY(const BufferId source, lowering.read(x, layout));
  lowering.alias(y, source, same.value_or(Layout{}));
  return true;
}

Result<bool> lower_dropout(GraphLowering& lowering, const Node& node, HoldsValue holds) {
  if (lowering.has_input(node, 2)) {
    const Tensor* training = lowering.constant(node.inputs[2]);
    if (training == nullptr || training->elements() != 1 || training->bytes()[0] != std::byte{0})
      return false;
  }
  return lower_view(lowering, node, holds);
}

}  // namespace driftscope::lowering
