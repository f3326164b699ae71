// Two operands that broadcast: numbers and comparisons, floating and whole.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::arithmetic {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DType dtype = happens(rng, 6) ? DType::int32 : DType::float32;
  const DraftValue a = draft.operand(0, 5, dtype);
  const Shape other = draw_broadcast(rng, a.shape);
  const DraftValue b =
      happens(rng, 3) && dtype == DType::float32 ? draft.weight(other) : draft.input(other, dtype);
  const std::string op =
      dtype == DType::int32
          ? one_of(rng, {"Add", "Sub", "Mul", "Max", "Min", "Equal", "Less", "Greater"})
          : one_of(rng, {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu", "Equal", "Less", "Greater",
                         "LessOrEqual", "GreaterOrEqual", "Sum", "Mean"});
  const bool turned = op != "PRelu" && happens(rng, 2);
  return draft.node(op, turned ? std::vector{b.name, a.name} : std::vector{a.name, b.name});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 40, .name = "arithmetic", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::arithmetic
