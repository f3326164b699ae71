// The symbol of a verdict, drawn the same everywhere: shape first, colour second.
// Clients: the charts and views.
#pragma once

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

/// identical: two bars; rounding: a wave; unjudged: a ring; suspect: a triangle with an opening; fault: a
/// cross on a filled square; missing: a small dot. `size` is the side of the square that it fills.
void paint_verdict(Painter& painter, Point centre, float size, Verdict verdict, const Theme& theme);

/// The marker of a target in charts: disc, square, triangle, diamond, triangle downwards, cross; then again,
/// in other colours (there are eight).
void paint_marker(Painter& painter, Point centre, float size, std::size_t target, Colour colour);

}  // namespace driftscope
