// Text matching in tests: does a message contain this, and how often?
#pragma once

#include <cstddef>
#include <string_view>

namespace driftscope::test {

[[nodiscard]] inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

[[nodiscard]] inline std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace driftscope::test
