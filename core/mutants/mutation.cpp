#include "core/mutants/mutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

double pixel_or_zero(const StoredPicture& picture, std::size_t plane, std::int64_t y, std::int64_t x) {
  if (y < 0 || x < 0 || y >= picture.height || x >= picture.width) return 0.0;
  return picture.pixels[plane + static_cast<std::size_t>(y * picture.width + x)];
}

}  // namespace

void MutationTable::add(const Mutation& mutation) {
  const auto place =
      std::ranges::upper_bound(mutations_, std::pair(mutation.order, mutation.name), {},
                               [](const Mutation& other) { return std::pair(other.order, other.name); });
  mutations_.insert(place, mutation);
}

const Mutation* MutationTable::find(std::string_view name) const {
  const auto place = std::ranges::find(mutations_, name, &Mutation::name);
  return place == mutations_.end() ? nullptr : &*place;
}

Result<StoredPicture> replay(StoredPicture picture, std::span<const MutationStep> chain) {
  StoredPicture reference = picture;
  for (const MutationStep& step : chain) {
    const Mutation* const mutation = mutation_table().find(step.name);
    if (mutation == nullptr) {
      std::vector<std::string_view> names;
      for (const Mutation& one : mutation_table().all()) names.push_back(one.name);
      return bad_input(fmt::format("there is no mutation {}; expected one of: {}", in_quotes(step.name),
                                   fmt::join(names, ", ")));
    }
    picture = mutation->apply(picture, reference, step.parameter, Rng(step.seed));
    if (mutation->kind == MutationKind::affine)
      reference = mutation->apply(reference, reference, step.parameter, Rng(step.seed));
  }
  return picture;
}

std::uint8_t pixel_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

StoredPicture warped(const StoredPicture& picture, const AffineSource& source) {
  StoredPicture result = picture;
  const double cx = static_cast<double>(picture.width - 1) / 2;
  const double cy = static_cast<double>(picture.height - 1) / 2;
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double from_x = static_cast<double>(x) - cx;
      const double from_y = static_cast<double>(y) - cy;
      const double at_x = source.xx * from_x + source.xy * from_y + cx + source.dx;
      const double at_y = source.yx * from_x + source.yy * from_y + cy + source.dy;
      const double left = std::floor(at_x);
      const double top = std::floor(at_y);
      const double right_share = at_x - left;
      const double below_share = at_y - top;
      const auto column = static_cast<std::int64_t>(left);
      const auto row = static_cast<std::int64_t>(top);
      for (std::int64_t c = 0; c < picture.channels; ++c) {
        const std::size_t plane = static_cast<std::size_t>(c) * picture.plane();
        const double above = pixel_or_zero(picture, plane, row, column) * (1 - right_share) +
                             pixel_or_zero(picture, plane, row, column + 1) * right_share;
        const double below = pixel_or_zero(picture, plane, row + 1, column) * (1 - right_share) +
                             pixel_or_zero(picture, plane, row + 1, column + 1) * right_share;
        result.pixels[plane + static_cast<std::size_t>(y * picture.width + x)] =
            pixel_of(above * (1 - below_share) + below * below_share);
      }
    }
  return result;
}

StoredPicture smoothed(const StoredPicture& picture, std::span<const double> weights) {
  StoredPicture result = picture;
  const auto size = static_cast<std::int64_t>(weights.size());
  for (std::int64_t c = 0; c < picture.channels; ++c) {
    const std::size_t plane = static_cast<std::size_t>(c) * picture.plane();
    // Rows first, then columns: the weights of a pixel are products.
    std::vector<double> rows(picture.plane());
    for (std::int64_t y = 0; y < picture.height; ++y)
      for (std::int64_t x = 0; x < picture.width; ++x) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < size; ++k) {
          const std::int64_t at = std::clamp<std::int64_t>(x + k - size / 2, 0, picture.width - 1);
          sum += weights[static_cast<std::size_t>(k)] *
                 picture.pixels[plane + static_cast<std::size_t>(y * picture.width + at)];
        }
        rows[static_cast<std::size_t>(y * picture.width + x)] = sum;
      }
    for (std::int64_t y = 0; y < picture.height; ++y)
      for (std::int64_t x = 0; x < picture.width; ++x) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < size; ++k) {
          const std::int64_t at = std::clamp<std::int64_t>(y + k - size / 2, 0, picture.height - 1);
          sum +=
              weights[static_cast<std::size_t>(k)] * rows[static_cast<std::size_t>(at * picture.width + x)];
        }
        result.pixels[plane + static_cast<std::size_t>(y * picture.width + x)] = pixel_of(sum);
      }
  }
  return result;
}

}  // namespace driftscope
