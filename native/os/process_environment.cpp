#include "native/os/process_environment.hpp"

#include <unistd.h>

#include <algorithm>

namespace driftscope {

// The name of one of Windows's own begins with "=".
std::vector<std::string> merged_environment(const ProcessSpec& spec, const std::string& marker) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=', 1));
    if (!spec.environment.contains(name) && std::ranges::find(spec.without, name) == spec.without.end())
      merged.push_back(text);
  }
  for (const auto& [name, value] : spec.environment) merged.push_back(name + "=" + value);
  merged.push_back(marker);
  return merged;
}

}  // namespace driftscope
