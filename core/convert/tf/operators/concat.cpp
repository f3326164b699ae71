// Concat: all inputs in the order of the first that has its channels last.
#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::concat {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.outputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", 1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, rank));
  const Order order = elementwise_order(lowering, node, rank);
  Inputs inputs;
  for (const ValueId id : node.inputs) {
    DRIFTSCOPE_TRY(std::string tensor, lowering.read(id, order));
    inputs.push_back(std::move(tensor));
  }
  const auto count = static_cast<std::int64_t>(inputs.size());
  DRIFTSCOPE_TRY(std::string at,
                 lowering.scalar_int(static_cast<std::int64_t>(place_of_axis(axis, order)), "axis"));
  inputs.push_back(std::move(at));
  return lowering.give(node.outputs[0], "ConcatV2", std::move(inputs), {{"N", count}}, order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Concat", lower, Prefers::any); }

}  // namespace driftscope::tf::operators::concat
