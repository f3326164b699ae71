// Fonts, and ImGui's own colours and spacing. Client: app.
#pragma once

#include <cstddef>
#include <span>

#include "core/gui/imgui/view.hpp"

namespace driftscope::gui {

struct Fonts {
  ImFont* regular = nullptr;
  ImFont* small = nullptr;
};

/// Rebuilds the font atlas. Roboto's digits all have the same width, so that numbers align in columns.
[[nodiscard]] Fonts load_fonts(std::span<const std::byte> font, float scale);

void apply_theme(const Theme& theme, float scale, bool touch);

void draw_logo(const Screen& screen);

}  // namespace driftscope::gui
