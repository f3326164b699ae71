#include "core/checks/fail_on.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr double largest_percentage = 10000.0;

Error unknown_condition(std::string_view text) {
  return bad_input(
      fmt::format("--fail-on: {} is not a condition; expected fault, suspect, unjudged, nonfinite, "
                  "overflow, top1, bits, unrepeatable, growing or slower:N%, "
                  "several separated by commas, as in --fail-on fault,top1,slower:20%",
                  in_quotes(text)));
}

/// "20%" or "20" → 0.2. (libc++ has no std::from_chars for doubles yet.)
Result<double> percentage(std::string_view text) {
  std::string digits(text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0)));
  const bool plain = digits.size() <= 12 && !digits.empty() && digits != "." &&
                     digits.find_first_not_of("0123456789.") == std::string::npos &&
                     std::ranges::count(digits, '.') <= 1;
  const double value = plain ? std::strtod(digits.c_str(), nullptr) : -1.0;
  if (!plain || value > largest_percentage)
    return bad_input(fmt::format(
        "--fail-on slower:{}: how much slower? Expected a percentage from 0 to {:.0f}, as in slower:20%",
        text, largest_percentage));
  return value / 100.0;
}

Status add_condition(FailOn& conditions, std::string_view text) {
  constexpr std::string_view slower = "slower";
  if (text == "fault") {
    conditions.fault = true;
  } else if (text == "suspect") {
    conditions.suspect = true;
  } else if (text == "unjudged") {
    conditions.unjudged = true;
  } else if (text == "nonfinite") {
    conditions.nonfinite = true;
  } else if (text == "overflow") {
    conditions.overflow = true;
  } else if (text == "top1") {
    conditions.top1 = true;
  } else if (text == "bits") {
    conditions.bits = true;
  } else if (text == "unrepeatable") {
    conditions.unrepeatable = true;
  } else if (text == "growing") {
    conditions.growing = true;
  } else if (text == slower || text.starts_with("slower:")) {
    const auto share = text.substr(std::min(text.size(), slower.size() + 1));
    DRIFTSCOPE_TRY(conditions.slower, percentage(share));
  } else {
    return unknown_condition(text);
  }
  return {};
}

}  // namespace

bool FailOn::counts(Verdict verdict) const {
  switch (concern_of(verdict)) {
    case Concern::open: return unjudged;
    case Concern::possible: return counts_suspects();
    case Concern::certain: return counts_faults();
    default: return false;
  }
}

Result<FailOn> parse_fail_on(std::span<const std::string> texts) {
  FailOn conditions;
  bool any = false;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (true) {
      const std::size_t end = rest.find_first_of(",|");
      const std::string_view one = rest.substr(0, end);
      DRIFTSCOPE_CHECK(add_condition(conditions, one));
      any = true;
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
  if (!any) return unknown_condition("");
  return conditions;
}

std::string fail_on_text(const FailOn& conditions) {
  std::string text;
  const auto add = [&](bool listed, const std::string& name) {
    if (listed) text += (text.empty() ? "" : ",") + name;
  };
  add(conditions.fault, "fault");
  add(conditions.suspect, "suspect");
  add(conditions.unjudged, "unjudged");
  add(conditions.nonfinite, "nonfinite");
  add(conditions.overflow, "overflow");
  add(conditions.top1, "top1");
  add(conditions.bits, "bits");
  add(conditions.unrepeatable, "unrepeatable");
  add(conditions.growing, "growing");
  if (conditions.slower) add(true, fmt::format("slower:{:.4g}%", 100.0 * *conditions.slower));
  return text;
}

}  // namespace driftscope
