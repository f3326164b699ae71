// Conv in one to three dimensions: groups, depthwise, dilations, one-sided pads.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"
#include "core/hunt/windows.hpp"

namespace driftscope::hunt_operators::convolution {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(one_of(rng, {3, 4, 4, 4, 5}));
  const std::int64_t channels = x.size(1);
  const std::int64_t groups = happens(rng, 2) ? 1 : draw_divisor(rng, channels);
  const std::int64_t made = groups * (happens(rng, 3) ? draw_channels(rng) : between(rng, 1, 5));
  Window window = draw_window(rng, spatial_sizes(x), true);
  Shape shape = {made, channels / groups};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  if (element_count(shape) > most_elements) return false;
  const std::int64_t terms = element_count(shape) / made;
  std::vector<std::string> inputs = {x.name,
                                     draft.weight(shape, 1.0 / std::sqrt(static_cast<double>(terms))).name};
  if (happens(rng, 2)) inputs.push_back(draft.weight({made}).name);
  if (groups > 1 || happens(rng, 4)) window.attributes.push_back({"group", groups});
  if (happens(rng, 2)) window.attributes.push_back(kernel_shape(window));
  return draft.node("Conv", inputs, window.attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 10, .name = "convolution", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::convolution
