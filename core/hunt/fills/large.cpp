// Up to 2¹⁰⁰: squares overflow, sums do not.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::large {

void add_to(hunt::FillTable& table) {
  table.add({.order = 80, .name = "large", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable {
                 const int exponent = static_cast<int>(hunt::between(rng, -20, 99));
                 return std::ldexp(double{rng.uniform(-2.0f, 2.0f)}, exponent);
               };
             }});
}

}  // namespace driftscope::hunt_fills::large
