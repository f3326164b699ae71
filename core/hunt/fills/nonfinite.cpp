// NaN and infinities now and then.
#include <limits>

#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::nonfinite {

void add_to(hunt::FillTable& table) {
  table.add({.order = 120, .name = "nonfinite", .weight = 1, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable {
                 if (!hunt::happens(rng, 40)) return double{rng.normal()};
                 constexpr double infinity = std::numeric_limits<double>::infinity();
                 return hunt::one_of(rng, {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()});
               };
             }});
}

}  // namespace driftscope::hunt_fills::nonfinite
