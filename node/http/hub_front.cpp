// Node's TLS is out of reach for the program in WebAssembly.
#include "native/http/hub_front.hpp"

namespace driftscope {

Result<std::unique_ptr<HubFront>> HubFront::open(const HubFrontOptions& /*options*/) {
  return missing_error(
      "--listen needs the native program, which has TLS; a proxy of yours (--public) works with this one");
}

}  // namespace driftscope
