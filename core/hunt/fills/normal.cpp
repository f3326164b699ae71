// Standard normal: what most inputs look like.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::normal {

void add_to(hunt::FillTable& table) {
  table.add({.order = 10, .name = "normal", .weight = 8, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable { return double{rng.normal()}; };
             }});
}

}  // namespace driftscope::hunt_fills::normal
