// Levels of optimisation, from none to all.
#include "native/host/bisect_axis.hpp"

namespace driftscope::bisect_axes::opt {

static Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  return option_levels("opt", request);
}

void add_to(AxisTable& table) {
  table.add(
      {.name = "opt", .summary = "how far a runtime rewrites the graph", .ordered = false, .levels = levels});
}

}  // namespace driftscope::bisect_axes::opt
