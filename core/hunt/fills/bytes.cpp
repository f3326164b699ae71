// Whole numbers beyond 8 bits: limits of quantized types.
#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"

namespace driftscope::hunt_fills::bytes {

void add_to(hunt::FillTable& table) {
  table.add({.order = 130, .name = "bytes", .weight = 1, .make = [](Rng rng) -> std::function<double()> {
               return [rng]() mutable { return static_cast<double>(hunt::between(rng, -300, 300)); };
             }});
}

}  // namespace driftscope::hunt_fills::bytes
