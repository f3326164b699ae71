// The TrueType font of the GUI, embedded by the build (cmake/imgui.cmake). Clients: the windows.
#pragma once

#include <cstddef>
#include <span>

namespace driftscope::gui {

[[nodiscard]] std::span<const std::byte> default_font();

}  // namespace driftscope::gui
