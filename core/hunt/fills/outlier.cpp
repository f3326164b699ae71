// Small numbers with a large one now and then, as activations of language models.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::outlier {

void add_to(hunt::FillTable& table) {
  table.add({.order = 110, .name = "outlier", .weight = 2, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable {
                 const double size = hunt::happens(rng, 50) ? 1000.0 : 0.1;
                 return size * double{rng.normal()};
               };
             }});
}

}  // namespace driftscope::hunt_fills::outlier
