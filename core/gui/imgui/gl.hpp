// The few OpenGL calls that the GUI needs in addition to ImGui's backend; the functions themselves come from
// the platform's driftscope_gl.hpp. A context must be current. Clients: the windows.
#pragma once

#include <cstdint>

#include "core/draw/heat_map.hpp"
#include "core/draw/painter.hpp"

namespace driftscope::gui {

/// Sharp when enlarged, smooth when reduced. 0 for an empty image or one too large for GL.
[[nodiscard]] std::uintptr_t make_gl_texture(const Image& image);
void release_gl_texture(std::uintptr_t texture);

void clear_gl(int width, int height, Colour colour);
/// Pixels of the framebuffer, `height` high, whose origin is at the bottom in GL.
[[nodiscard]] Image read_gl_pixels(Box box, int width, int height);

}  // namespace driftscope::gui
