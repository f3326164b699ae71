#include "native/host/text_lines.hpp"

#include <algorithm>
#include <string_view>

#include "native/os/files.hpp"

namespace driftscope {

Result<std::vector<std::string>> text_lines(const std::string& path) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = std::min(all.find('\n', at), all.size());
    std::string_view line = all.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace driftscope
