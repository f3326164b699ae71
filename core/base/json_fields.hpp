// Typed reading of a JSON document from elsewhere: each field is taken with its type, what is wrong is an
// error that names the place ("right[0].verify.layers[3].max_abs"), what was expected and what is there;
// keys that nobody asks for are ignored. Clients: the readers of documents, and the code generated from
// their schemas. Messages of the service, in which unknown keys are errors: core/protocol/schema.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/text.hpp"

namespace driftscope {

/// A place in a document. Made into a text only for an error; what it is part of must outlive it.
class JsonPath {
 public:
  /// The outermost value.
  explicit JsonPath(std::string_view root = {}) : key_(root) {}
  JsonPath(const JsonPath& above, std::string_view key) : above_(&above), key_(key) {}
  JsonPath(const JsonPath& above, std::size_t index) : above_(&above), index_(index) {}

  /// "right[0].verify"; "the document" for the root without a name.
  [[nodiscard]] std::string text() const;
  /// "right[0].verify: expected a string, got 3".
  [[nodiscard]] Error expected(std::string_view what, const nlohmann::ordered_json& got) const;
  /// "right[0].verify: MESSAGE".
  [[nodiscard]] Error error(std::string_view message) const;

 private:
  const JsonPath* above_ = nullptr;
  std::string_view key_;
  std::optional<std::size_t> index_;
};

[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path, bool& target);
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               std::int64_t& target);
/// Other whole numbers: an error where the value does not fit.
template <std::integral T>
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path, T& target) {
  std::int64_t whole = 0;
  DRIFTSCOPE_CHECK(read_json(value, path, whole));
  if (!std::in_range<T>(whole))
    return path.expected(whole < 0 ? "a number of at least 0" : "a smaller number", value);
  target = static_cast<T>(whole);
  return {};
}
/// Null is NaN, and the largest double infinity, as json_number writes them.
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path, double& target);
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               std::string& target);

template <class T>
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               std::vector<T>& target) {
  if (!value.is_array()) return path.expected("a list", value);
  target.clear();
  target.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i)
    DRIFTSCOPE_CHECK(read_json(value[i], JsonPath(path, i), target.emplace_back()));
  return {};
}

template <class T>
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               std::map<std::string, T>& target) {
  if (!value.is_object()) return path.expected("an object", value);
  target.clear();
  for (const auto& [name, one] : value.items())
    DRIFTSCOPE_CHECK(read_json(one, JsonPath(path, name), target[name]));
  return {};
}

/// An open object.
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               nlohmann::ordered_json& target);

template <class T>
[[nodiscard]] Status read_json(const nlohmann::ordered_json& value, const JsonPath& path,
                               std::optional<T>& target) {
  target.reset();
  return value.is_null() ? Status() : read_json(value, path, target.emplace());
}

/// The fields of one object. After the first error nothing more is read; `status` has it.
class JsonFields {
 public:
  JsonFields(const nlohmann::ordered_json& object, const JsonPath& path);

  /// An error where it is absent.
  template <class T>
  void required(std::string_view key, T& target) {
    if (const auto* const value = find(key))
      read(key, *value, target);
    else
      missing(key);
  }
  /// Leaves the target as it is where the field is absent. Null is absent, but of a double it is NaN.
  template <class T>
  void optional(std::string_view key, T& target) {
    const auto* const value = std::is_same_v<T, double> ? find(key) : given(key);
    if (value != nullptr) read(key, *value, target);
  }
  /// A text that is one of a few: `named(text)` is the optional value of that name.
  template <class T, class Named>
  void required_name(std::string_view key, T& target, const Named& named) {
    std::string text;
    required(key, text);
    if (!ok()) return;
    const auto value = named(text);
    if (value)
      target = *value;
    else
      fail(JsonPath(path_, key).error(in_quotes(text) + " is unknown"));
  }
  template <class T, class Named>
  void optional_name(std::string_view key, std::optional<T>& target, const Named& named) {
    if (given(key) != nullptr) required_name(key, target.emplace(), named);
  }
  /// An error where the number that was read is outside of [low, high]; a field that is absent has none.
  template <std::integral T>
  void within(std::string_view key, T value, std::int64_t low, std::int64_t high) {
    if (ok() && (std::cmp_less(value, low) || std::cmp_greater(value, high))) outside(key, low, high);
  }
  /// An error where a text that was read has control characters.
  void printable(std::string_view key, const std::string& text);
  void printable(std::string_view key, const std::vector<std::string>& texts);
  /// An error where the number that was read is NaN or infinite.
  void finite(std::string_view key, double value);
  /// The same, and where it is below.
  void at_least(std::string_view key, double value, double low);

  /// Null where it is absent.
  [[nodiscard]] const nlohmann::ordered_json* find(std::string_view key);
  /// Null where it is absent, or null in the document: an optional field may be either.
  [[nodiscard]] const nlohmann::ordered_json* given(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) { return given(key) != nullptr; }
  [[nodiscard]] const JsonPath& path() const { return path_; }
  [[nodiscard]] bool ok() const { return status_.ok(); }
  [[nodiscard]] Status status() && { return std::move(status_); }
  void fail(Error error);

 private:
  template <class T>
  void read(std::string_view key, const nlohmann::ordered_json& value, T& target) {
    if (ok()) status_ = read_json(value, JsonPath(path_, key), target);
  }
  void missing(std::string_view key);
  void outside(std::string_view key, std::int64_t low, std::int64_t high);
  void expected(std::string_view key, const nlohmann::ordered_json* got, std::string_view what);

  const nlohmann::ordered_json& object_;
  JsonPath path_;
  std::size_t next_ = 0;  // where the search begins: fields mostly come in the order in which they are read
  Status status_;
};

}  // namespace driftscope
