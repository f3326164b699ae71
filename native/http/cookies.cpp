#include "native/http/cookies.hpp"

namespace driftscope {

std::string cookie(const std::vector<std::string>& headers, std::string_view name) {
  for (std::string_view header : headers)
    while (!header.empty()) {
      const std::size_t end = header.find(';');
      std::string_view pair = header.substr(0, end);
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
        return std::string(pair.substr(name.size() + 1));
      if (end == std::string_view::npos) break;
      header.remove_prefix(end + 1);
    }
  return {};
}

}  // namespace driftscope
