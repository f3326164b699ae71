// Noise of three kinds, as DeepHunter has them: additive (1), salt and pepper (2), multiplicative (3). Its
// code gives standard deviations and salt for pixels in [0, 1] to pixels up to 255, where they do nothing or
// wrap round; here they are for 255, and so small that additive noise mostly stays within the limit on
// mutations.
#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::noise {
namespace {

StoredPicture apply(const StoredPicture& picture, const StoredPicture&, double parameter, Rng rng) {
  StoredPicture result = picture;
  if (parameter == 2) {
    // 0.4 % of the values, half of them white.
    const std::uint64_t changed = result.pixels.size() / 250 + 1;
    for (std::uint64_t i = 0; i < changed; ++i)
      result.pixels[rng.below(result.pixels.size())] = i % 2 == 0 ? 255 : 0;
    return result;
  }
  for (std::uint8_t& pixel : result.pixels) {
    const double normal = static_cast<double>(rng.normal());
    pixel = pixel_of(parameter == 1 ? pixel + 10 * normal : pixel + 0.05 * pixel * normal);
  }
  return result;
}

}  // namespace

void add_to(MutationTable& table) {
  table.add({.order = 80,
             .name = "noise",
             .kind = MutationKind::values,
             .range = "1: additive, of 10; 2: salt and pepper, 0.4 %; 3: multiplicative, of 5 %",
             .parameter = [](Rng& rng) { return one_of(rng, 1, 1, 3); },
             .apply = apply});
}

}  // namespace driftscope::mutations::noise
