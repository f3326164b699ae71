// The GUI's program, in the same folder as this one. Clients: the commands gui and doctor.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace driftscope {

/// driftscope-gui; an error says why it is not there.
[[nodiscard]] Result<std::filesystem::path> gui_program();

/// Whether it could open a window: it is there, and there is a display. The error says what is missing.
[[nodiscard]] Status gui_can_open();

}  // namespace driftscope
