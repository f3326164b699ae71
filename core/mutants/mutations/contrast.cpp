// Every pixel times a factor, in DeepHunter's range.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::contrast {

void add_to(MutationTable& table) {
  table.add({.order = 50,
             .name = "contrast",
             .kind = MutationKind::values,
             .range = "0.5 to 1.2",
             .parameter = [](Rng& rng) { return one_of(rng, 5, 1, 8) / 10; },
             .apply =
                 [](const StoredPicture& picture, const StoredPicture&, double parameter, Rng) {
                   StoredPicture result = picture;
                   for (std::uint8_t& pixel : result.pixels) pixel = pixel_of(pixel * parameter);
                   return result;
                 }});
}

}  // namespace driftscope::mutations::contrast
