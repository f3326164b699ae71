// Which names members of an archive have: relative paths that lead nowhere else, and can be printed.
// Clients: archive_reader, archive_writer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace driftscope {

inline constexpr std::size_t longest_member_name = 1024;

[[nodiscard]] inline bool is_member_name(std::string_view name) {
  if (name.empty() || name.size() > longest_member_name) return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '\x7f') return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace driftscope
