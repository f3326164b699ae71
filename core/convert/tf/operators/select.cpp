// Operators that choose elements of their first input by parameters that are known.
#include "core/convert/tf/selection.hpp"

namespace driftscope::tf::operators::select {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) { return give_selection(lowering, node); }

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Slice", lower, Prefers::any);
  table.add("Tile", lower, Prefers::any);
  table.add("ReverseSequence", lower);
  table.add("SpaceToDepth", lower);
}

}  // namespace driftscope::tf::operators::select
