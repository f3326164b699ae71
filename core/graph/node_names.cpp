#include "core/graph/node_names.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace driftscope {

std::vector<std::string> unique_node_names(const std::vector<ModelNode>& nodes) {
  std::vector<std::string> names(nodes.size());
  std::unordered_set<std::string> taken;
  // Given names first, so that a made-up one never takes the name that a later node has in the file.
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].name.empty() && taken.insert(nodes[i].name).second) names[i] = nodes[i].name;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!names[i].empty()) continue;
    const std::string base = fmt::format("{}_{}", nodes[i].op_type, i);
    names[i] = base;
    for (int suffix = 2; !taken.insert(names[i]).second; ++suffix)
      names[i] = fmt::format("{}_{}", base, suffix);
  }
  return names;
}

}  // namespace driftscope
