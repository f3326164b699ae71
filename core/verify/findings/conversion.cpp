// How what convert-check finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::conversion {
namespace {

std::string rewritten_text(const Finding& finding) {
  return fmt::format("written with different operators, {:.3g} ULP", finding.number("max_ulp"));
}

}  // namespace

void add_to(FindingTable& table) { table.add({"conversion.rewritten", rewritten_text}); }

}  // namespace driftscope::findings::conversion
