// JSON written piece by piece, where one tree would take gigabytes (a hundred thousand layers): only the
// current piece is a tree. Indented by one space for each level, as json_text(value, 1) does it.
// Clients: the writers of comparisons and verifications.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

class JsonWriter {
 public:
  void begin_object() { begin('{', '}'); }
  void begin_array() { begin('[', ']'); }
  /// Closes the innermost open object or array.
  void end();
  /// The key of what is written next, in an object.
  void key(std::string_view name);
  /// A whole value. Texts that are not UTF-8 are repaired, as by json_text.
  void value(const nlohmann::ordered_json& whole);
  void member(std::string_view name, const nlohmann::ordered_json& whole) {
    key(name);
    value(whole);
  }
  /// All members of an object.
  void members(const nlohmann::ordered_json& object) {
    for (const auto& [name, whole] : object.items()) member(name, whole);
  }
  /// The text, once everything begun has ended.
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  struct Level {
    char closing;
    bool empty = true;
  };
  void begin(char opening, char closing);
  /// Comma, line and indentation in front of what comes next.
  void separate();
  void new_line() { text_.append("\n").append(levels_.size(), ' '); }

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace driftscope
