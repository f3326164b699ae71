#include "native/os/own_program.hpp"

namespace driftscope {

std::vector<std::string> own_program() { return {"/proc/self/exe"}; }

}  // namespace driftscope
