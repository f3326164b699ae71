#include "core/base/json_keys.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace driftscope {
namespace {

using nlohmann::ordered_json;

/// An object that has a key which its counterpart does not have.
struct UnknownKey {
  std::string path;
  const ordered_json* known = nullptr;
};

UnknownKey find_unknown(const ordered_json& given, const ordered_json& known, const std::string& path) {
  if (given.is_array() && known.is_array() && !known.empty())
    for (std::size_t i = 0; i < given.size(); ++i)
      if (auto found = find_unknown(given[i], known[0], fmt::format("{}[{}]", path, i)); found.known)
        return found;
  if (!given.is_object() || !known.is_object()) return {};
  for (const auto& [key, value] : given.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    const auto counterpart = known.find(key);
    if (counterpart == known.end()) return {here, &known};
    if (auto found = find_unknown(value, *counterpart, here); found.known) return found;
  }
  return {};
}

}  // namespace

Status check_keys(const ordered_json& given, const ordered_json& known) {
  const UnknownKey unknown = find_unknown(given, known, "");
  if (unknown.known == nullptr) return {};
  std::vector<std::string> keys;
  for (const auto& [key, value] : unknown.known->items()) keys.push_back(key);
  return bad_input(
      fmt::format("{}: there is no such field; expected {}", unknown.path, fmt::join(keys, ", ")));
}

}  // namespace driftscope
