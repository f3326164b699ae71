// Around the centre, counter-clockwise, in DeepHunter's range.
#include "core/mutants/mutation.hpp"
#include "core/numerics/portable_math.hpp"

namespace driftscope::mutations::rotation {

void add_to(MutationTable& table) {
  table.add({.order = 40,
             .name = "rotation",
             .kind = MutationKind::affine,
             .range = "-50 to 49 degrees",
             .parameter = [](Rng& rng) { return one_of(rng, -50, 1, 100); },
             .apply =
                 [](const StoredPicture& picture, const StoredPicture&, double parameter, Rng) {
                   const double angle = parameter * 3.141592653589793 / 180;
                   const double cosine = portable::cos(angle);
                   const double sine = portable::sin(angle);
                   return warped(picture, {.xx = cosine, .xy = -sine, .yx = sine, .yy = cosine});
                 }});
}

}  // namespace driftscope::mutations::rotation
