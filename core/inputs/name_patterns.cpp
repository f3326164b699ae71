#include "core/inputs/name_patterns.hpp"

namespace driftscope {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  // A star takes as little as it can, and one more whenever the rest does not fit.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool matches_any(std::string_view patterns, std::string_view text) {
  while (!patterns.empty()) {
    const std::size_t space = patterns.find(' ');
    if (matches(patterns.substr(0, space), text)) return true;
    if (space == std::string_view::npos) break;
    patterns.remove_prefix(space + 1);
  }
  return false;
}

}  // namespace driftscope
