// Every colour of the GUI, light and dark: one accent, and the colours that carry meaning.
// Verdicts and targets use those of Okabe and Ito (2008), whose hues remain distinct for colour-blind
// people; wherever colour has a meaning a shape and a word convey it as well.
#pragma once

#include <cstddef>

#include "core/draw/colour.hpp"
#include "core/verify/verify.hpp"

namespace driftscope::gui {

struct Theme {
  bool dark = false;
  Colour ground, panel, raised, ink, dim, line, grid, accent, accent_soft, on_accent;

  /// The colour of a verdict; on `panel` each has a contrast of at least 3:1.
  [[nodiscard]] Colour verdict(Verdict verdict) const;
  /// Lines and bars of one target: the same in every chart.
  [[nodiscard]] Colour series(std::size_t target) const;
};

[[nodiscard]] Theme light_theme();
[[nodiscard]] Theme dark_theme();

/// Contrast of two opaque colours, 1 to 21 (WCAG 2.2, "contrast ratio").
[[nodiscard]] double contrast(Colour a, Colour b);

}  // namespace driftscope::gui
