#include "core/base/json_writer.hpp"

#include "core/base/json.hpp"

namespace driftscope {

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().empty) text_ += ',';
  levels_.back().empty = false;
  new_line();
}

void JsonWriter::begin(char opening, char closing) {
  separate();
  text_ += opening;
  levels_.push_back({closing});
}

void JsonWriter::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) new_line();
  text_ += level.closing;
}

void JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_text(nlohmann::ordered_json(name));
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::value(const nlohmann::ordered_json& whole) {
  separate();
  // Inside strings a line break is written as \n, so each one here begins a new line.
  const std::string text = json_text(whole, 1);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    text_.append(text, begin, end - begin);
    new_line();
    begin = end + 1;
  }
  text_.append(text, begin);
}

}  // namespace driftscope
