// Every pixel plus a number, in DeepHunter's range.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::brightness {

void add_to(MutationTable& table) {
  table.add({.order = 60,
             .name = "brightness",
             .kind = MutationKind::values,
             .range = "-20 to 19",
             .parameter = [](Rng& rng) { return one_of(rng, -20, 1, 40); },
             .apply =
                 [](const StoredPicture& picture, const StoredPicture&, double parameter, Rng) {
                   StoredPicture result = picture;
                   for (std::uint8_t& pixel : result.pixels) pixel = pixel_of(pixel + parameter);
                   return result;
                 }});
}

}  // namespace driftscope::mutations::brightness
