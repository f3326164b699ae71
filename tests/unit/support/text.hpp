// Text matching in tests: does a message contain this?
#pragma once

#include <string_view>

namespace driftscope::test {

[[nodiscard]] inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace driftscope::test
