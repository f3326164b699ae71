// Where: SelectV2.
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::where {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(Operands operands, read_operands(lowering, node));
  return give_elementwise(lowering, node, "SelectV2", operands.order, std::move(operands.tensors));
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Where", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::where
