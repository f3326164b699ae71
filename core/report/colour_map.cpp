#include "core/report/colour_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {
namespace {

struct OkLab {
  double lightness = 0.0;
  double a = 0.0;
  double b = 0.0;
};

std::uint8_t srgb(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * encoded));
}

// The inverse of the two matrices and the cube root of OKLab.
Rgb rgb_of(const OkLab& lab) {
  const double l = std::pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return {srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

OkLab between(const OkLab& from, const OkLab& to, double t) {
  return {from.lightness + t * (to.lightness - from.lightness), from.a + t * (to.a - from.a),
          from.b + t * (to.b - from.b)};
}

// Lightness is linear from end to end; the middle only bends hue and chroma. All lie within sRGB.
constexpr OkLab dark{0.24, 0.02, -0.12};
constexpr OkLab middle{0.60, -0.09, 0.02};
constexpr OkLab light{0.96, -0.04, 0.11};

constexpr OkLab negative{0.45, -0.02, -0.15};
constexpr OkLab neutral{0.97, 0.0, 0.0};
constexpr OkLab positive{0.45, 0.09, 0.09};

Palette palette_of(Rgb (*colour)(double), double low, double high) {
  Palette palette{};
  for (std::size_t i = 0; i <= last_map_entry; ++i)
    palette[i] = colour(low + (high - low) * static_cast<double>(i) / last_map_entry);
  palette[empty_entry] = empty_colour;
  palette[not_finite_entry] = not_finite_colour;
  return palette;
}

}  // namespace

Rgb sequential_colour(double t) {
  const double x = std::clamp(t, 0.0, 1.0);
  return rgb_of(x < 0.5 ? between(dark, middle, 2.0 * x) : between(middle, light, 2.0 * x - 1.0));
}

Rgb diverging_colour(double t) {
  const double x = std::clamp(t, -1.0, 1.0);
  return rgb_of(x < 0.0 ? between(neutral, negative, -x) : between(neutral, positive, x));
}

const Palette& sequential_palette() {
  static const Palette palette = palette_of(&sequential_colour, 0.0, 1.0);
  return palette;
}

const Palette& diverging_palette() {
  static const Palette palette = palette_of(&diverging_colour, -1.0, 1.0);
  return palette;
}

std::string css_gradient(const Palette& palette) {
  std::string text = "linear-gradient(90deg";
  constexpr std::size_t stops = 8;
  for (std::size_t i = 0; i <= stops; ++i) {
    const Rgb& c = palette[i * last_map_entry / stops];
    text += fmt::format(",#{:02x}{:02x}{:02x}", c.r, c.g, c.b);
  }
  return text + ")";
}

}  // namespace driftscope
