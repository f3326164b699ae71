#include "native/os/node_program.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "native/os/find_program.hpp"

namespace driftscope {

Result<std::filesystem::path> find_node(std::string_view what) {
  const char* named = std::getenv("DRIFTSCOPE_NODE");
  const std::string program = named != nullptr && *named != '\0' ? named : "node";
  std::filesystem::path found = find_program(program);
  if (!found.empty()) return found;
  const std::string why = why_passed_over(program);
  return missing_error(
      fmt::format("{} needs Node, and {}; install it (tools/setup does), or name it with DRIFTSCOPE_NODE",
                  what, why.empty() ? fmt::format("'{}' was not found", program) : why));
}

}  // namespace driftscope
