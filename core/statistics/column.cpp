#include "core/statistics/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return without_blanks(text.substr(1, text.size() - 2));
}

/// A decimal number; "nan" and "inf" as what they are. Not by from_chars, which libc++ lacks for doubles.
std::optional<double> decimal(std::string_view text) {
  const std::string whole(text);
  std::string lower = whole;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t sign = lower.starts_with('-') || lower.starts_with('+') ? 1 : 0;
  for (const char* const word : {"nan", "inf", "infinity"})
    if (lower.substr(sign) == word) return HUGE_VAL;
  // No hexadecimal ones, blanks or other words that strtod would take.
  if (whole.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(whole.c_str(), &end);
  if (end == whole.c_str() || *end != '\0') return std::nullopt;
  return value;
}

/// Words for "there is no value", which are no headers.
bool says_missing(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "na" || lower == "n/a" || lower == "null" || lower == "none" || lower == "-" ||
         lower == "?";
}

bool can_be_header(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return !std::isdigit(first) && std::string_view("+-.").find(text.front()) == std::string_view::npos &&
         !says_missing(text);
}

}  // namespace

std::string place_in(const Column& column, std::size_t i) {
  return fmt::format("{}:{}", column.path, column.lines[i]);
}

Result<Column> parse_column(std::string_view text, std::string path) {
  Column column;
  column.path = std::move(path);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // of UTF-8, as spreadsheets write it
  std::int64_t line = 0;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    const std::string_view cell = without_blanks(whole.substr(0, whole.find('#')));
    if (cell.empty()) continue;
    const bool leading = std::exchange(first, false);
    if (cell.find_first_of(",;\t") != std::string_view::npos)
      return bad_input(fmt::format(
          "{}:{}: {} has more than one column; expected one number a line, with a point for decimals",
          column.path, line, in_quotes(cell)));
    const std::string_view number = unquoted(cell);
    const std::optional<double> value = number.empty() ? std::nullopt : decimal(number);
    if (!value && leading && !number.empty() && can_be_header(number)) {
      column.name = number;
      continue;
    }
    if (!value)
      return bad_input(fmt::format(
          "{}:{}: {} is not a number; expected one number a line{}", column.path, line, in_quotes(cell),
          says_missing(number) ? "; leave out what was not measured, in both files if they are pairs" : ""));
    if (!std::isfinite(*value))
      return bad_input(fmt::format("{}:{}: {} cannot be ranked or averaged; expected a finite number",
                                   column.path, line, in_quotes(cell)));
    column.values.push_back(*value);
    column.lines.push_back(line);
  }
  if (column.values.empty())
    return bad_input(fmt::format("{}: no numbers; expected one number a line", column.path));
  return column;
}

}  // namespace driftscope
