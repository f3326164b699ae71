#include "core/draw/theme.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace driftscope::gui {
namespace {

double luminance(Colour colour) {
  const auto linear = [](std::uint8_t channel) {
    const double c = static_cast<double>(channel) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

}  // namespace

Theme light_theme() {
  return {.dark = false,
          .ground = rgb(0xeef1f1),
          .panel = rgb(0xffffff),
          .raised = rgb(0xf5f7f7),
          .ink = rgb(0x17201f),
          .dim = rgb(0x5b6866),
          .line = rgb(0xd5dcdb),
          .grid = rgb(0xe8ecec),
          .accent = rgb(0x0f766e),
          .accent_soft = rgb(0xd3ebe8),
          .on_accent = rgb(0xffffff)};
}

Theme dark_theme() {
  return {.dark = true,
          .ground = rgb(0x0d1211),
          .panel = rgb(0x151b1a),
          .raised = rgb(0x1c2423),
          .ink = rgb(0xe3e9e8),
          .dim = rgb(0x93a19f),
          .line = rgb(0x2d3836),
          .grid = rgb(0x222b2a),
          .accent = rgb(0x3fbcae),
          .accent_soft = rgb(0x1d403c),
          .on_accent = rgb(0x06211e)};
}

Colour Theme::verdict(Verdict verdict) const {
  switch (verdict) {
    case Verdict::identical: return dark ? rgb(0x93a19f) : rgb(0x5b6866);
    case Verdict::rounding: return dark ? rgb(0x5db4e6) : rgb(0x0072b2);
    case Verdict::unjudged: return dark ? rgb(0xb8a2ec) : rgb(0x6a4fa0);
    case Verdict::suspect: return dark ? rgb(0xf0b429) : rgb(0xa86400);
    case Verdict::fault: return dark ? rgb(0xff7a52) : rgb(0xc0390b);
    case Verdict::missing: break;
  }
  return dark ? rgb(0x6f7d7b) : rgb(0x7d8987);
}

Colour Theme::series(std::size_t target) const {
  constexpr std::array<Colour, 8> on_light = {rgb(0x3d4a48), rgb(0x0072b2), rgb(0xc55a00), rgb(0x008763),
                                              rgb(0xa9447f), rgb(0x7a6a00), rgb(0x2a8fc4), rgb(0x6b4fa3)};
  constexpr std::array<Colour, 8> on_dark = {rgb(0xc3cdcb), rgb(0x56b4e9), rgb(0xf08b3a), rgb(0x35c69a),
                                             rgb(0xe08cc0), rgb(0xe6d84a), rgb(0x8fb8ff), rgb(0xb79df0)};
  return dark ? on_dark[target % on_dark.size()] : on_light[target % on_light.size()];
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

}  // namespace driftscope::gui
