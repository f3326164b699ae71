#include "core/study/json_line.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace driftscope {
namespace {

/// Goes through a text that is known to be valid.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t find(std::string_view path) {
    skip_space();
    std::size_t at = at_;
    while (!path.empty()) {
      const bool inside = path.front() == '[' ? enter_list(path) : enter_object(path);
      if (!inside) break;
      at = at_;
    }
    return at;
  }

 private:
  [[nodiscard]] char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (now() == ' ' || now() == '\t' || now() == '\n' || now() == '\r') ++at_;
  }
  void skip_string() {
    for (++at_; now() != '"' && at_ < text_.size(); ++at_)
      if (now() == '\\') ++at_;
    ++at_;
  }
  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      if (now() == '"') {
        skip_string();
        continue;
      }
      const char c = now();
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
      if (depth == 0 && c != '}' && c != ']')
        while (at_ < text_.size() && std::string_view(",]} \n\r\t").find(now()) == std::string_view::npos)
          ++at_;
    } while (depth > 0 && at_ < text_.size());
  }
  /// At the item of a list, whose number is taken from the path; false where there is none.
  bool enter_list(std::string_view& path) {
    const std::size_t end = path.find(']');
    std::size_t number = 0;
    if (end == std::string_view::npos || now() != '[') return false;
    std::from_chars(path.data() + 1, path.data() + end, number);
    path.remove_prefix(end + 1);
    ++at_;
    skip_space();
    for (std::size_t i = 0; i < number && now() != ']' && at_ < text_.size(); ++i) {
      skip_value();
      skip_space();
      if (now() == ',') ++at_;
      skip_space();
    }
    return now() != ']';
  }
  bool enter_object(std::string_view& path) {
    if (path.front() == '.') path.remove_prefix(1);
    const std::string_view key = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(key.size());
    if (now() != '{') return false;
    ++at_;
    for (skip_space(); now() == '"'; skip_space()) {
      const std::size_t begin = at_ + 1;
      const std::size_t place = at_;
      skip_string();
      const bool found = text_.substr(begin, at_ - 1 - begin) == key;
      skip_space();
      ++at_;  // the colon
      skip_space();
      if (found) {
        // A list or object begins where its name is.
        if (now() != '{' && now() != '[') at_ = std::max(place, at_);
        return true;
      }
      skip_value();
      skip_space();
      if (now() == ',') ++at_;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

int json_line(std::string_view text, std::string_view path) {
  const std::size_t at = std::min(Scanner(text).find(path), text.size());
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace driftscope
