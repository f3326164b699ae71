#include "native/host/host.hpp"

namespace driftscope {

std::string_view default_host() { return "node"; }

}  // namespace driftscope
