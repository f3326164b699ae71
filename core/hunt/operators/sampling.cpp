// GridSample: points between elements, on edges and beyond them.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::sampling {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(4);
  const Shape shape = {x.size(0), between(rng, 1, 9), between(rng, 1, 9), 2};
  // Half of the grids lie on elements and edges.
  const DraftValue grid =
      happens(rng, 2) ? draft.weight(shape, 0.7) : draft.whole_numbers(shape, -1, 1, DType::float32);
  std::vector<Attribute> attributes = {
      {"mode", std::string(one_of(rng, {"linear", "nearest", "cubic"}))},
      {"padding_mode", std::string(one_of(rng, {"zeros", "border", "reflection"}))}};
  if (happens(rng, 2)) attributes.push_back({"align_corners", std::int64_t{1}});
  return draft.node("GridSample", {x.name, grid.name}, attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 180, .name = "sampling", .weight = 2, .append = append});
}

}  // namespace driftscope::hunt_operators::sampling
