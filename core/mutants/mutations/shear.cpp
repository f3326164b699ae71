// Rows move sideways in proportion to their distance from the middle, in DeepHunter's range (whose shear is
// around the upper left corner, so that it also moves the picture out of sight).
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::shear {

void add_to(MutationTable& table) {
  table.add({.order = 30,
             .name = "shear",
             .kind = MutationKind::affine,
             .range = "-0.6 to 0.5",
             .parameter = [](Rng& rng) { return one_of(rng, -6, 1, 12) / 10; },
             .apply = [](const StoredPicture& picture, const StoredPicture&, double parameter,
                         Rng) { return warped(picture, {.xy = parameter}); }});
}

}  // namespace driftscope::mutations::shear
