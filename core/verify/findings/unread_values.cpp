// How what unread_values.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::unread_values {

void add_to(FindingTable& table) {
  table.add({"inputs.unread", [](const Finding& finding) {
               return fmt::format("computed from what {} should be, not from what was recorded of it",
                                  finding.word("value"));
             }});
  table.add({"values.unread", [](const Finding& finding) {
               return fmt::format(
                   "what was recorded is not what {} computed from, which is right for the right value",
                   finding.word("reader"));
             }});
}

}  // namespace driftscope::findings::unread_values
