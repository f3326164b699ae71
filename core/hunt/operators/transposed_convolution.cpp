// ConvTranspose: output padding, a given output size, groups.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"
#include "core/hunt/windows.hpp"

namespace driftscope::hunt_operators::transposed_convolution {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(one_of(rng, {3, 4, 4, 4, 5}));
  const std::int64_t channels = x.size(1);
  const std::int64_t groups = happens(rng, 3) ? draw_divisor(rng, channels) : 1;
  const std::int64_t made = between(rng, 1, 9);
  Window window = draw_window(rng, spatial_sizes(x), true);
  Shape shape = {channels, made};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  if (element_count(shape) > most_elements) return false;
  const std::int64_t terms = channels / groups;
  std::vector<std::string> inputs = {x.name,
                                     draft.weight(shape, 1.0 / std::sqrt(static_cast<double>(terms))).name};
  if (happens(rng, 2)) inputs.push_back(draft.weight({made * groups}).name);
  if (groups > 1) window.attributes.push_back({"group", groups});
  if (happens(rng, 3)) {
    std::vector<std::int64_t> more;
    for (const std::int64_t step : window.steps) more.push_back(between(rng, 0, step - 1));
    window.attributes.push_back({"output_padding", more});
  }
  return draft.node("ConvTranspose", inputs, window.attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 20, .name = "transposed_convolution", .weight = 3, .append = append});
}

}  // namespace driftscope::hunt_operators::transposed_convolution
