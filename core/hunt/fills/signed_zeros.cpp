// Zeros of both signs among ordinary numbers.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::signed_zeros {

void add_to(hunt::FillTable& table) {
  table.add(
      {.order = 40, .name = "signed_zeros", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
         return [rng]() mutable {
           if (hunt::happens(rng, 3)) return double{rng.normal()};
           return hunt::happens(rng, 2) ? 0.0 : -0.0;
         };
       }});
}

}  // namespace driftscope::hunt_fills::signed_zeros
