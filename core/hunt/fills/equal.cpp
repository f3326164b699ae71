// One number everywhere: no variance, every place is the largest.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::equal {

void add_to(hunt::FillTable& table) {
  table.add({.order = 90, .name = "equal", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
               const double value = hunt::one_of(rng, {0.0, 1.0, -1.0, 0.1, 3.0});
               return [value] { return value; };
             }});
}

}  // namespace driftscope::hunt_fills::equal
