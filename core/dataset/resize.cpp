#include "core/dataset/resize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/dataset/description_fields.hpp"

namespace driftscope {
namespace {

constexpr int weight_bits = 22;

/// What one output pixel reads along an axis: weights of the inputs from `first` on.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> make_taps(std::int64_t in, std::int64_t out, bool antialias) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = antialias ? std::max(1.0, scale) : 1.0;
  const double inverse = 1.0 / support;
  std::vector<Taps> taps(static_cast<std::size_t>(out));
  std::vector<double> weights;
  for (std::int64_t x = 0; x < out; ++x) {
    Taps& tap = taps[static_cast<std::size_t>(x)];
    const double centre = (static_cast<double>(x) + 0.5) * scale;
    tap.first = std::max(std::int64_t{0}, static_cast<std::int64_t>(centre - support + 0.5));
    const std::int64_t end = std::min(in, static_cast<std::int64_t>(centre + support + 0.5));
    weights.clear();
    double sum = 0.0;
    for (std::int64_t i = tap.first; i < end; ++i) {
      const double distance = std::fabs((static_cast<double>(i) - centre + 0.5) * inverse);
      weights.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
      sum += weights.back();
    }
    for (const double weight : weights)
      tap.weights.push_back(
          static_cast<std::int32_t>(0.5 + weight / sum * static_cast<double>(1 << weight_bits)));
  }
  return taps;
}

/// Resizes the axis of picture[outer][axis][inner] that has `in` pixels; the axis's stride is `inner`.
std::vector<std::uint8_t> resize_axis(const std::vector<std::uint8_t>& from, std::int64_t in,
                                      std::int64_t out, std::int64_t inner, bool antialias) {
  const std::vector<Taps> taps = make_taps(in, out, antialias);
  const auto stride = static_cast<std::size_t>(inner);
  const std::size_t outer = from.size() / (static_cast<std::size_t>(in) * stride);
  std::vector<std::uint8_t> to(outer * static_cast<std::size_t>(out) * stride);
  std::uint8_t* write = to.data();
  std::vector<std::int64_t> sums(stride);
  for (std::size_t block = 0; block < outer; ++block)
    for (const Taps& tap : taps) {
      const std::uint8_t* read =
          from.data() + (block * static_cast<std::size_t>(in) + static_cast<std::size_t>(tap.first)) * stride;
      std::fill(sums.begin(), sums.end(), std::int64_t{1} << (weight_bits - 1));
      for (const std::int32_t weight : tap.weights) {
        for (std::size_t k = 0; k < stride; ++k) sums[k] += std::int64_t{weight} * read[k];
        read += stride;
      }
      for (const std::int64_t sum : sums)
        *write++ = static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> weight_bits, 0, 255));
    }
  return to;
}

}  // namespace

Result<Picture> resize_bilinear(const Picture& picture, std::int64_t height, std::int64_t width,
                                bool antialias) {
  const auto fits = [](std::int64_t side) { return side > 0 && side <= largest_sample_side; };
  // Between the passes the picture is as wide as the result and as high as the original.
  if (!fits(height) || !fits(width) || std::max(height, picture.height) * width > max_picture_pixels)
    return limit_error(
        fmt::format("a picture of {} would be resized to {}x{}; sides may be 1 to {}, "
                    "with at most {} pixels in the intermediate result",
                    picture.text(), height, width, largest_sample_side, max_picture_pixels));
  Picture result{.channels = picture.channels, .height = height, .width = width, .pixels = {}};
  const auto& rows =
      picture.width == width
          ? picture.pixels
          : (result.pixels = resize_axis(picture.pixels, picture.width, width, picture.channels, antialias));
  if (picture.height != height) {
    result.pixels = resize_axis(rows, picture.height, height, width * picture.channels, antialias);
  } else if (picture.width == width) {
    result.pixels = picture.pixels;
  }
  return result;
}

Result<Picture> crop_center(const Picture& picture, std::int64_t height, std::int64_t width) {
  if (picture.height < height || picture.width < width)
    return bad_input(
        fmt::format("the picture is {} before cropping, smaller than {}x{}", picture.text(), height, width));
  // Python's round(): a half goes to the even neighbour.
  const auto start = [](std::int64_t room) { return room / 2 + (room % 4 == 3 ? 1 : 0); };
  const std::int64_t top = start(picture.height - height);
  const std::int64_t left = start(picture.width - width);
  Picture result{.channels = picture.channels, .height = height, .width = width, .pixels = {}};
  const auto row_bytes = static_cast<std::size_t>(width * picture.channels);
  for (std::int64_t y = 0; y < height; ++y) {
    const auto begin = picture.pixels.begin() + ((top + y) * picture.width + left) * picture.channels;
    result.pixels.insert(result.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(row_bytes));
  }
  return result;
}

}  // namespace driftscope
