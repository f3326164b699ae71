// Operators that give the same elements another shape: Reshape.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::view {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read_memory(node.inputs[0]));
  return lowering.give_reshaped(node.outputs[0], tensor);
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const std::string_view name : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) table.add(name, lower);
}

}  // namespace driftscope::tf::operators::view
