#include "core/results/layer_names.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

/// How many leading scopes all names of more than one have in common, leaving each at least its last.
std::size_t shared_scopes(const std::vector<std::vector<std::string>>& names) {
  const std::vector<std::string>* first = nullptr;
  std::size_t shared = 0;
  std::size_t deep = 0;
  for (const auto& scopes : names) {
    if (scopes.size() < 2) continue;
    ++deep;
    if (first == nullptr) {
      first = &scopes;
      shared = scopes.size() - 1;
      continue;
    }
    const std::size_t max_shared = std::min(shared, scopes.size() - 1);
    shared = 0;
    while (shared < max_shared && scopes[shared] == (*first)[shared]) ++shared;
  }
  return deep < 3 ? 0 : shared;
}

}  // namespace

std::vector<std::string> scopes_of(std::string_view name) {
  std::vector<std::string> scopes;
  const auto repeats = [](const std::string& scope, std::string_view next) {
    return next.starts_with(scope) && (next.size() == scope.size() || next[scope.size()] == '.');
  };
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view scope = name.substr(begin, end - begin);
    if (!scope.empty()) {
      if (!scopes.empty() && repeats(scopes.back(), scope)) scopes.pop_back();
      scopes.emplace_back(scope);
    }
    begin = end + 1;
  }
  if (scopes.empty()) scopes.emplace_back(name);
  return scopes;
}

std::vector<std::string> short_names(std::span<const std::string> names) {
  std::vector<std::vector<std::string>> all;
  for (const std::string& name : names) all.push_back(scopes_of(name));
  const std::size_t shared = shared_scopes(all);
  std::vector<std::string> made;
  std::unordered_map<std::string, std::string_view> owners;  // the name that a short one stands for
  std::unordered_map<std::string, bool> ambiguous;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string text;
    for (std::size_t k = all[i].size() > 1 ? shared : 0; k < all[i].size(); ++k)
      text += (text.empty() ? "" : "/") + all[i][k];
    const auto [owner, added] = owners.emplace(text, names[i]);
    if (!added && owner->second != names[i]) ambiguous[text] = true;
    made.push_back(std::move(text));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (ambiguous.contains(made[i])) made[i] = names[i];
  return made;
}

std::vector<std::string> fitting_names(std::span<const std::string> names, std::size_t width) {
  const bool fit =
      std::ranges::all_of(names, [&](const std::string& name) { return display_width(name) <= width; });
  return fit ? std::vector<std::string>(names.begin(), names.end()) : short_names(names);
}

std::string elide_start(std::string_view text, std::size_t width) {
  const std::size_t total = display_width(text);
  if (total <= width) return std::string(text);
  std::size_t offset = 0;
  for (std::size_t drop = total - std::max<std::size_t>(width, 1) + 1; drop > 0; --drop) {
    ++offset;
    while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xc0u) == 0x80u) ++offset;
  }
  return "…" + std::string(text.substr(offset));
}

}  // namespace driftscope
