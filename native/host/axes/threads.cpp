// Numbers of threads: 1, 2, 4, …, all processors.
#include <algorithm>
#include <string>

#include "core/platform/platform.hpp"
#include "native/host/bisect_axis.hpp"

namespace driftscope::bisect_axes::threads {

static Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  if (!request.given.empty()) return option_levels("threads", request);
  const int all = std::max(usable_processors(), 2);
  std::vector<std::string> values;
  for (int count = 1; count < all; count *= 2) values.push_back(std::to_string(count));
  values.push_back(std::to_string(all));
  return levels_of_option("threads", values);
}

void add_to(AxisTable& table) {
  table.add({.name = "threads",
             .summary = "1, 2, 4, … threads, up to all processors",
             .ordered = false,
             .levels = levels});
}

}  // namespace driftscope::bisect_axes::threads
