#include "core/draw/theme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace driftscope {
namespace {

struct NamedColour {
  std::string name;
  Colour colour;
};

std::vector<NamedColour> named_colours(const Theme& theme) {
  std::vector<NamedColour> all = {{"panel", theme.panel},
                                  {"ground", theme.ground},
                                  {"raised", theme.raised},
                                  {"ink", theme.ink},
                                  {"dim", theme.dim},
                                  {"line", theme.line},
                                  {"grid", theme.grid},
                                  {"accent", theme.accent},
                                  {"accent-soft", theme.accent_soft},
                                  {"on-accent", theme.on_accent}};
  for (const auto& row : verdict_rows) all.push_back({std::string(row.name), theme.verdict(row.verdict)});
  for (std::size_t t = 0; t < series_colours; ++t) all.push_back({fmt::format("s{}", t), theme.series(t)});
  return all;
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
          .on_accent = rgb(0xfafffe)};
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
    case Verdict::rounding: return dark ? rgb(0x56b4e9) : rgb(0x0072b2);
    case Verdict::unjudged: return dark ? rgb(0xd6c5ff) : rgb(0x5d4489);
    case Verdict::suspect: return dark ? rgb(0xf5b632) : rgb(0xa66700);
    case Verdict::fault: return dark ? rgb(0xfb7b56) : rgb(0xa82600);
    default: return dim;
  }
}

Colour Theme::series(std::size_t target) const {
  constexpr std::array<Colour, series_colours> on_light = {rgb(0x374444), rgb(0x0273b3), rgb(0xdb671e),
                                                           rgb(0x14936d), rgb(0xa13779), rgb(0x716300),
                                                           rgb(0x2c92c9), rgb(0x62469b)};
  constexpr std::array<Colour, series_colours> on_dark = {rgb(0xcbd0d0), rgb(0x47a0d1), rgb(0xf28b3b),
                                                          rgb(0x45c893), rgb(0xcd75a1), rgb(0xead855),
                                                          rgb(0x95bcfc), rgb(0xb294ff)};
  return dark ? on_dark[target % series_colours] : on_light[target % series_colours];
}

std::string hex_text(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

std::string css_variables(const Theme& theme) {
  std::string text;
  for (const auto& [name, colour] : named_colours(theme)) text += "--" + name + ":" + hex_text(colour) + ";";
  return text;
}

std::string css_colour(Colour colour) {
  static const std::vector<NamedColour> names = named_colours(light_theme());
  colour.a = 255;
  const auto found = std::ranges::find(names, colour, &NamedColour::colour);
  return found == names.end() ? hex_text(colour) : "var(--" + found->name + ")";
}

double luminance(Colour colour) {
  const auto linear = [](std::uint8_t channel) {
    const double c = static_cast<double>(channel) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

}  // namespace driftscope
