// Sums and the like over axes, places of the largest, running sums.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::reductions {
namespace {

using namespace hunt;

bool place_of_largest(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  std::vector<Attribute> attributes = {{"axis", draw_axis(rng, x.shape.size())}};
  if (happens(rng, 2)) attributes.push_back({"keepdims", std::int64_t{0}});
  if (happens(rng, 3)) attributes.push_back({"select_last_index", std::int64_t{1}});
  return draft.node(one_of(rng, {"ArgMax", "ArgMin"}), {x.name}, attributes);
}

bool largest(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
  std::vector<Attribute> attributes = {{"axis", axis}};
  if (happens(rng, 2)) attributes.push_back({"largest", std::int64_t{0}});
  const DraftValue count = draft.constant(std::vector{between(rng, 1, std::min<std::int64_t>(size, 40))});
  return draft.node("TopK", {x.name, count.name}, attributes, 2);
}

bool running_sum(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  std::vector<Attribute> attributes;
  if (happens(rng, 2)) attributes.push_back({"exclusive", std::int64_t{1}});
  if (happens(rng, 2)) attributes.push_back({"reverse", std::int64_t{1}});
  const auto axis = static_cast<double>(draw_axis(rng, x.shape.size()));
  return draft.node("CumSum", {x.name, draft.scalar_of(DType::int64, axis).name}, attributes);
}

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 5);
  switch (rng.below(8)) {
    case 0: return place_of_largest(draft, x);
    case 1: return largest(draft, x);
    case 2: return running_sum(draft, x);
    default: break;
  }
  std::vector<std::string> inputs = {x.name};
  std::vector<Attribute> attributes;
  if (!happens(rng, 5)) inputs.push_back(draft.constant(draw_axes(rng, x.shape.size())).name);
  if (happens(rng, 2)) attributes.push_back({"keepdims", std::int64_t{0}});
  const std::string op =
      one_of(rng, {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"});
  return draft.node(op, inputs, attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 70, .name = "reductions", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::reductions
