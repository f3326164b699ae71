#include "core/draw/verdict_mark.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace driftscope {

void paint_verdict(Painter& painter, Point centre, float size, Verdict verdict, const Theme& theme) {
  const Colour colour = theme.verdict(verdict);
  const float half = size / 2.0f;
  const auto [x, y] = centre;
  const float units = size / painter.unit();
  const float stroke = std::max(1.2f, units * 0.14f);
  switch (verdict) {
    case Verdict::identical:
      for (const float side : {-1.0f, 1.0f})
        painter.line({x - half * 0.75f, y + side * half * 0.36f}, {x + half * 0.75f, y + side * half * 0.36f},
                     colour, stroke);
      return;
    case Verdict::rounding: {
      std::array<Point, 13> wave;
      for (std::size_t i = 0; i < wave.size(); ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(wave.size() - 1);
        wave[i] = {x + (t - 0.5f) * size * 0.9f, y - half * 0.42f * std::sin(t * 6.2831853f)};
      }
      painter.polyline(wave, colour, stroke * 1.25f);
      return;
    }
    case Verdict::unjudged: {
      std::array<Point, 17> ring;
      for (std::size_t i = 0; i < ring.size(); ++i) {
        const float angle = static_cast<float>(i) / static_cast<float>(ring.size() - 1) * 6.2831853f;
        ring[i] = {x + half * 0.8f * std::cos(angle), y + half * 0.8f * std::sin(angle)};
      }
      painter.polyline(ring, colour, stroke);
      return;
    }
    case Verdict::suspect: {
      const std::array<Point, 3> triangle = {Point{x, y - half}, Point{x + half, y + half * 0.85f},
                                             Point{x - half, y + half * 0.85f}};
      painter.polygon(triangle, colour);
      painter.line({x, y - half * 0.35f}, {x, y + half * 0.25f}, theme.panel, stroke);
      painter.disc({x, y + half * 0.56f}, stroke * 0.55f, theme.panel);
      return;
    }
    case Verdict::fault:
      painter.fill({x - half, y - half, x + half, y + half}, colour, units * 0.15f);
      painter.line({x - half * 0.5f, y - half * 0.5f}, {x + half * 0.5f, y + half * 0.5f}, theme.panel,
                   stroke);
      painter.line({x - half * 0.5f, y + half * 0.5f}, {x + half * 0.5f, y - half * 0.5f}, theme.panel,
                   stroke);
      return;
    case Verdict::missing: break;
  }
  painter.disc(centre, std::max(1.0f, units * 0.12f), colour);
}

void paint_marker(Painter& painter, Point centre, float size, std::size_t target, Colour colour) {
  const auto [x, y] = centre;
  const float half = size / 2.0f;
  switch (target % 6) {
    case 0: return painter.disc(centre, half / painter.unit(), colour);
    case 1: return painter.fill({x - half * 0.9f, y - half * 0.9f, x + half * 0.9f, y + half * 0.9f}, colour);
    case 2: {
      const std::array<Point, 3> triangle = {Point{x, y - half * 1.15f},
                                             Point{x + half * 1.1f, y + half * 0.85f},
                                             Point{x - half * 1.1f, y + half * 0.85f}};
      return painter.polygon(triangle, colour);
    }
    case 3: {
      const std::array<Point, 4> diamond = {Point{x, y - half * 1.2f}, Point{x + half * 1.2f, y},
                                            Point{x, y + half * 1.2f}, Point{x - half * 1.2f, y}};
      return painter.polygon(diamond, colour);
    }
    case 4: {
      const std::array<Point, 3> triangle = {Point{x, y + half * 1.15f},
                                             Point{x - half * 1.1f, y - half * 0.85f},
                                             Point{x + half * 1.1f, y - half * 0.85f}};
      return painter.polygon(triangle, colour);
    }
    default:
      painter.line({x - half, y - half}, {x + half, y + half}, colour, 1.8f);
      painter.line({x - half, y + half}, {x + half, y - half}, colour, 1.8f);
  }
}

}  // namespace driftscope
