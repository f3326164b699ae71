// Pools with windows, and over everything.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"
#include "core/hunt/windows.hpp"

namespace driftscope::hunt_operators::pooling {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(one_of(rng, {3, 4, 4, 4, 5}));
  if (happens(rng, 6))
    return draft.node(one_of(rng, {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}), {x.name});
  const std::string op = one_of(rng, {"MaxPool", "AveragePool", "AveragePool", "LpPool"});
  Window window = draw_window(rng, spatial_sizes(x), true);
  window.attributes.push_back(kernel_shape(window));
  if (happens(rng, 3)) window.attributes.push_back({"ceil_mode", std::int64_t{1}});
  if (op == "AveragePool" && happens(rng, 2))
    window.attributes.push_back({"count_include_pad", std::int64_t{1}});
  if (op == "LpPool") window.attributes.push_back({"p", between(rng, 1, 3)});
  return draft.node(op, {x.name}, window.attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 30, .name = "pooling", .weight = 5, .append = append});
}

}  // namespace driftscope::hunt_operators::pooling
