#include "core/draw/adversarial_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace driftscope {
namespace {

constexpr std::int64_t max_picture_side = 2048;

/// Where the elements of a pixel are.
struct PixelLayout {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 1;
  std::int64_t pixel_stride = 1;
  std::int64_t channel_stride = 0;
};

std::optional<PixelLayout> layout_of(Shape shape) {
  while (shape.size() > 3 && shape.front() == 1) shape.erase(shape.begin());  // a batch of one
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() != 3) return std::nullopt;
  const auto channels = [](std::int64_t size) { return size == 1 || size == 3; };
  PixelLayout layout;
  if (channels(shape[0])) {
    layout = {shape[2], shape[1], shape[0], 1, shape[1] * shape[2]};
  } else if (channels(shape[2])) {
    layout = {shape[1], shape[0], shape[2], shape[2], 1};
  } else {
    return std::nullopt;
  }
  if (layout.width < 2 || layout.height < 2 || std::max(layout.width, layout.height) > max_picture_side)
    return std::nullopt;
  return layout;
}

std::uint8_t level(double share) {
  return static_cast<std::uint8_t>(
      std::lround(std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * 255.0));
}

template <class At>
Image picture(const PixelLayout& layout, const At& at) {
  Image image{layout.width, layout.height, {}};
  for (std::int64_t pixel = 0; pixel < layout.width * layout.height; ++pixel) {
    const auto channel = [&](std::int64_t c) {
      const std::int64_t of = layout.channels == 1 ? 0 : c;
      return at(static_cast<std::size_t>(pixel * layout.pixel_stride + of * layout.channel_stride));
    };
    image.pixels.push_back({level(channel(0)), level(channel(1)), level(channel(2)), 255});
  }
  return image;
}

}  // namespace

AdversarialPictures adversarial_pictures(std::span<const float> original, std::span<const float> changed,
                                         const Shape& shape) {
  AdversarialPictures made;
  const auto layout = layout_of(shape);
  if (!layout || original.size() != changed.size() ||
      std::ssize(original) != layout->width * layout->height * layout->channels)
    return made;
  double low = 0.0;
  double high = 1.0;
  for (const std::span<const float> values : {original, changed})
    for (const float value : values)
      if (std::isfinite(value)) {
        low = std::min(low, static_cast<double>(value));
        high = std::max(high, static_cast<double>(value));
      }
  const auto difference = [&](std::size_t i) {
    return static_cast<double>(changed[i]) - static_cast<double>(original[i]);
  };
  for (std::size_t i = 0; i < original.size(); ++i)
    if (std::isfinite(difference(i))) made.largest = std::max(made.largest, std::fabs(difference(i)));
  const auto shown = [&](std::span<const float> values) {
    return picture(*layout,
                   [&](std::size_t i) { return (static_cast<double>(values[i]) - low) / (high - low); });
  };
  made.original = shown(original);
  made.changed = shown(changed);
  // Half of the scale for each direction.
  const double half = 0.5 / std::max(made.largest, 1e-30);
  made.difference = picture(*layout, [&](std::size_t i) { return 0.5 + half * difference(i); });
  if (made.largest > 0.0) made.enlarged = half * (high - low);
  return made;
}

}  // namespace driftscope
