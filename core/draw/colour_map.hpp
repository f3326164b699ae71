// Perceptually uniform colour maps: equal steps of the value are steps of about equal lightness.
// Clients: heat map, scatter.
#pragma once

#include <string>

#include "core/draw/colour.hpp"

namespace driftscope {

/// Magnitudes, t in [0, 1]: viridis (van der Walt and Smith 2015, CC0), by its values at 17 places.
[[nodiscard]] Colour sequential_colour(double t);

/// Signed values, t in [−1, 1], zero light: blue to red via a light grey (Moreland 2009, "smooth
/// cool-warm"), both ends equally dark.
[[nodiscard]] Colour diverging_colour(double t);

/// For NaN and infinities: colours that neither map contains.
inline constexpr Colour nan_colour = rgb(0xff00ff);
inline constexpr Colour positive_infinity_colour = rgb(0xff7f00);
inline constexpr Colour negative_infinity_colour = rgb(0x00e5ff);

/// The map from its low to its high end, for the style sheet of a legend.
[[nodiscard]] std::string css_gradient(Colour (*map)(double), double low);

/// CIE 1976 L*, 0 to 100.
[[nodiscard]] double lightness(Colour colour);

}  // namespace driftscope
