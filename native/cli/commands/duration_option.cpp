#include "native/cli/commands/duration_option.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace driftscope {

Result<double> seconds_of(const std::string& option, const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "h" ? 3600.0 : unit == "m" ? 60.0 : unit == "s" || unit.empty() ? 1.0 : 0.0;
  if (error != std::errc() || factor == 0.0 || !std::isfinite(number) || number <= 0.0)
    return bad_input(fmt::format("{} {}: expected a time such as 15m, 90s or 2h", option, text));
  return number * factor;
}

}  // namespace driftscope
