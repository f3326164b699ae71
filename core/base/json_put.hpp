// Values as JSON, field by field: what json_fields.hpp reads again. Client: the code generated from the
// schemas of documents (cmake/documents_cpp.py), whose encode() for structs is found by their namespace.
#pragma once

#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/json_number.hpp"

namespace driftscope {

[[nodiscard]] inline nlohmann::ordered_json encode(double value) { return json_number(value); }
[[nodiscard]] inline nlohmann::ordered_json encode(std::string_view value) { return std::string(value); }
[[nodiscard]] inline nlohmann::ordered_json encode(const std::string& value) { return value; }
template <std::integral T>  // bool as well
[[nodiscard]] nlohmann::ordered_json encode(T value) {
  return value;
}

template <std::same_as<nlohmann::ordered_json> T>
[[nodiscard]] T encode(const T& value) {
  return value;
}

template <class T>
[[nodiscard]] nlohmann::ordered_json encode(const std::map<std::string, T>& from) {
  nlohmann::ordered_json value = nlohmann::ordered_json::object();
  // Not by value[name], which searches among the keys before it: those of a map differ.
  auto& members = value.get_ref<nlohmann::ordered_json::object_t&>();
  members.reserve(from.size());
  for (const auto& [name, one] : from) members.emplace_back(name, encode(one));
  return value;
}

template <class T>
[[nodiscard]] nlohmann::ordered_json encode(const std::vector<T>& list) {
  nlohmann::ordered_json value = nlohmann::ordered_json::array();
  for (const T& one : list) value.push_back(encode(one));
  return value;
}

template <class T>
[[nodiscard]] nlohmann::ordered_json encode(const std::optional<T>& from) {
  return from ? encode(*from) : nlohmann::ordered_json(nullptr);
}

template <class T>
void put(nlohmann::ordered_json& object, const char* name, const T& from) {
  object[name] = encode(from);
}

/// Leaves out what is empty, false, 0 or has no value.
template <class T>
void put_unless_empty(nlohmann::ordered_json& object, const char* name, const T& from) {
  bool empty = false;
  if constexpr (requires { from.empty(); })
    empty = from.empty();
  else if constexpr (std::is_arithmetic_v<T>)
    empty = from == T{};
  else
    empty = !from.has_value();
  if (!empty) put(object, name, from);
}

}  // namespace driftscope
