// A few values of the picture at random become any value, as DeepHunter.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::pixels {

void add_to(MutationTable& table) {
  table.add({.order = 90,
             .name = "pixels",
             .kind = MutationKind::values,
             .range = "1 to 9 pixels",
             .parameter = [](Rng& rng) { return one_of(rng, 1, 1, 9); },
             .apply =
                 [](const StoredPicture& picture, const StoredPicture&, double parameter, Rng rng) {
                   StoredPicture result = picture;
                   for (int i = 0; i < static_cast<int>(parameter); ++i) {
                     const std::uint64_t place = rng.below(result.pixels.size());
                     result.pixels[place] = static_cast<std::uint8_t>(rng.below(256));
                   }
                   return result;
                 }});
}

}  // namespace driftscope::mutations::pixels
