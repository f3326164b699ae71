#include "native/os/own_program.hpp"

#include <cstdlib>

namespace driftscope {

// Both are set by bin.mjs.
std::vector<std::string> own_program() {
  const char* const node = std::getenv("DRIFTSCOPE_NODE");
  const char* const script = std::getenv("DRIFTSCOPE_SCRIPT");
  return {node != nullptr ? node : "node", script != nullptr ? script : ""};
}

}  // namespace driftscope
