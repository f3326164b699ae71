// The TrueType font of the GUI, embedded by the build (cmake/imgui.cmake). Clients: the windows, style.
#pragma once

#include <cstddef>
#include <span>

namespace driftscope::gui {

[[nodiscard]] std::span<const std::byte> default_font();
/// The characters that it has: pairs of first and last, then 0.
[[nodiscard]] std::span<const unsigned short> font_ranges();

}  // namespace driftscope::gui
