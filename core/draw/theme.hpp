// Every colour of the window and of the report, light and dark: one accent, and the colours that carry
// meaning. Verdicts and the first six targets remain distinct for people who see two of three primary colours
// (tests/unit/draw/theme_test.cpp); wherever colour has a meaning a shape and a word convey it as well.
#pragma once

#include <cstddef>
#include <string>

#include "core/draw/colour.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {

struct Theme {
  bool dark = false;
  Colour ground, panel, raised, ink, dim, line, grid, accent, accent_soft, on_accent;

  /// The colour of a verdict, for texts as well: on `panel` each has a contrast of at least 4.5:1.
  [[nodiscard]] Colour verdict(Verdict verdict) const;
  /// Lines and bars of one target: the same in every chart. At least 3:1.
  [[nodiscard]] Colour series(std::size_t target) const;
};

[[nodiscard]] Theme light_theme();
[[nodiscard]] Theme dark_theme();

/// How many targets have colours of their own.
inline constexpr std::size_t series_colours = 8;

/// "#rrggbb", without the opacity.
[[nodiscard]] std::string hex_text(Colour colour);
/// All of them as variables of a style sheet: "--ink:#17201f;…;--fault:#a82600;…;--s0:#374444;…".
[[nodiscard]] std::string css_variables(const Theme& theme);
/// A colour of the light theme as what it is there, "var(--ink)", so that a page can be light and dark; any
/// other one as "#rrggbb".
[[nodiscard]] std::string css_colour(Colour colour);

/// Of an sRGB colour, 0 to 1 (WCAG 2.2, "relative luminance"; Y of CIE 1931).
[[nodiscard]] double luminance(Colour colour);
/// Contrast of two opaque colours, 1 to 21 (WCAG 2.2, "contrast ratio").
[[nodiscard]] double contrast(Colour a, Colour b);

}  // namespace driftscope
