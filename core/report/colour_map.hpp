// Perceptually uniform colour maps: equal steps of the value are equal steps of lightness in OKLab
// (Ottosson 2020, https://bottosson.github.io/posts/oklab/). Both can be read without distinguishing red from
// green. Clients: heat_map, the report's legends.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace driftscope {

struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
};

/// For magnitudes, t in [0, 1]: dark blue, green, light yellow; lightness grows evenly.
[[nodiscard]] Rgb sequential_colour(double t);

/// For signed differences, t in [−1, 1]: blue, near white at 0, orange; as light on both sides.
[[nodiscard]] Rgb diverging_colour(double t);

/// For values that are not finite.
inline constexpr Rgb not_finite_colour{220, 0, 130};

/// For cells after the last element of a wrapped vector.
inline constexpr Rgb empty_colour{205, 208, 212};

/// 0 to 253 run through a map from its low to its high end.
inline constexpr std::uint8_t last_map_entry = 253;
inline constexpr std::uint8_t empty_entry = 254;
inline constexpr std::uint8_t not_finite_entry = 255;
using Palette = std::array<Rgb, 256>;
[[nodiscard]] const Palette& sequential_palette();
[[nodiscard]] const Palette& diverging_palette();

/// "linear-gradient(90deg,#…,…)" for a legend.
[[nodiscard]] std::string css_gradient(const Palette& palette);

}  // namespace driftscope
