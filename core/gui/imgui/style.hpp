// Fonts and ImGui's own colours and distances. Client: app.
#pragma once

#include <cstddef>
#include <span>

#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

struct Fonts {
  ImFont* regular = nullptr;
  ImFont* small = nullptr;
};

/// Fills the font atlas again. Roboto's figures all have one width, so that numbers stand in columns.
[[nodiscard]] Fonts load_fonts(std::span<const std::byte> font, float scale);

void apply_theme(const Theme& theme, float scale, bool touch);

void draw_logo(const Screen& screen);

}  // namespace driftscope::gui
