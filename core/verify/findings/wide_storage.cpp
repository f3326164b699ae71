// How what judges/wide_storage.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::wide_storage {

void add_to(FindingTable& table) {
  table.add({"storage.wide", [](const Finding& finding) {
               return fmt::format("computed from values before they were rounded to {}, from {} on",
                                  finding.word("type"), finding.word("from"));
             }});
}

}  // namespace driftscope::findings::wide_storage
