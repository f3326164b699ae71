// Split: SplitV with the sizes of its outputs; output k is tensor k of the node.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::split {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 0));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, lowering.rank(x)));
  const Order order = lowering.order(x);
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(x, order));
  std::vector<std::int64_t> sizes;
  for (const ValueId id : node.outputs) {
    if (id == no_value) return unsupported("an output that is left out has no equivalent");
    sizes.push_back(lowering.shape(id)[axis]);
  }
  DRIFTSCOPE_TRY(const std::string parts, lowering.ints(sizes, "sizes"));
  DRIFTSCOPE_TRY(const std::string at,
                 lowering.scalar_int(static_cast<std::int64_t>(place_of_axis(axis, order)), "axis"));
  return lowering.give_all(node.outputs, "SplitV", {tensor, parts, at},
                           {{"num_split", static_cast<std::int64_t>(sizes.size())}}, order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Split", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::split
