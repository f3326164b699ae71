// Where and Cast: which of two values, and of which type.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::choices {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  if (happens(rng, 2)) {
    const DraftValue x =
        draft.operand(0, 4, one_of(rng, {DType::float32, DType::float32, DType::int32, DType::boolean}));
    const auto to = one_of(rng, {DType::float16, DType::float32, DType::int32, DType::uint8, DType::boolean});
    // What a number beyond a type's range becomes is not defined: whole numbers of inputs are small enough.
    const bool narrows = x.dtype == DType::float32 && (to == DType::int32 || to == DType::uint8);
    if (to == x.dtype || narrows || (to == DType::uint8 && x.dtype == DType::int32)) return false;
    return draft.node("Cast", {x.name}, {{"to", static_cast<std::int64_t>(to)}});
  }
  const DraftValue a = draft.operand(0, 4);
  const DraftValue b = draft.input(draw_broadcast(rng, a.shape));
  const DraftValue which = draft.input(draw_broadcast(rng, a.shape), DType::boolean);
  const bool turned = happens(rng, 2);
  return draft.node("Where", {which.name, turned ? b.name : a.name, turned ? a.name : b.name});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 170, .name = "choices", .weight = 3, .append = append});
}

}  // namespace driftscope::hunt_operators::choices
