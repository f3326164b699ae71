// Whole numbers and halves: ties of rounding, of the largest, and of comparisons.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::whole {

void add_to(hunt::FillTable& table) {
  table.add({.order = 30, .name = "whole", .weight = 3, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable { return 0.5 * static_cast<double>(hunt::between(rng, -6, 6)); };
             }});
}

}  // namespace driftscope::hunt_fills::whole
