// TensorFuzz's only mutation: normal noise on every value, 0.2 for pixels in [-1, 1], and in all within 0.4
// of the original.
#include <algorithm>

#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::white_noise {
namespace {

StoredPicture apply(const StoredPicture& picture, const StoredPicture& reference, double parameter, Rng rng) {
  constexpr double limit = 51;
  StoredPicture result = picture;
  for (std::size_t i = 0; i < result.pixels.size(); ++i) {
    const double original = reference.pixels[i];
    const double changed = picture.pixels[i] + parameter * static_cast<double>(rng.normal());
    result.pixels[i] = pixel_of(std::clamp(changed, original - limit, original + limit));
  }
  return result;
}

}  // namespace

void add_to(MutationTable& table) {
  table.add({.order = 100,
             .name = "white_noise",
             .kind = MutationKind::white_noise,
             .range = "a standard deviation of 25.5, within 51 of the original",
             .parameter = [](Rng&) { return 25.5; },
             .apply = apply});
}

}  // namespace driftscope::mutations::white_noise
