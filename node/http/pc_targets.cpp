// A page that wants its model to run on the PC means the native program.
#include "native/http/pc_runs.hpp"

namespace driftscope {

std::vector<std::string> pc_targets() { return {}; }

}  // namespace driftscope
