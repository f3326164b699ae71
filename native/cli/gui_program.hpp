// The GUI's program, in the same folder as this one. Clients: the commands gui and doctor.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace driftscope {

/// driftscope-gui; the error says why it is unavailable.
[[nodiscard]] Result<std::filesystem::path> gui_program();

/// Whether it can open a window: it is installed, and there is a display. The error says what is missing.
[[nodiscard]] Status gui_can_open();

}  // namespace driftscope
