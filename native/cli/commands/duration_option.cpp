#include "native/cli/commands/duration_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace driftscope {

// Not by from_chars, which libc++ lacks for doubles.
Result<double> seconds_of(const std::string& option, const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789."));
  const std::string_view unit = std::string_view(text).substr(digits.size());
  const bool plain = !digits.empty() && digits != "." && std::ranges::count(digits, '.') <= 1;
  const double number = plain ? std::strtod(digits.c_str(), nullptr) : 0.0;
  const double factor = unit == "h" ? 3600.0 : unit == "m" ? 60.0 : unit == "s" || unit.empty() ? 1.0 : 0.0;
  if (factor == 0.0 || !std::isfinite(number) || number <= 0.0)
    return bad_input(fmt::format("{} {}: expected a time such as 15m, 90s or 2h", option, text));
  return number * factor;
}

}  // namespace driftscope
