#include "core/draw/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/draw/theme.hpp"

namespace driftscope {
namespace {

template <std::size_t N>
Colour along(const std::array<Colour, N>& stops, double t) {
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(N - 1);
  const auto below = std::min(static_cast<std::size_t>(place), N - 2);
  return mix(stops[below], stops[below + 1], static_cast<float>(place - static_cast<double>(below)));
}

constexpr std::array<Colour, 17> viridis = {
    rgb(0x440154), rgb(0x48186a), rgb(0x472d7b), rgb(0x424086), rgb(0x3b528b), rgb(0x33638d),
    rgb(0x2c728e), rgb(0x26828e), rgb(0x21918c), rgb(0x1fa088), rgb(0x28ae80), rgb(0x3fbc73),
    rgb(0x5ec962), rgb(0x84d44b), rgb(0xaddc30), rgb(0xd8e219), rgb(0xfde725)};

constexpr std::array<Colour, 9> cool_warm = {rgb(0x3b4cc0), rgb(0x6282ea), rgb(0x8db0fe),
                                             rgb(0xb8d0f9), rgb(0xdddddd), rgb(0xf5c4ad),
                                             rgb(0xf49a7b), rgb(0xde604d), rgb(0xb40426)};

}  // namespace

Colour sequential_colour(double t) { return along(viridis, t); }
Colour diverging_colour(double t) { return along(cool_warm, (t + 1.0) / 2.0); }

std::string css_gradient(Colour (*map)(double), double low) {
  std::string text = "linear-gradient(90deg";
  for (int i = 0; i <= 8; ++i) text += "," + hex_text(map(low + (1.0 - low) * i / 8.0));
  return text + ")";
}

double lightness(Colour colour) {
  const double y = luminance(colour);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

}  // namespace driftscope
