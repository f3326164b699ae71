// Numbers about the smallest normal one of float32, 2⁻¹²⁶: GPUs may take subnormals for zero.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::subnormal {

void add_to(hunt::FillTable& table) {
  table.add({.order = 50, .name = "subnormal", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable {
                 if (hunt::happens(rng, 4)) return double{rng.normal()};
                 return 0x1p-126 * double{rng.normal()};
               };
             }});
}

}  // namespace driftscope::hunt_fills::subnormal
