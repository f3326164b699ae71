// About 65,504, the largest number of float16, and beyond.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::beyond_float16 {

void add_to(hunt::FillTable& table) {
  table.add(
      {.order = 60, .name = "beyond_float16", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
         return [rng]() mutable { return 4e4 * double{rng.normal()}; };
       }});
}

}  // namespace driftscope::hunt_fills::beyond_float16
