#include "core/base/unique_names.hpp"

namespace driftscope {

std::string UniqueNames::take(std::string_view wanted) {
  std::string name(wanted);
  if (used_.insert(name).second) return name;
  std::size_t& suffix = next_.try_emplace(name, 2).first->second;
  const std::string stem = name + "_";
  do name = stem + std::to_string(suffix++);
  while (!used_.insert(name).second);
  return name;
}

}  // namespace driftscope
