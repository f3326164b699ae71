// Down and to the right by the same number of pixels, as DeepHunter.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::translation {

void add_to(MutationTable& table) {
  table.add({.order = 10,
             .name = "translation",
             .kind = MutationKind::affine,
             .range = "-3 to 2 pixels",
             .parameter = [](Rng& rng) { return one_of(rng, -3, 1, 6); },
             .apply = [](const StoredPicture& picture, const StoredPicture&, double parameter,
                         Rng) { return warped(picture, {.dx = -parameter, .dy = -parameter}); }});
}

}  // namespace driftscope::mutations::translation
