// How what judges/long_sums.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/verify/finding.hpp"

namespace driftscope::findings::long_sums {
namespace {

std::string rounded_factors_text(const Finding& finding) {
  return fmt::format("as with {} rounded to {}: the errors of {} elements follow it with correlation {:.3f}",
                     finding.word("which"), finding.word("format"), finding.number("elements"),
                     finding.number("correlation"));
}

std::string large_errors_text(const Finding& finding) {
  return fmt::format(
      "its errors are {:.0f} × as large as those of float32 sums (root mean square, the least accurate of {} "
      "orders), as with a narrower type",
      finding.number("times"), finding.number("orders"));
}

}  // namespace

void add_to(FindingTable& table) {
  table.add({"precision.rounded_inputs", rounded_factors_text});
  table.add({"precision.large_errors", large_errors_text});
}

}  // namespace driftscope::findings::long_sums
