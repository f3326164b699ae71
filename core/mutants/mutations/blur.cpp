// Smoothing: means over squares of 3 to 5 pixels, Gaussians over 3 to 7, medians over 3 and 5, as DeepHunter
// numbers them (1 to 8; its 9th, bilateral, keeps edges and hardly changes such small pictures).
#include <algorithm>
#include <array>
#include <vector>

#include "core/mutants/mutation.hpp"

namespace driftscope::mutations::blur {
namespace {

StoredPicture by_median(const StoredPicture& picture, std::int64_t reach) {
  StoredPicture result = picture;
  std::vector<std::uint8_t> around;
  for (std::int64_t c = 0; c < picture.channels; ++c)
    for (std::int64_t y = 0; y < picture.height; ++y)
      for (std::int64_t x = 0; x < picture.width; ++x) {
        const std::size_t plane = static_cast<std::size_t>(c) * picture.plane();
        around.clear();
        for (std::int64_t dy = -reach; dy <= reach; ++dy)
          for (std::int64_t dx = -reach; dx <= reach; ++dx) {
            const std::int64_t row = std::clamp<std::int64_t>(y + dy, 0, picture.height - 1);
            const std::int64_t column = std::clamp<std::int64_t>(x + dx, 0, picture.width - 1);
            around.push_back(picture.pixels[plane + static_cast<std::size_t>(row * picture.width + column)]);
          }
        const auto middle = around.begin() + std::ssize(around) / 2;
        std::ranges::nth_element(around, middle);
        result.pixels[plane + static_cast<std::size_t>(y * picture.width + x)] = *middle;
      }
  return result;
}

StoredPicture apply(const StoredPicture& picture, const StoredPicture&, double parameter, Rng) {
  const int kind = static_cast<int>(parameter);
  if (kind <= 3) {
    const std::vector<double> mean(static_cast<std::size_t>(kind + 2), 1.0 / (kind + 2));
    return smoothed(picture, mean);
  }
  if (kind >= 7) return by_median(picture, kind - 6);
  // Binomial weights, which OpenCV uses for Gaussians of these sizes.
  static constexpr std::array three = {0.25, 0.5, 0.25};
  static constexpr std::array five = {0.0625, 0.25, 0.375, 0.25, 0.0625};
  static constexpr std::array seven = {0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125};
  if (kind == 4) return smoothed(picture, three);
  return kind == 5 ? smoothed(picture, five) : smoothed(picture, seven);
}

}  // namespace

void add_to(MutationTable& table) {
  table.add({.order = 70,
             .name = "blur",
             .kind = MutationKind::values,
             .range = "1 to 8: mean of 3, 4, 5; Gaussian of 3, 5, 7; median of 3, 5",
             .parameter = [](Rng& rng) { return one_of(rng, 1, 1, 8); },
             .apply = apply});
}

}  // namespace driftscope::mutations::blur
