// A large mean with small differences: variances and differences cancel.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::offset {

void add_to(hunt::FillTable& table) {
  table.add({.order = 100, .name = "offset", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
               const double mean = hunt::one_of(rng, {100.0, -1000.0, 30000.0});
               return [rng, mean]() mutable { return mean + double{rng.normal()}; };
             }});
}

}  // namespace driftscope::hunt_fills::offset
