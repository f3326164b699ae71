#include "native/cli/gui_program.hpp"

#include <cstdlib>

namespace driftscope {

Result<std::filesystem::path> gui_program() {
  std::error_code error;
  const auto program = std::filesystem::canonical("/proc/self/exe", error).parent_path() / "driftscope-gui";
  if (std::filesystem::exists(program, error)) return program;
  return missing_error(program.string() +
                       " is missing; in a clone tools/demo builds it, or after tools/setup: "
                       "ninja -C build/native driftscope-gui");
}

Status gui_can_open() {
  DRIFTSCOPE_CHECK(gui_program());
  // GLFW 3.3 uses X11, for which Wayland desktops have a server too.
  const char* display = std::getenv("DISPLAY");
  if (display != nullptr && *display != '\0') return {};
  return missing_error(
      "no display: DISPLAY is not set; start it on a desktop, or without one as 'xvfb-run driftscope gui'");
}

}  // namespace driftscope
