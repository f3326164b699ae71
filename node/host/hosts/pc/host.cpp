// The host "pc" is the native program: not here.
#include "native/host/host.hpp"

namespace driftscope::hosts::pc {

void add_to(HostTable& /*table*/) {}

}  // namespace driftscope::hosts::pc
