// About 2⁻²⁴, the smallest number of float16.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::below_float16 {

void add_to(hunt::FillTable& table) {
  table.add(
      {.order = 70, .name = "below_float16", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
         return [rng]() mutable { return 0x1p-23 * double{rng.normal()}; };
       }});
}

}  // namespace driftscope::hunt_fills::below_float16
