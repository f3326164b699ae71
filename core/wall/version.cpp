#include "core/wall/version.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace driftscope::wall {
namespace {

constexpr std::size_t most_numbers = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Of a name, in which digits are no version.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// A digit that begins a word: not those of "x86_64" or "webgl2".
std::size_t version_start(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (is_digit(text[i]) && (i == 0 || !(is_letter(text[i - 1]) || is_digit(text[i - 1])))) return i;
  return text.size();
}

std::uint64_t read_number(std::string_view text, std::size_t& i) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    number = number > (most - digit) / 10 ? most : number * 10 + digit;
  }
  return number;
}

/// The end of the dotted number that begins at `i`; nothing where it has no dot.
std::optional<std::size_t> dotted_end(std::string_view text, std::size_t i) {
  bool dotted = false;
  while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) {
    dotted = dotted || (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]));
    ++i;
  }
  return dotted ? std::optional(i) : std::nullopt;
}

}  // namespace

std::vector<std::uint64_t> version_numbers(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  std::size_t i = version_start(text);
  while (i < text.size() && is_digit(text[i]) && numbers.size() < most_numbers) {
    numbers.push_back(read_number(text, i));
    if (i < text.size() && text[i] == '.') ++i;
  }
  return numbers;
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  std::vector<std::uint64_t> left = version_numbers(a);
  std::vector<std::uint64_t> right = version_numbers(b);
  if (left.empty() != right.empty())
    return left.empty() ? std::strong_ordering::less : std::strong_ordering::greater;
  const std::size_t length = std::max(left.size(), right.size());
  left.resize(length);
  right.resize(length);
  // Not <=>, which some standard libraries lack for vectors.
  if (left == right) return std::strong_ordering::equal;
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::string short_version(std::string_view text) {
  const std::size_t start = version_start(text);
  const std::vector<std::uint64_t> numbers = version_numbers(text);
  if (numbers.empty()) return std::string(text);
  std::string result(text.substr(0, start));
  result += std::to_string(numbers[0]);
  if (numbers.size() > 1 && numbers[1] != 0) result += "." + std::to_string(numbers[1]);
  return result;
}

std::string without_versions(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = is_digit(text[i]) && (i == 0 || !is_digit(text[i - 1]));
    const auto end = begins ? dotted_end(text, i) : std::nullopt;
    if (end) {
      i = *end;
    } else {
      result += text[i++];
    }
  }
  return result;
}

}  // namespace driftscope::wall
