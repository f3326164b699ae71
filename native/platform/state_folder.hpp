// Where the program keeps what must outlive it and cannot be fetched again: $XDG_STATE_HOME/driftscope, else
// ~/.local/state/driftscope. Client: the hub.
#pragma once

#include <filesystem>

namespace driftscope {

/// Empty where the environment names neither. It need not exist.
[[nodiscard]] std::filesystem::path state_folder();

}  // namespace driftscope
