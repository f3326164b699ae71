// Fields of a component of tokenizer.json: each error names the place. Clients: native/text.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/text.hpp"

namespace driftscope::texts {

using Json = nlohmann::json;

/// An object and where it lies ("pre_tokenizer.pretokenizers[1]").
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::string at(std::string_view key) const { return fmt::format("{}.{}", where_, key); }
  [[nodiscard]] const Json* find(const char* key) const {
    if (!json().is_object()) return nullptr;
    const auto found = json().find(key);
    return found != json().end() && !found->is_null() ? &*found : nullptr;
  }
  [[nodiscard]] Result<std::string> text(const char* key) const {
    const Json* const value = find(key);
    if (value == nullptr || !value->is_string()) return wrong(key, "a string", value);
    return value->get<std::string>();
  }
  [[nodiscard]] Result<std::string> text(const char* key, std::string otherwise) const {
    return find(key) == nullptr ? Result<std::string>(std::move(otherwise)) : text(key);
  }
  [[nodiscard]] Result<bool> flag(const char* key, bool otherwise) const {
    const Json* const value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) return wrong(key, "true or false", value);
    return value->get<bool>();
  }
  [[nodiscard]] Result<std::int64_t> whole(const char* key) const {
    const Json* const value = find(key);
    if (value == nullptr || !value->is_number_integer() || value->get<std::int64_t>() < 0 ||
        value->get<std::int64_t>() > 0x7fffffff)
      return wrong(key, "a whole number from 0 to 2147483647", value);
    return value->get<std::int64_t>();
  }
  [[nodiscard]] Result<std::vector<Fields>> list(const char* key) const {
    const Json* const value = find(key);
    if (value == nullptr || !value->is_array()) return wrong(key, "a list", value);
    std::vector<Fields> entries;
    for (std::size_t i = 0; i < value->size(); ++i)
      entries.emplace_back((*value)[i], fmt::format("{}.{}[{}]", where_, key, i));
    return entries;
  }
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Error wrong(std::string_view key, std::string_view expected, const Json* found) const {
    return bad_input(fmt::format("{}: expected {}, found {}", at(key), expected,
                                 found == nullptr     ? "nothing"
                                 : found->is_string() ? in_quotes(found->get<std::string>())
                                                      : std::string(found->type_name())));
  }
  /// For a "type" that is not one of these.
  [[nodiscard]] Error unknown(std::string_view type, std::string_view known) const {
    return unsupported(
        fmt::format("{}: type {} is not supported; expected one of {}", where_, in_quotes(type), known));
  }

 private:
  std::reference_wrapper<const Json> json_;
  std::string where_;
};

}  // namespace driftscope::texts
