// Functions of one number without attributes.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::functions {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const std::string op =
      one_of(rng, {"Abs",      "Acos",    "Acosh", "Asin",     "Asinh",     "Atan",  "Atanh", "Ceil",
                   "Cos",      "Cosh",    "Erf",   "Exp",      "Floor",     "Log",   "Neg",   "Not",
                   "Round",    "Sigmoid", "Sign",  "Sin",      "Sinh",      "Sqrt",  "Tan",   "Tanh",
                   "Softplus", "Relu",    "Mish",  "Softsign", "HardSwish", "IsNaN", "IsInf", "Reciprocal"});
  return draft.node(op, {draft.operand(0, 5, op == "Not" ? DType::boolean : DType::float32).name});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 50, .name = "functions", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::functions
