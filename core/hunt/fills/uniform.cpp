// In [0, 1), as pictures.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::uniform {

void add_to(hunt::FillTable& table) {
  table.add({.order = 20, .name = "uniform", .weight = 3, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable { return double{rng.uniform()}; };
             }});
}

}  // namespace driftscope::hunt_fills::uniform
