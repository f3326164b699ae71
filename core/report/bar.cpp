#include "core/report/bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/draw/theme.hpp"

namespace driftscope {

std::string series_class(std::size_t target) { return fmt::format("s{}", target % series_colours); }

std::string bar(double share, const std::string& css_class) {
  const double clamped = std::isnan(share) ? 0.0 : std::clamp(share, 0.0, 1.0);
  // A class and no style attribute, which the report's own policy forbids.
  return fmt::format("<span class=\"bar {}\" aria-hidden=\"true\"><i class=\"w{}\"></i></span>", css_class,
                     std::lround(100.0 * clamped));
}

}  // namespace driftscope
