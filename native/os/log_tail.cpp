#include "native/os/log_tail.hpp"

#include <deque>
#include <fstream>

namespace driftscope {

std::string log_tail(const std::filesystem::path& log) {
  constexpr std::size_t max_lines = 3;
  constexpr std::size_t longest_line = 300;
  std::ifstream file(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    std::string clean;
    for (const char c : line.substr(0, longest_line))
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) clean += c;
    if (clean.empty()) continue;
    lines.push_back(std::move(clean));
    if (lines.size() > max_lines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text.empty() ? "(no output)" : text;
}

}  // namespace driftscope
