// How what judges/wide_sums.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::wide_sums {
namespace {

std::string text(const Finding& finding) {
  return fmt::format(
      "{}; sums in {} have no correct digit here",
      finding.number("used") <= 1.0 ? "within sums in float32" : "beyond what sums in float32 explain",
      finding.word("type"));
}

}  // namespace

void add_to(FindingTable& table) { table.add({"budget.wide_sums", text}); }

}  // namespace driftscope::findings::wide_sums
