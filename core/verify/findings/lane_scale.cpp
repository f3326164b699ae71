// How what judges/lane_scale.cpp finds reads.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <cmath>

#include "core/verify/finding.hpp"

namespace driftscope::findings::lane_scale {
namespace {

std::string text(const Finding& finding) {
  const double slope = finding.number("slope");
  const std::string_view mistake = finding.word("mistake");
  return fmt::format(
      "its lanes are scaled by {:.2g} too {}{}{}, more than any float32 variance of them explains",
      std::fabs(slope), slope < 0.0 ? "little" : "much", mistake.empty() ? "" : ", as with ", mistake);
}

}  // namespace

void add_to(FindingTable& table) { table.add({"parameter.lane_scale", text}); }

}  // namespace driftscope::findings::lane_scale
