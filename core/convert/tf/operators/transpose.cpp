// Transpose, from the order in which its input exists to the one that its readers prefer.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::transpose {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const std::size_t rank = lowering.rank(x);
  Ints reversed;
  for (std::size_t i = rank; i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  DRIFTSCOPE_TRY(const Ints perm, ints_attribute(node, "perm", reversed));
  // Axis i of y in `to` is axis perm[to[i]] of x.
  const Order to = lowering.order(y);
  Order ours(rank);
  for (std::size_t i = 0; i < rank; ++i) ours[i] = static_cast<std::size_t>(perm[to.empty() ? i : to[i]]);
  const Order from = lowering.order(x);
  DRIFTSCOPE_TRY(const std::string tensor, lowering.read(x, from));
  const Order permutation = between(from, ours, rank);
  if (permutation.empty()) return lowering.give_same(y, tensor, to);
  if (keeps_memory(lowering.info(tensor).shape, permutation)) return lowering.give_reshaped(y, tensor, to);
  DRIFTSCOPE_TRY(const std::string axes,
                 lowering.ints(std::vector<std::int64_t>(permutation.begin(), permutation.end()), "perm"));
  return lowering.give(y, "Transpose", {tensor, axes}, {}, to);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Transpose", lower); }

}  // namespace driftscope::tf::operators::transpose
