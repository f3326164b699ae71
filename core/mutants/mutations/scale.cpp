// Larger or smaller around the centre, in DeepHunter's range.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::scale {

void add_to(MutationTable& table) {
  table.add({.order = 20,
             .name = "scale",
             .kind = MutationKind::affine,
             .range = "0.7 to 1.1",
             .parameter = [](Rng& rng) { return one_of(rng, 7, 1, 5) / 10; },
             .apply = [](const StoredPicture& picture, const StoredPicture&, double parameter,
                         Rng) { return warped(picture, {.xx = 1 / parameter, .yy = 1 / parameter}); }});
}

}  // namespace driftscope::mutations::scale
