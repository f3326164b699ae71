#include "native/os/process_start.hpp"

namespace driftscope {

// Node has opened the standard files and ignores the signals of pipes; nothing is mapped.
void guard_process(int /*exit_code*/) {}

}  // namespace driftscope
