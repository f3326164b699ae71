#include "core/deploy/page.hpp"

#include <algorithm>

namespace driftscope {

std::string_view role_name(PageRole role) {
  switch (role) {
    case PageRole::page: return "page";
    case PageRole::script: return "script";
    case PageRole::module: return "module";
    case PageRole::wasm: return "wasm";
    case PageRole::model: return "model";
    case PageRole::data: return "data";
  }
  return "";
}

std::string_view PageFile::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string PageFile::media_type() const {
  const std::string_view all = header("content-type");
  std::string type(all.substr(0, all.find(';')));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return type;
}

}  // namespace driftscope
