// Names that are each used once. Clients: what makes names for the values of a graph.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace driftscope {

class UniqueNames {
 public:
  /// Marks a name as used; whether it was not before.
  bool insert(std::string_view name) { return used_.emplace(name).second; }

  /// `wanted`, or the first of "wanted_2", "wanted_3", … that is not used; marks it. A million requests for
  /// one name take a million steps.
  [[nodiscard]] std::string take(std::string_view wanted);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::size_t> next_;  // of names that were wanted twice: the next suffix
};

}  // namespace driftscope
