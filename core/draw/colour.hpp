// Colours: 8 bits per channel, not premultiplied. Clients: theme, painters, heat maps.
#pragma once

#include <cstdint>

namespace driftscope {

struct Colour {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;
  bool operator==(const Colour&) const = default;
};

/// 0xRRGGBB.
[[nodiscard]] constexpr Colour rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8 & 255),
          static_cast<std::uint8_t>(hex & 255), 255};
}

[[nodiscard]] constexpr Colour with_alpha(Colour colour, float alpha) {
  colour.a = static_cast<std::uint8_t>(static_cast<float>(colour.a) * alpha + 0.5f);
  return colour;
}

/// `t` of b over a.
[[nodiscard]] constexpr Colour mix(Colour a, Colour b, float t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    const float value = static_cast<float>(x) + (static_cast<float>(y) - static_cast<float>(x)) * t;
    return static_cast<std::uint8_t>(value + 0.5f);
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

}  // namespace driftscope
