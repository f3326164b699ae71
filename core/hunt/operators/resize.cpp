// Resize and Upsample's heirs: by scales or to sizes, in any coordinates, channels first or last.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::resize {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(one_of(rng, {3, 4, 4, 4, 5}));
  const bool channels_last = happens(rng, 4);
  std::vector<float> scales;
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool spatial = channels_last ? axis >= 1 && axis < x.rank() - 1 : axis >= 2;
    const float scale = spatial ? one_of(rng, {1.0f, 2.0f, 3.0f, 0.5f, 1.5f, 0.7f, 2.25f}) : 1.0f;
    scales.push_back(scale);
    const auto size = static_cast<float>(x.size(static_cast<std::size_t>(axis)));
    sizes.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(scale * size)));
  }
  const std::string mode = one_of(rng, {"nearest", "nearest", "linear", "linear", "cubic"});
  std::vector<Attribute> attributes = {
      {"mode", mode},
      {"coordinate_transformation_mode",
       std::string(one_of(rng, {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                "half_pixel_symmetric"}))}};
  if (mode == "nearest")
    attributes.push_back({"nearest_mode", std::string(one_of(rng, {"round_prefer_floor", "round_prefer_ceil",
                                                                   "floor", "ceil"}))});
  if (mode == "cubic" && happens(rng, 2)) attributes.push_back({"cubic_coeff_a", -0.5f});
  if (mode != "nearest" && happens(rng, 4)) attributes.push_back({"exclude_outside", std::int64_t{1}});
  if (mode != "nearest" && happens(rng, 4)) attributes.push_back({"antialias", std::int64_t{1}});
  if (happens(rng, 2)) return draft.node("Resize", {x.name, "", draft.constant(scales).name}, attributes);
  return draft.node("Resize", {x.name, "", "", draft.constant(sizes).name}, attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 110, .name = "resize", .weight = 4, .append = append});
}

}  // namespace driftscope::hunt_operators::resize
