#include "native/platform/state_folder.hpp"

#include <cstdlib>

namespace driftscope {

namespace fs = std::filesystem;

fs::path state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0')
    return fs::path(state) / "driftscope";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) / ".local" / "state" / "driftscope" : fs::path();
}

}  // namespace driftscope
